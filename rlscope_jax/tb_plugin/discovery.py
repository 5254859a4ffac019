"""What is under TensorBoard's log directories: looked for in the background, within limits."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rlscope_jax.errors import RlscopeError
from rlscope_jax.reporters.units import as_text
from rlscope_jax.tune.searches import RECORD_NAME
from rlscope_jax.xla_events.sessions import Session, sessions

_SUFFIX = ".xplane.pb"
_MOST_DIRECTORIES = 50_000
_DEEPEST = 16
_MOST_TOLD = 20  # unreadable directories
_PATIENCE = 0.15  # seconds that the first question waits for an answer
_RESTS = 10.0  # seconds between two looks, at least
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+://")


@dataclass(frozen=True)
class Recording:
    """What the page shows as one: a session, or all the windows of one recorded run."""

    run: str
    """The directory given to the profiler, as TensorBoard names it."""
    name: str
    parts: tuple[Session, ...]
    changed: float
    """When its newest file was written, unix seconds."""
    bytes: int

    def to_dict(self) -> dict[str, Any]:
        """For the page's list of recordings."""
        return {
            "run": self.run,
            "name": self.name,
            "sessions": [as_text(part.name) for part in self.parts],
            "files": sum(len(part.files) for part in self.parts),
            "bytes": self.bytes,
            "changed": self.changed,
        }


@dataclass(frozen=True)
class TuningRecord:
    """A file in which `rlscope-jax tune` noted its searches."""

    run: str
    """Its directory, named as a recording's."""
    path: Path
    changed: float
    bytes: int

    def to_dict(self) -> dict[str, Any]:
        """For the page's list."""
        return {"run": self.run, "changed": self.changed, "bytes": self.bytes}


@dataclass
class Found:
    """One look at the log directories."""

    recordings: dict[tuple[str, str], Recording] = field(default_factory=dict)
    tunings: dict[str, TuningRecord] = field(default_factory=dict)
    """By run."""
    looked_in: list[dict[str, Any]] = field(default_factory=list)
    """Per log directory: its path, how many directories it holds, and what was wrong with it."""
    unreadable: list[dict[str, str]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """Descriptions that our own capture wrote, whose profile is gone."""
    truncated: bool = False
    """Whether there were more directories than it looks through."""


def roots_of(logdir: str | None, logdir_spec: str | None) -> list[tuple[str, str]]:
    """(label, path) of each directory that TensorBoard was told to show.

    `--logdir_spec` is `name:path,name:path`, names left out at will; `--logdir` is one path without a label.
    """
    if not logdir_spec:
        return [("", os.path.expanduser(logdir))] if logdir else []
    found = []
    for part in logdir_spec.split(","):
        name, colon, path = part.partition(":")
        if not colon or "/" in name or path.startswith("//"):
            name, path = "", part
        if path:
            found.append((name, os.path.expanduser(path)))
    return found


class Discovery:
    """Looks for recordings in a thread of its own; asking never takes longer than a blink."""

    def __init__(self, roots: list[tuple[str, str]]) -> None:
        self._roots = roots
        self._lock = threading.Lock()
        self._found = Found()
        self._first_done = threading.Event()
        self._rested = threading.Event()
        self._rested.set()
        self._again = False
        self._next_look = 0.0

    @property
    def looking(self) -> bool:
        """Whether a look is under way: what is known may be old, or nothing yet."""
        return not self._rested.is_set()

    def found(self) -> Found:
        """What the last look found; starts another one where that is old."""
        with self._lock:
            if not self.looking and time.monotonic() >= self._next_look:
                self._rested.clear()
                threading.Thread(target=self._look, name="rlscope-discovery", daemon=True).start()
        self._first_done.wait(_PATIENCE)
        return self._found

    def refresh(self) -> Found:
        """Look again, however recent the last look; `looking` tells whether that takes longer."""
        with self._lock:
            self._again = self.looking  # that look may be past what is new
            self._next_look = 0.0
        self.found()
        self._rested.wait(_PATIENCE)
        return self._found

    def _look(self) -> None:
        began = time.monotonic()
        try:
            self._found = look(self._roots)
        finally:
            took = time.monotonic() - began
            with self._lock:
                self._next_look = time.monotonic() + max(_RESTS, 20 * took)
                again, self._again = self._again, False
                self._first_done.set()
                if not again:
                    self._rested.set()
        if again:
            self._look()


def look(roots: Iterable[tuple[str, str]]) -> Found:
    """Look through the directories once."""
    found = Found()
    walked = 0
    for label, path in roots:
        problem = None
        before = walked
        if _REMOTE.match(path):
            problem = "this is on another machine; only local directories are read"
        elif not os.path.exists(path):
            problem = "this directory does not exist"
        else:
            for directory, names in _walk(path, found, _MOST_DIRECTORIES - walked):
                walked += 1
                _add(found, label, Path(path), Path(directory), names)
                if RECORD_NAME in names:
                    _add_tuning(found, label, Path(path), Path(directory))
        found.looked_in.append({"path": as_text(path), "directories": walked - before, "problem": problem})
    _join_windows(found)
    return found


def _walk(top: str, found: Found, left: int) -> Iterator[tuple[str, list[str]]]:
    """At most `left` directories below `top`, through links, each once, with the names of their files."""
    if os.path.isfile(top):
        yield os.path.dirname(top), [os.path.basename(top)]
        return
    seen: set[tuple[int, int]] = set()
    waiting = [(top, 0)]
    while waiting:
        directory, depth = waiting.pop(0)
        if left <= 0:
            found.truncated = True
            return
        left -= 1
        names: list[str] = []
        inner: list[tuple[str, int]] = []
        try:
            status = os.stat(directory)
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(directory) as entries:
                for entry in entries:
                    if not _is_directory(entry):
                        names.append(entry.name)
                    elif not entry.name.startswith(".") and depth < _DEEPEST:
                        inner.append((entry.path, depth + 1))
        except OSError as error:
            _tell_unreadable(found, directory, error.strerror or str(error))
            continue
        waiting += sorted(inner)
        yield directory, names


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself, say: its neighbours are none the worse
        return False


def _tell_unreadable(found: Found, path: str | Path, reason: str) -> None:
    if len(found.unreadable) < _MOST_TOLD:
        found.unreadable.append({"path": as_text(str(path)), "reason": as_text(reason)})


def _add(found: Found, label: str, root: Path, directory: Path, names: list[str]) -> None:
    if any(name.endswith(_SUFFIX) for name in names):
        try:
            part = next(one for one in sessions(directory) if one.files[0].parent == directory)
            status = [path.stat() for path in part.files]
        except (RlscopeError, OSError, StopIteration) as error:
            _tell_unreadable(found, directory, str(error))
            return
        run, name = _run_name(label, root, part.logdir), as_text(part.name)
        if (run, name) in found.recordings:  # of another of several log directories without names
            run = as_text(str(part.logdir))
        found.recordings[run, name] = Recording(
            run, name, (part,), max(one.st_mtime for one in status), sum(one.st_size for one in status)
        )
    elif directory.name == "rlscope" and directory.parent.name == "plugins":
        profiles = directory.parent / "profile"
        found.lost += [
            as_text(str(directory / name))
            for name in sorted(names)
            if name.endswith(".json") and not (profiles / name.removesuffix(".json")).is_dir()
        ]


def _add_tuning(found: Found, label: str, root: Path, directory: Path) -> None:
    path = directory / RECORD_NAME
    try:
        status = path.stat()
    except OSError as error:
        _tell_unreadable(found, path, error.strerror or str(error))
        return
    run = _run_name(label, root, directory)
    if run in found.tunings:  # of another of several log directories without names
        run = as_text(str(directory))
    found.tunings[run] = TuningRecord(run, path, status.st_mtime, status.st_size)


def _run_name(label: str, root: Path, logdir: Path) -> str:
    inside = as_text(str(logdir.relative_to(root)) if logdir.is_relative_to(root) else logdir.name)
    if not label:
        return inside
    return label if inside == "." else f"{label}/{inside}"


def _join_windows(found: Found) -> None:
    """Add, for each run recorded in several windows, all of them as one."""
    parts: dict[tuple[str, str], list[Recording]] = {}
    for recording in found.recordings.values():
        part_of = recording.parts[0].sidecar.get("part_of")
        if isinstance(part_of, str):
            parts.setdefault((recording.run, part_of), []).append(recording)
    for key, windows in parts.items():
        if len(windows) > 1 and key not in found.recordings:
            windows.sort(key=lambda one: one.changed)
            found.recordings[key] = Recording(
                *key,
                parts=tuple(one.parts[0] for one in windows),
                changed=windows[-1].changed,
                bytes=sum(one.bytes for one in windows),
            )
