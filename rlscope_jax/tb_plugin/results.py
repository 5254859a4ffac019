"""What was read of each recording: kept on disk beside the run, made by reader processes when asked for."""

from __future__ import annotations

import atexit
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rlscope_jax import __version__
from rlscope_jax.tb_plugin.discovery import Recording
from rlscope_jax.tb_plugin.read_profile import CONTENT_VERSION, OPS, REPORT

_AT_ONCE = 2  # readers: one slow profile leaves room for another
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
        atexit.register(self.close)

    def of(self, recording: Recording, group: str, again: bool = False) -> State:
        """The state of a recording's results; reading starts where there are none yet.

        Args:
            recording: what is asked for.
            group: what names an operation, as in `rlscope_jax.load`.
            again: whether to try once more what failed.
        """
        name, key = _cache_name(recording, group)
        folder = self._cache(recording) / f"{name}-{key}"
        with self._lock:
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

    def _cache(self, recording: Recording) -> Path:
        beside = recording.parts[0].logdir / "plugins" / "rlscope" / "cache"
        try:
            beside.mkdir(parents=True, exist_ok=True)
            if os.access(beside, os.W_OK):
                return beside
        except OSError:
            pass
        if self._spare is None:  # the run cannot be written to: kept as long as TensorBoard runs
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
        OSError: it is gone.
    """
    return (folder / REPORT).read_bytes()


def ops_of(folder: Path, key: str) -> dict | None:
    """The ops of one operation; None where it has none.

    Raises:
        OSError, ValueError: they are gone, or damaged.
    """
    return json.loads(gzip.decompress((folder / OPS).read_bytes())).get(key)


def _cache_name(recording: Recording, group: str) -> tuple[str, str]:
    """(what was read, in which state it was): hashes."""
    name = hashlib.sha256(json.dumps([recording.name, group]).encode()).hexdigest()[:12]
    state: list[object] = [__version__, CONTENT_VERSION]
    for part in recording.parts:
        sidecar = part.logdir / "plugins" / "rlscope" / f"{part.name}.json"
        for path in (*part.files, sidecar):
            try:
                status = path.stat()
                state.append([str(path), status.st_size, status.st_mtime_ns])
            except OSError:
                state.append([str(path), None])
    return name, hashlib.sha256(json.dumps(state).encode()).hexdigest()[:16]


def _place(queue: deque[tuple[Path, list[str]]], folder: Path) -> int:
    return next((number for number, (waiting, _) in enumerate(queue, 1) if waiting == folder), 0)


def _remove_older(folder: Path) -> None:
    """What was read of the same recording in another state is of no more use."""
    for other in folder.parent.glob(f"{folder.name.partition('-')[0]}-*"):
        if other != folder and not other.name.endswith(".partial"):
            shutil.rmtree(other, ignore_errors=True)


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
