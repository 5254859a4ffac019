"""Find the recorded sessions under a directory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rlscope_jax.errors import NoProfileError

_SUFFIX = ".xplane.pb"


@dataclass(frozen=True)
class Session:
    """One recorded window: a profile file for each host that took part."""

    logdir: Path
    name: str
    files: tuple[Path, ...]

    @property
    def sidecar(self) -> dict:
        """What our own capture wrote beside the profile; empty for a profile that others recorded."""
        path = self.logdir / "plugins" / "rlscope" / f"{self.name}.json"
        try:
            content = json.loads(path.read_text())
        except (OSError, ValueError, RecursionError):
            return {}
        return content if isinstance(content, dict) else {}

    @property
    def step_limits(self) -> tuple[int, int] | None:
        """First and last whole step of the window, where our own capture wrote them down."""
        window = self.sidecar.get("window")
        if not isinstance(window, dict):
            return None
        first, last = window.get("first_step"), window.get("last_step")
        return (first, last) if type(first) is int and type(last) is int else None

    @property
    def window_unix_ns(self) -> tuple[int, int] | None:
        """When recording began and ended, where our own capture wrote it down."""
        window = self.sidecar.get("window")
        if not isinstance(window, dict):
            return None
        start, stop = window.get("start_unix_ns"), window.get("stop_unix_ns")
        return (start, stop) if type(start) is int and type(stop) is int and stop > start else None


def sessions(logdir: str | Path) -> list[Session]:
    """The sessions recorded under a directory, oldest first.

    `logdir` may be what was given to the profiler, a directory above it, one session's directory, or one
    `xplane.pb` file.

    Raises:
        NoProfileError: there is no such directory, or nothing in it.
    """
    root = Path(logdir)
    try:
        if root.is_file():
            files = [root]
        elif root.is_dir():
            files = sorted(_profiles(root))
        else:
            seen = "is neither a directory nor a file" if root.exists() else "does not exist"
            raise NoProfileError(f"{root} {seen}.")
        times = {path: path.stat().st_mtime_ns for path in files}
    except OSError as error:
        raise NoProfileError(f"{root} cannot be read: {error.strerror or error}.") from error
    if not files:
        raise NoProfileError(
            f"no profile under {root}: looked for plugins/profile/<session>/*{_SUFFIX}. "
            "Record one with rlscope_jax.profile(logdir) or jax.profiler.trace(logdir)."
        )
    by_directory: dict[Path, list[Path]] = {}
    for path in files:
        by_directory.setdefault(path.parent, []).append(path)
    ordered = sorted(by_directory, key=lambda directory: max(times[path] for path in by_directory[directory]))
    return [_session(directory, by_directory[directory]) for directory in ordered]


def _profiles(root: Path) -> Iterator[Path]:
    """Every profile below a directory, through links too; each directory is looked at once."""
    seen: set[str] = set()
    for directory, inner, names in os.walk(root, followlinks=True):
        real = os.path.realpath(directory)
        if real in seen:
            inner.clear()
            continue
        seen.add(real)
        for name in names:
            path = Path(directory, name)
            if name.endswith(_SUFFIX) and path.is_file():
                yield path


def find_session(logdir: str | Path, name: str | None = None) -> Session:
    """The newest session under a directory, or the one of that name.

    Raises:
        NoProfileError: there is none.
    """
    found = sessions(logdir)
    if name is None:
        return found[-1]
    for session in found:
        if session.name == name:
            return session
    known = ", ".join(session.name for session in found[-5:])
    raise NoProfileError(f"no session {name!r} under {logdir}; the newest are: {known}.")


def windows_of_run(logdir: str | Path, session: Session) -> list[Session]:
    """All windows of the run that a session is a window of, in order; else that session alone."""
    run = session.sidecar.get("part_of")
    if not isinstance(run, str):
        return [session]
    return [other for other in sessions(logdir) if other.sidecar.get("part_of") == run]


def _session(directory: Path, files: list[Path]) -> Session:
    # <logdir>/plugins/profile/<session>/<host>.xplane.pb; a file elsewhere is its own directory's session.
    in_place = directory.parent.name == "profile" and directory.parent.parent.name == "plugins"
    logdir = directory.parents[2] if in_place else directory
    name = directory.name if in_place or len(files) > 1 else files[0].name.removesuffix(_SUFFIX)
    return Session(logdir, name, tuple(files))
