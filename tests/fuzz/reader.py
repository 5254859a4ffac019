"""Asks a child process about one file after another, and starts another child when one is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import rlscope_jax

_PATHS = [str(Path(rlscope_jax.__file__).parents[1]), str(Path(__file__).resolve().parents[1])]


class Verdict(NamedTuple):
    """What came of one input: `refused`, `reported` or `bug`, and of a bug where and how."""

    outcome: str
    where: str = ""
    detail: str = ""


class Reader:
    """Judges inputs, each within a time limit, in a process that may die of them."""

    def __init__(self, seconds: float = 60) -> None:  # the first file may have to compile the reader
        self._seconds = seconds
        self._folder = tempfile.TemporaryDirectory(prefix="fuzz-")
        self._input = Path(self._folder.name) / "spoilt.xplane.pb"
        self._said = Path(self._folder.name) / "stderr"
        self._child: subprocess.Popen[str] | None = None

    def judge(self, content: bytes) -> Verdict:
        """What comes of these bytes."""
        self._input.write_bytes(content)
        child = self._child = self._child or self._start()
        assert child.stdin is not None
        assert child.stdout is not None
        print(self._input, file=child.stdin, flush=True)
        line = child.stdout.readline()
        if line:
            return Verdict(**json.loads(line))
        code = child.wait()
        self.close_child()
        said = self._said.read_text(errors="replace")
        return Verdict("bug", _where(said, code), said)

    def close_child(self) -> None:
        """Let the child go."""
        child, self._child = self._child, None
        if child is not None and child.stdin is not None and child.stdout is not None:
            child.stdin.close()
            child.stdout.close()
            child.wait()

    def close(self) -> None:
        """Let the child and its files go."""
        self.close_child()
        self._folder.cleanup()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _start(self) -> subprocess.Popen[str]:
        with self._said.open("w") as said:
            return subprocess.Popen(
                [sys.executable, "-m", "fuzz.child", str(self._seconds)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(_PATHS)},
            )


def _where(said: str, code: int) -> str:
    lines = said.splitlines()
    what = "hang" if any(line.startswith("Timeout (") for line in lines) else f"death (exit code {code})"
    frames = [line.strip() for line in lines if "/rlscope_jax/" in line]
    return f"{what} at {frames[0].split('/rlscope_jax/')[-1] if frames else '?'}"
