"""From a profile file to a `Trace`: pick the dialect, set the window, name the environment."""

from __future__ import annotations

from pathlib import Path

from rlscope_jax.errors import UnreadableProfileError
from rlscope_jax.xla_events.cpu import HOST_PLANE, read_cpu_trace
from rlscope_jax.xla_events.hlo import METADATA_PLANE, Programs
from rlscope_jax.xla_events.trace import Trace
from rlscope_jax.xla_events.xspace import XSpace, read_xspace

_TASK_PLANE = "Task Environment"


def read_trace(path: Path) -> Trace:
    """Decode one host's profile.

    Raises:
        UnreadableProfileError: the file is missing, empty, damaged, or of a kind not read yet.
    """
    space = read_xspace(path)
    accelerators = [plane.name for plane in space.planes if plane.name.startswith("/device:") and plane.lines]
    if any(name.startswith(("/device:GPU", "/device:TPU")) for name in accelerators):
        raise UnreadableProfileError(
            f"{path} holds device planes ({accelerators[0]}, ...); only CPU profiles are read so far."
        )
    if space.plane(HOST_PLANE) is None:
        raise UnreadableProfileError(f"{path} holds no host plane {HOST_PLANE!r}: it is no JAX profile.")
    trace = read_cpu_trace(space, Programs(space))
    trace.window, trace.start_unix_ns = _window(space)
    trace.environment = _environment(space)
    trace.events = space.events
    return trace


def _window(space: XSpace) -> tuple[tuple[int, int], int | None]:
    """The recorded interval: as the profiler states it, widened to hold every event."""
    plane = space.plane(_TASK_PLANE)
    stats = plane.stats if plane is not None else {}
    begin, end = stats.get("profile_start_time"), stats.get("profile_stop_time")
    if isinstance(begin, int) and isinstance(end, int) and end > begin:
        return (0, (end - begin) * 1000), begin
    lines = [line for plane in space.planes for line in plane.lines if len(line)]
    if not lines:
        return (0, 0), None
    first = min(int(line.start.min()) for line in lines)
    last = max(int((line.start + line.duration).max()) for line in lines)
    return (first, max(last, first)), None


def _environment(space: XSpace) -> dict[str, str | None]:
    plane = space.plane(METADATA_PLANE)
    stats = plane.stats if plane is not None else {}
    known = {key: str(value) for key, value in stats.items() if isinstance(value, str | int)}
    return {"jax": known.get("jax_version"), "jaxlib": known.get("jaxlib_version"), "platform": "cpu",
            "pid": known.get("process_id")}  # fmt: skip
