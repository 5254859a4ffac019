"""Write one recorded window where TensorBoard looks for it, and a small description beside it."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import jax
import jaxlib
import platformdirs

from rlscope_jax import __version__, _jax
from rlscope_jax._process import Usage, processor
from rlscope_jax.annotate import _traced
from rlscope_jax.names import decode

SIDECAR_SCHEMA = "rlscope_jax.session/1"
_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:/")  # two characters at least: `C:/` is a drive


@dataclass(frozen=True)
class Window:
    """When the window was open (unix ns) and which whole training steps it holds, both ends included.

    `last_step` is below `first_step` when no step ended within the window.
    """

    start_unix_ns: int
    stop_unix_ns: int
    first_step: int
    last_step: int


@dataclass(frozen=True)
class StoppedEarly:
    """Why a window ended before its schedule said so."""

    limit_events: int
    estimated_events: int
    planned_last_step: int | None
    """None where no schedule says when the window would have ended."""


def local_directory(logdir: str | Path) -> Path:
    """The absolute path of a log directory: programs change their directory while they train (Hydra does).

    Raises:
        ValueError: it is on another machine.
    """
    if _REMOTE.match(os.fspath(logdir)):
        raise ValueError(
            f"profile({os.fspath(logdir)!r}): remote directories cannot be written yet. "
            "Record into a local directory and copy it there when the run ends."
        )
    return Path(logdir).absolute()


def fallback_directory(logdir: Path) -> Path:
    """Where profiles go when `logdir` cannot be written: a place of the same name in the user's cache."""
    return platformdirs.user_cache_path("rlscope_jax") / "runs" / Path(*logdir.parts[1:])


def write_profile(logdir: Path, space: bytes) -> Path:
    """Write a serialized XSpace as a new session of `logdir`.

    Returns:
        The path of the `xplane.pb`.

    Raises:
        OSError: the directory cannot be written; nothing is left of the session.
    """
    directory = _new_session_directory(logdir)
    path = directory / f"{_jax.host_name()}.xplane.pb"
    try:
        _write_atomically(path, space)
    except BaseException:
        if not any(directory.iterdir()):
            directory.rmdir()
        raise
    return path


def write_sidecar(
    profile: Path,
    window: Window,
    stopped_early: StoppedEarly | None = None,
    part_of: str | None = None,
    anchors: dict | None = None,
    usage: Usage | None = None,
    compiles: list[dict] | None = None,
    collecting_ns: int | None = None,
    calls: list[dict[str, int]] | None = None,
) -> None:
    """Describe a written session in `<logdir>/plugins/rlscope/<session>.json`.

    Args:
        profile: the session's `xplane.pb`.
        window: what it holds.
        stopped_early: why it ended before its time.
        part_of: the run of which it is one window of many; a report adds such windows up.
        anchors: unprofiled steps timed around it, see `AnchorClock`.
        usage: what the process made the system do within it: recording touches new memory, at a cost.
        compiles: what jax compiled since recording began, see `CompileLog`.
        collecting_ns: how long collecting it took beside the program, after it closed.
        calls: the long calls of the run that have ended and that windows lie in, see `record.calls`.

    Raises:
        OSError: the directory cannot be written.
    """
    session = profile.parent.name
    sidecar: dict[str, Any] = {
        "schema": SIDECAR_SCHEMA,
        "rlscope_jax": __version__,
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
        "platform": jax.default_backend(),
        "processor": processor(),
        "session": session,
        "window": asdict(window),
        "names": {
            "traced": {
                function: sorted(filter(None, map(decode, texts))) for function, texts in _traced.snapshot()
            },
            "from_cache": sorted(_traced.from_cache.copy()),
        },
        "stopped_early": None if stopped_early is None else asdict(stopped_early),
        "part_of": part_of,
        "anchors": anchors,
        **(usage._asdict() if usage is not None else {}),
        "compiles": compiles,
        "collecting_ns": collecting_ns,
        "calls": calls,
    }
    sidecars = profile.parents[2] / "rlscope"
    sidecars.mkdir(parents=True, exist_ok=True)
    _write_atomically(sidecars / f"{session}.json", json.dumps(sidecar, indent=1).encode())


def add_to_anchors(profile: Path, after: list[int]) -> None:
    """Complete a session's description by the unprofiled steps after it, ns.

    Raises:
        OSError, ValueError: there is no description, or it cannot be written.
    """
    path = profile.parents[2] / "rlscope" / f"{profile.parent.name}.json"
    sidecar = json.loads(path.read_text())
    sidecar["anchors"]["after_ns"] = after
    _write_atomically(path, json.dumps(sidecar, indent=1).encode())


def rewrite(profile: Path, **fields: Any) -> None:
    """Bring a session's description up to date.

    Raises:
        OSError, ValueError: there is no description, or it cannot be written.
    """
    path = profile.parents[2] / "rlscope" / f"{profile.parent.name}.json"
    sidecar = json.loads(path.read_text())
    _write_atomically(path, json.dumps({**sidecar, **fields}, indent=1).encode())


def _new_session_directory(logdir: Path) -> Path:
    profiles = logdir / "plugins" / "profile"
    stamp = datetime.now().strftime("%Y_%m_%d_%H_%M_%S")
    for attempt in range(1000):
        directory = profiles / (stamp if attempt == 0 else f"{stamp}_{attempt}")
        try:
            directory.mkdir(parents=True)  # by one process only, however many begin in this second
            return directory
        except FileExistsError:
            if not directory.is_dir():  # a file in the way: another name would not help
                raise
    raise OSError(f"no free session name for {stamp} in {profiles}")


def _write_atomically(path: Path, content: bytes) -> None:
    # A reader that looks while we write must see the whole file or none.
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_bytes(content)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
