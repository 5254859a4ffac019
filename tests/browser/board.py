"""A TensorBoard to test with, and a recording whose names would do harm if they could."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from xspace_builder import US, CpuTrace, Op, module_of

HOSTILE = [
    "<img src=x onerror=window.hacked=1>",
    "</script><script>window.hacked=1</script>",
    "\"onload='window.hacked=1",
]


@dataclass
class Board:
    """A running TensorBoard."""

    url: str
    logdir: Path
    process: subprocess.Popen[bytes]
    log: Path

    def tab(self, run: str = "", name: str = "", shell: bool = False, **state: str) -> str:
        """The address of our page opened at a recording: the frame's own, or that of all of TensorBoard."""
        state = {**({"run": run, "name": name} if run else {}), **state}
        words = "&".join(f"p.rlscope.{key}={value}" for key, value in state.items())
        page = "" if shell else "data/plugin_entry.html?name=rlscope"
        return f"{self.url}{page}#{'rlscope&' if shell else ''}{words}"

    def get(self, path: str) -> bytes:
        """What a route answers."""
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return answer.read()


def write_hostile(logdir: Path) -> Path:
    """A recording whose names hold markup and script, wherever a name can stand."""
    trace = CpuTrace()
    tree = [Op(f"op{number}{text}", (number + 1) * 50 * US) for number, text in enumerate(HOSTILE)]
    names = {op.name: f"jit(f)/rls=inner{text}/mul" for op, text in zip(tree, HOSTILE, strict=True)}
    trace.run(module_of(f"jit_f{HOSTILE[0]}", 7, tree, names), tree, at=10 * US)
    for number, text in enumerate(HOSTILE):
        trace.annotation(f"outer{text}", (1000 + 500 * number) * US, 400 * US)
    trace.thread(f"python{HOSTILE[0]}", id=5).event(f"rls=thread{HOSTILE[0]}", 100 * US, 100 * US)
    return trace.write(logdir, "s")


def start_board(
    logdir: Path,
    log: Path,
    *options: str,
    path: str = "/",
    prefix: tuple[str, ...] = (),
    **environment: str,
) -> Board:
    """Start TensorBoard (through the command `prefix`) on a free port and wait until it answers."""
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed")
    if not [one for one in entry_points(group="tensorboard_plugins") if one.name == "rlscope"]:
        pytest.skip("this package is not installed, so TensorBoard does not know its plugin")
    command = [*prefix, sys.executable, "-m", "tensorboard.main", "--port", "0", *options]
    if not any(option.startswith("--logdir_spec") for option in options):
        command += ["--logdir", str(logdir)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, **environment})
    until = time.monotonic() + 90
    while time.monotonic() < until and process.poll() is None:
        for line in log.read_text(errors="replace").splitlines():
            if line.startswith("TensorBoard ") and " at http://" in line:
                port = line.split(" at http://")[1].split(":")[1].split("/")[0]
                return Board(f"http://localhost:{port}{path}", logdir, process, log)
        time.sleep(0.1)
    process.kill()
    raise AssertionError(f"TensorBoard did not start:\n{log.read_text(errors='replace')}")


def stop_board(board: Board) -> None:
    """End it."""
    board.process.terminate()
    try:
        board.process.wait(20)
    except subprocess.TimeoutExpired:
        board.process.kill()
        board.process.wait()
