"""From a profile file to a `Trace`: pick the dialect, set the window, name the environment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rlscope_jax.errors import UnreadableProfileError
from rlscope_jax.xla_events import gpu, tpu
from rlscope_jax.xla_events.cpu import read_cpu_trace
from rlscope_jax.xla_events.hlo import METADATA_PLANE, Programs
from rlscope_jax.xla_events.host_lines import HOST_PLANE
from rlscope_jax.xla_events.line import MOST_PICOSECONDS
from rlscope_jax.xla_events.trace import Trace
from rlscope_jax.xla_events.xspace import XSpace, damage_named, read_xspace


def read_trace(
    path: Path,
    window_unix_ns: tuple[int, int] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Trace:
    """Decode one host's profile.

    Args:
        path: the `xplane.pb`.
        window_unix_ns: when recording began and ended, where the recorder wrote it down.
        progress: told the share of the file decoded so far, 0 to 1.

    Raises:
        UnreadableProfileError: the file is missing, empty, damaged, or of a kind not read yet.
    """
    space = read_xspace(path)
    space.progress = progress
    read, platform = _dialect(space)
    with damage_named(path):
        trace = read(space, Programs(space))
        trace.window, trace.start_unix_ns = _window(space, window_unix_ns)
        trace.environment = {**_environment(space), "platform": platform}
    trace.warnings = space.errors + space.warnings
    trace.events = space.events
    return trace


def _dialect(space: XSpace) -> tuple[Callable[[XSpace, Programs], Trace], str]:
    """The reader for the kind of device this profile holds; told by its planes, never by one line's name."""
    for prefix, read, platform in (
        (gpu.DEVICE_PREFIX, gpu.read_gpu_trace, "gpu"),
        (tpu.DEVICE_PREFIX, tpu.read_tpu_trace, "tpu"),
    ):
        if any(plane.name.startswith(prefix) for plane in space.planes):
            return read, platform
    if space.plane(HOST_PLANE) is None:
        raise UnreadableProfileError(
            f"{space.path} holds neither a host plane ({HOST_PLANE}) nor a device's: it is no JAX profile."
        )
    return read_cpu_trace, "cpu"


def _window(space: XSpace, recorded: tuple[int, int] | None) -> tuple[tuple[int, int], int | None]:
    """The recorded interval, ps since the session's start.

    The profiler states when it started and stopped, but it stops only when it has collected every event,
    which can take longer than the window itself. So the window ends where the recorder says, else with
    the last event.
    """
    first, last = space.extent or (0, 0)
    started = space.started_unix_ns
    if started is None:
        return (first, max(last, first)), None
    if recorded is not None:
        begin, end = (recorded[0] - started) * 1000, (recorded[1] - started) * 1000
        # A description that does not fit the profile is of another one: believe the profile.
        if begin < last and first < end and max(abs(begin), abs(end)) < MOST_PICOSECONDS:
            return (begin, end), started
    return (min(0, first), max(last, 0)), started


def _environment(space: XSpace) -> dict[str, str | None]:
    plane = space.plane(METADATA_PLANE)
    stats = plane.stats if plane is not None else {}
    known = {key: str(value) for key, value in stats.items() if isinstance(value, str | int)}
    return {"jax": known.get("jax_version"), "jaxlib": known.get("jaxlib_version"),
            "pid": known.get("process_id")}  # fmt: skip
