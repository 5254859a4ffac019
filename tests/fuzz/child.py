"""The process that reads spoilt files: a line of JSON for each path on its standard input.

A file that takes too long ends the process, with a traceback of where it was; so does whatever breaks the
interpreter itself. The parent sees the end of the output either way.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import sys
import traceback
import warnings
from pathlib import Path

import rlscope_jax
from fuzz.oracle import judge

_MEMORY = 4 * 1024**3
_PACKAGE = Path(rlscope_jax.__file__).parent


def main(seconds: float) -> None:
    """Judge the files named on standard input."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else prints must not look like an answer
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    warnings.simplefilter("error")
    for line in sys.stdin:
        faulthandler.dump_traceback_later(seconds, exit=True)
        answer = _answer(Path(line.rstrip("\n")))
        faulthandler.cancel_dump_traceback_later()
        print(json.dumps(answer), file=answers, flush=True)


def _answer(path: Path) -> dict[str, str]:
    try:
        return {"outcome": judge(path)}
    except Exception as error:
        return {"outcome": "bug", "where": _where(error), "detail": traceback.format_exc()}


def _where(error: Exception) -> str:
    """What went wrong and in which line of ours: alike for inputs that meet the same bug."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(str(_PACKAGE))] or frames
    place = f"{ours[-1].filename.removeprefix(f'{_PACKAGE}/')}:{ours[-1].lineno} in {ours[-1].name}"
    said = str(error).partition("\n")[0][:80] if isinstance(error, AssertionError) else ""
    return f"{type(error).__name__} at {place} {said}".rstrip()


if __name__ == "__main__":
    faulthandler.enable()
    main(float(sys.argv[1]))
