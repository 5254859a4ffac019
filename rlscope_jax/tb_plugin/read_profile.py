"""Read one recording in a process of its own and leave what the page needs in a folder.

`python -m rlscope_jax.tb_plugin.read_profile FOLDER GROUP DIRECTORY SESSION …`: for each window a directory
and the name of the session in it. Lines of JSON on stdout tell how far it is, or what was wrong.
TensorBoard's process thus never runs numba, never waits, and survives whatever a damaged profile does to the
reader.
"""

from __future__ import annotations

import gc
import gzip
import json
import os
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlscope_jax.errors import RlscopeError

if TYPE_CHECKING:
    from rlscope_jax.breakdown.report import Report

REPORT, OPS = "report.json.gz", "ops.json.gz"


def main(arguments: list[str]) -> int:
    """Read and write; the exit code is 0, or 1 after a line that says what was wrong."""
    folder, group, *windows = arguments
    gc.disable()  # short-lived, as in `rlscope-jax report`
    try:
        report = read(list(zip(windows[::2], windows[1::2], strict=True)), group)
        _tell(progress=1.0, stage="writing")
        write(report, Path(folder))
    except RlscopeError as error:
        _tell(error=str(error))
        return 1
    except MemoryError:
        _tell(error="there is not enough memory to read this profile")
        return 1
    except Exception as error:
        _tell(error=f"the reader failed: {type(error).__name__}: {error}")
        return 1
    return 0


def read(parts: list[tuple[str, str]], group: str) -> Report:
    """The report of one window (its directory, its session's name), or of several added up."""
    from rlscope_jax.breakdown.report import Report
    from rlscope_jax.facade import load

    told = 0

    def tell(done: int, share: float) -> None:
        nonlocal told
        percent = int(100 * (done + share) / len(parts))
        if percent > told:
            told = percent
            _tell(progress=percent / 100, stage="reading")

    windows = [
        load(directory, session, progress=partial(tell, number), group=group)
        for number, (directory, session) in enumerate(parts)
    ]
    if len(windows) == 1:
        return windows[0]
    return Report(windows[-1].session, windows[-1].processes, windows)


def write(report: Report, folder: Path) -> None:
    """Write a report, its ops and its timeline into a folder that appears whole or not at all."""
    from rlscope_jax.tb_plugin import ops, timeline

    partial = folder.with_name(f"{folder.name}.{os.getpid()}.partial")
    partial.mkdir(parents=True)
    try:
        _write_json(partial / REPORT, report.to_dict())
        _write_json(partial / OPS, ops.ops_of(report))
        for shown in timeline.timelines_of(report):
            timeline.save(shown, partial)
        if not (folder / REPORT).is_file():  # else another TensorBoard was faster
            shutil.rmtree(folder, ignore_errors=True)
            os.replace(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _write_json(path: Path, value: Any) -> None:
    path.write_bytes(gzip.compress(json.dumps(value, allow_nan=False).encode(), 6))


def _tell(**words: Any) -> None:
    print(json.dumps(words), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
