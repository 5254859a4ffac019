"""Does the tab keep TensorBoard waiting? `python benchmarks/tab.py [LOGDIR]`.

With 300 runs in a log directory, what `plugins_listing` takes when warm, beside TensorBoard's own
`environment` route; and, of the newest recording under LOGDIR, what the same takes while it is being read,
and what its report and a whole timeline take once it is kept. Requests take turns in one TensorBoard;
medians, and the slowest.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

RUNS = 300
ROUNDS = 50


def main() -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(RUNS):
            path = Path(folder, f"run{number:03}/plugins/profile/s/vm.xplane.pb")
            path.parent.mkdir(parents=True)
            path.write_bytes(b"x")
        print(f"{RUNS} runs")
        with_board(Path(folder), listing)
        if len(sys.argv) > 1:
            copy = Path(folder, "copied/big")
            copy.parent.mkdir()
            # Linked, not read from where it is: what was kept of it there would be found.
            profile = max(Path(sys.argv[1]).rglob("*.xplane.pb"), key=lambda path: path.stat().st_mtime)
            target = copy / "plugins/profile/s" / profile.name
            target.parent.mkdir(parents=True)
            target.symlink_to(profile.resolve())
            print(f"{profile.name}, {profile.stat().st_size / 1e6:.0f} MB")
            with_board(copy, reading)


def with_board(logdir: Path, measure) -> None:
    """Start TensorBoard, measure, end it."""
    command = [sys.executable, "-m", "tensorboard.main", "--port=0", f"--logdir={logdir}"]
    with tempfile.TemporaryFile("w+") as log:
        board = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            found = None
            while found is None and board.poll() is None:
                time.sleep(0.2)
                log.seek(0)
                found = re.search(r"http://\S+", log.read())
            assert found is not None, "TensorBoard did not start"
            measure(found[0])
        finally:
            board.terminate()
            board.wait()


def listing(board: str) -> None:
    """`plugins_listing` when warm."""
    while len(json.loads(get(board, "data/plugin/rlscope/recordings"))["recordings"]) < RUNS:
        time.sleep(0.2)
    show(board, {"plugins_listing": "data/plugins_listing", "environment": "data/environment"})


def reading(board: str) -> None:
    """The same while a recording is read, and what it takes to open once it is."""
    while not (known := json.loads(get(board, "data/plugin/rlscope/recordings"))["recordings"]):
        time.sleep(0.2)
    asked = urllib.parse.urlencode({"run": known[0]["run"], "name": known[0]["name"]})
    report = f"data/plugin/rlscope/report?{asked}"
    began = time.perf_counter()
    times: list[float] = []
    while "schema" not in json.loads(get(board, report)):
        before = time.perf_counter()
        get(board, "data/plugins_listing")
        times.append(time.perf_counter() - before)
        time.sleep(0.1)
    print(f"  read in {time.perf_counter() - began:.1f} s; meanwhile plugins_listing {words(times)}")
    show(board, {"report": report, "timeline": f"data/plugin/rlscope/timeline?{asked}&columns=2400"})


def show(board: str, routes: dict[str, str]) -> None:
    """What each route takes, asked in turns."""
    times: dict[str, list[float]] = {name: [] for name in routes}
    for _ in range(ROUNDS):
        for name, route in routes.items():
            before = time.perf_counter()
            get(board, route)
            times[name].append(time.perf_counter() - before)
    for name, taken in times.items():
        print(f"  {name}: {words(taken)}")
    first, second = (statistics.median(taken) for taken in times.values())
    print(f"  ratio of the medians: {first / second:.2f}")


def words(times: list[float]) -> str:
    """The median and the worst, in ms."""
    return (
        f"{1000 * statistics.median(times):.1f} ms, at most {1000 * max(times):.1f} ms"
        if times
        else "not asked"
    )


def get(board: str, path: str) -> bytes:
    """An answer; urllib takes no gzip, so it comes as it is."""
    request = urllib.request.Request(board + path, headers={"Accept-Encoding": "identity"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return answer.read()


if __name__ == "__main__":
    main()
