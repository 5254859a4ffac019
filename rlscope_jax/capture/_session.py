"""Write one recorded window where TensorBoard looks for it, and a small description beside it."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

import jax

from rlscope_jax import __version__, _jax

SIDECAR_SCHEMA = "rlscope_jax.session/1"


@dataclass(frozen=True)
class Window:
    """When the window was open (unix ns) and which whole training steps it holds, both ends included.

    `last_step` is below `first_step` when no step ended within the window.
    """

    start_unix_ns: int
    stop_unix_ns: int
    first_step: int
    last_step: int


def write_session(logdir: Path, space: bytes, window: Window, anchors: dict | None = None) -> Path:
    """Write a serialized XSpace and its sidecar as a new session of `logdir`.

    Args:
        logdir: where TensorBoard looks.
        space: the profile.
        window: when it was open.
        anchors: unprofiled steps timed around it, see `AnchorClock`.

    Returns:
        The path of the `xplane.pb`.

    Raises:
        OSError: the directory cannot be written.
    """
    directory = _new_session_directory(logdir)
    path = directory / f"{_jax.host_name()}.xplane.pb"
    _write_atomically(path, space)
    sidecar = {
        "schema": SIDECAR_SCHEMA,
        "rlscope_jax": __version__,
        "jax": jax.__version__,
        "platform": jax.default_backend(),
        "session": directory.name,
        "window": asdict(window),
        "anchors": anchors,
    }
    sidecars = logdir / "plugins" / "rlscope"
    sidecars.mkdir(parents=True, exist_ok=True)
    _write_atomically(sidecars / f"{directory.name}.json", json.dumps(sidecar, indent=1).encode())
    return path


def _new_session_directory(logdir: Path) -> Path:
    profiles = logdir / "plugins" / "profile"
    stamp = datetime.now().strftime("%Y_%m_%d_%H_%M_%S")
    for attempt in range(1000):
        directory = profiles / (stamp if attempt == 0 else f"{stamp}_{attempt}")
        try:
            directory.mkdir(parents=True)
            return directory
        except FileExistsError:
            continue
    raise OSError(f"no free session name for {stamp} in {profiles}")


def _write_atomically(path: Path, content: bytes) -> None:
    # A reader that looks while we write must see the whole file or none.
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(content)
    os.replace(partial, path)
