"""What was read of each recording: kept on disk beside the run, made by reader processes when asked for."""

from __future__ import annotations

import atexit
import functools
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import rlscope_jax
from rlscope_jax import __version__
from rlscope_jax.overhead.store import store_path
from rlscope_jax.tb_plugin.discovery import Recording
from rlscope_jax.tb_plugin.read_profile import OPS, REPORT

_AT_ONCE = 2  # readers: one slow profile leaves room for another
_LEFT_BEHIND = 3600  # seconds after which nobody is writing any more
_LINES = 4  # of what a reader complained of, kept for a message


@dataclass
class State:
    """How far the reading of a recording is."""

    state: str
    """ready, reading, waiting or failed."""
    folder: Path
    progress: float = 0.0
    stage: str = ""
    ahead: int = 0
    """How many are read before this one."""
    error: str = ""


class Results:
    """Starts readers, at most two at a time, and knows what is ready."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states: dict[Path, State] = {}
        self._queue: deque[tuple[Path, list[str]]] = deque()
        self._running: dict[Path, subprocess.Popen[str]] = {}
        self._followers: list[threading.Thread] = []
        self._spare: Path | None = None
        self._damaged: set[Path] = set()
        self._unwritable: set[Path] = set()
        atexit.register(self.close)

    def of(self, recording: Recording, group: str, again: bool = False) -> State:
        """The state of a recording's results; reading starts where there are none yet.

        Args:
            recording: what is asked for.
            group: what names an operation, as in `rlscope_jax.load`.
            again: whether to try once more what failed.
        """
        name, key = _cache_name(recording, group)
        with self._lock:
            logdir = recording.parts[0].logdir
            folder = _beside(logdir) / f"{name}-{key}"
            if folder in self._damaged or not (folder / REPORT).is_file():
                folder = self._writable(logdir) / f"{name}-{key}"
            known = self._states.get(folder)
            if known is not None and known.state in ("reading", "waiting"):
                known.ahead = _place(self._queue, folder)
                return known
            if (folder / REPORT).is_file():
                return State("ready", folder, 1.0)
            if known is not None and known.state == "failed" and not again:
                return known
            state = self._states[folder] = State("waiting", folder)
            inputs = [text for part in recording.parts for text in (str(part.files[0].parent), part.name)]
            self._queue.append((folder, [str(folder), group, *inputs]))
            self._start_next()
            state.ahead = _place(self._queue, folder)
            return state

    def close(self) -> None:
        """End the readers and remove what could not be kept beside the runs."""
        with self._lock:
            self._queue.clear()
            for process in self._running.values():
                process.kill()
            followers = list(self._followers)
        for follower in followers:
            follower.join()
        with self._lock:
            if self._spare is not None:
                shutil.rmtree(self._spare, ignore_errors=True)
                self._spare = None

    def forget(self, folder: Path) -> None:
        """Read anew what turned out to be damaged on disk."""
        with self._lock:
            known = self._states.get(folder)
            if known is not None and known.state in ("reading", "waiting"):
                return  # somebody else has found that out
            shutil.rmtree(folder, ignore_errors=True)
            if folder.exists():
                self._damaged.add(folder)

    def _writable(self, logdir: Path) -> Path:
        """Where results of a run are written: beside it; where that cannot be, a place that goes with us."""
        beside = _beside(logdir)
        if logdir not in self._unwritable:
            try:
                beside.mkdir(parents=True, exist_ok=True)
                # Tried, not asked: os.access says yes to root, and of what a server will refuse.
                tempfile.TemporaryFile(dir=beside).close()
                return beside
            except OSError:
                self._unwritable.add(logdir)
        if self._spare is None:
            self._spare = Path(tempfile.mkdtemp(prefix="rlscope_jax_"))
        return self._spare

    def _start_next(self) -> None:
        while self._queue and len(self._running) < _AT_ONCE:
            folder, arguments = self._queue.popleft()
            state = self._states[folder]
            state.state, state.stage = "reading", "starting"
            command = [sys.executable, "-m", "rlscope_jax.tb_plugin.read_profile", *arguments]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    errors="replace",
                    env=environment,
                )
            except OSError as error:
                state.state, state.error = "failed", f"no reader could be started: {error.strerror or error}"
                continue
            self._running[folder] = process
            follower = threading.Thread(target=self._follow, args=(folder, process), daemon=True)
            self._followers = [one for one in self._followers if one.is_alive()] + [follower]
            follower.start()

    def _follow(self, folder: Path, process: subprocess.Popen[str]) -> None:
        state = self._states[folder]
        complaints: deque[str] = deque(maxlen=_LINES)
        assert process.stdout is not None
        assert process.stderr is not None
        listener = threading.Thread(target=_keep_last, args=(process.stderr, complaints), daemon=True)
        listener.start()
        error = ""
        for line in process.stdout:
            try:
                told = json.loads(line)
            except ValueError:
                continue  # something else printed
            if isinstance(told, dict):
                error = told.get("error", error)
                state.progress = told.get("progress", state.progress)
                state.stage = told.get("stage", state.stage)
        code = process.wait()
        listener.join()
        process.stdout.close()
        with self._lock:
            del self._running[folder]
            if code == 0:
                state.state, state.progress = "ready", 1.0
                _remove_older(folder)
            else:
                state.state, state.error = "failed", error or _how_it_ended(code, complaints)
            self._start_next()


def report_bytes(folder: Path) -> bytes:
    """The report as gzipped JSON.

    Raises:
        OSError, ValueError, EOFError, zlib.error: it is gone, or damaged.
    """
    content = (folder / REPORT).read_bytes()
    if not gzip.decompress(content):  # it has a checksum, and a browser would say nothing but that it failed
        raise ValueError("an empty report")
    return content


def has_window(folder: Path, window: int) -> bool:
    """Whether a recording has so many windows."""
    return (folder / f"timeline{window}.json").is_file()


def ops_of(folder: Path, key: str) -> dict | None:
    """The ops of one operation; None where it has none.

    Raises:
        OSError, ValueError, EOFError, zlib.error: they are gone, or damaged.
    """
    return json.loads(gzip.decompress((folder / OPS).read_bytes())).get(key)


def _beside(logdir: Path) -> Path:
    return logdir / "plugins" / "rlscope" / "cache"


def _cache_name(recording: Recording, group: str) -> tuple[str, str]:
    """(what was read, in which state it and all that goes into its report was): hashes."""
    name = hashlib.sha256(json.dumps([recording.name, group]).encode()).hexdigest()[:12]
    state: list[object] = [__version__, _source_digest()]
    calibrations = store_path("", None, None).parent
    inputs = sorted(calibrations.glob("*.json")) if calibrations.is_dir() else []
    for part in recording.parts:
        inputs += [*part.files, part.logdir / "plugins" / "rlscope" / f"{part.name}.json"]
    for path in inputs:
        try:
            status = path.stat()
            state.append([str(path), status.st_size, status.st_mtime_ns])
        except OSError:
            state.append([str(path), None])
    return name, hashlib.sha256(json.dumps(state).encode()).hexdigest()[:16]


@functools.cache
def _source_digest() -> str:
    """What this package's code is: another version may read the same profile otherwise."""
    digest = hashlib.sha256()
    for path in sorted(Path(rlscope_jax.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _place(queue: deque[tuple[Path, list[str]]], folder: Path) -> int:
    return next((number for number, (waiting, _) in enumerate(queue, 1) if waiting == folder), 0)


def _remove_older(folder: Path) -> None:
    """What was read of the same recording in another state is of no more use."""
    for other in folder.parent.glob(f"{folder.name.partition('-')[0]}-*"):
        if other != folder and not (other.name.endswith(".partial") and _is_being_written(other)):
            shutil.rmtree(other, ignore_errors=True)


def _is_being_written(partial: Path) -> bool:
    """Else it was left by a reader that was ended."""
    try:
        return time.time() - partial.stat().st_mtime < _LEFT_BEHIND
    except OSError:
        return False


def _keep_last(stream: IO[str], kept: deque[str]) -> None:
    with stream:
        for line in stream:
            if line.strip():
                kept.append(line.strip())


def _how_it_ended(code: int, complaints: deque[str]) -> str:
    if code < 0:
        hint = " (the machine may have run out of memory)" if code == -9 else ""
        return f"the reader was ended by signal {-code}{hint}"
    return f"the reader ended with code {code}: {complaints[-1] if complaints else 'it said nothing'}"
