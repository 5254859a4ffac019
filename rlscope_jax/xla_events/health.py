"""Can this capture be believed? Checked before any number is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlscope_jax.names import parse_op_name, plain
from rlscope_jax.xla_events.gpu import in_command_buffer
from rlscope_jax.xla_events.op_table import NO_PROGRAM
from rlscope_jax.xla_events.trace import Trace

_BUFFER_LIMIT = 2 * 1024 * 1024  # CUPTI activity buffers; what comes after is dropped
_GRAPH_FLAG = "XLA_FLAGS=--xla_gpu_enable_command_buffer="


@dataclass(frozen=True)
class Problem:
    """Something that limits what the capture can tell, and what to do about it."""

    code: str
    message: str
    hint: str
    unusable: bool = False


def check(
    trace: Trace, dispatches: int, unfinished: int, sidecar: dict[str, Any] | None = None
) -> list[Problem]:
    """The problems of one host's capture, the most telling first.

    Args:
        trace: the capture.
        dispatches: program executions that the host asked for.
        unfinished: those of them that show no device work.
        sidecar: what our own capture wrote beside it, if it was ours.
    """
    known = sidecar or {}
    checks: list[Callable[[], Problem | None]] = [
        lambda: _no_device_ops(trace),
        lambda: _window_closed_early(trace, dispatches, unfinished),
        lambda: _truncated(trace),
        lambda: _stopped_early(known.get("stopped_early")),
        lambda: _dropped_events(trace),
        lambda: _missing_devices(trace),
        lambda: _no_hlo(trace),
        lambda: _stale_names(trace, known.get("names")),
        lambda: _command_buffers(trace),
        lambda: _clock_skew(trace),
        lambda: _python_tracer_on(trace),
    ]
    return [problem for look in checks if (problem := look()) is not None]


def verdict(problems: list[Problem]) -> str:
    """ok, degraded or unusable."""
    if any(problem.unusable for problem in problems):
        return "unusable"
    return "degraded" if problems else "ok"


def covered(trace: Trace) -> float | None:
    """The share of the window up to the last device op; None without device ops."""
    begin, end = trace.window
    if not trace.op_lines or end <= begin:
        return None
    last = max(int(line.end.max()) for line in trace.op_lines)
    return (min(max(last, begin), end) - begin) / (end - begin)


def _no_device_ops(trace: Trace) -> Problem | None:
    if trace.op_lines:
        return None
    if not any(len(thread.start) for thread in trace.host_threads):
        return Problem(
            "no_device_ops",
            "the capture holds no events at all.",
            "run some steps inside the window; host_tracer_level 0 records nothing.",
            unusable=True,
        )
    if trace.devices and trace.devices[0].kind != "cpu":
        hint = "check that the profiler may read the device (CUPTI, privileges): rlscope-jax doctor."
    else:
        hint = (
            "wait for the device before the window ends (jax.block_until_ready). "
            "jax 0.6 records no ops on CPU at all: upgrade."
        )
    return Problem("no_device_ops", "the capture holds host events but no device op: no op data.", hint)


def _window_closed_early(trace: Trace, dispatches: int, unfinished: int) -> Problem | None:
    if not trace.op_lines and trace.ran_without_ops:
        return None  # the programs did run: this jax just records no op
    lost = _unanswered(trace)
    if lost is not None:
        unfinished = 0 if _is_truncated(trace) else len(lost)
    if not unfinished:
        return None
    what = f"{unfinished} of {dispatches} dispatches" if lost is None else f"{unfinished} launches"
    return Problem(
        "window_closed_early",
        f"{what} show not all of their device work: the window closed before it was done.",
        "wait for the result before the window ends: jax.block_until_ready(x), or profiler.step(x).",
    )


def _truncated(trace: Trace) -> Problem | None:
    if not _is_truncated(trace):
        return None
    lost = _unanswered(trace)
    return Problem(
        "truncated",
        f"the device stopped recording early: {0 if lost is None else len(lost)} launches have no kernel.",
        "record fewer steps: the profiler's buffers were full.",
    )


def _stopped_early(stopped: object) -> Problem | None:
    if not isinstance(stopped, dict):
        return None
    events, limit, last = (
        stopped.get(key) for key in ("estimated_events", "limit_events", "planned_last_step")
    )
    if not (isinstance(events, int) and isinstance(limit, int)):
        return None
    until = f" and not after step {last}, as its schedule said" if isinstance(last, int) else ""
    return Problem(
        "truncated",
        f"the window was ended early{until}: it held about {events:,} events, and {limit:,} were allowed.",
        "what it holds is whole; record fewer steps, or allow more with profile(max_events=...).",
    )


def _dropped_events(trace: Trace) -> Problem | None:
    said = [text for text in trace.warnings if "drop" in text.lower()]
    full = any(len(line.start) >= _BUFFER_LIMIT for line in trace.op_lines if line.launch is not None)
    if not said and not full:
        return None
    return Problem(
        "dropped_events",
        f"the profiler dropped events: {said[0] if said else 'its buffers of 2,097,152 events are full'}",
        "record fewer steps; what is missing is not counted anywhere.",
    )


def _missing_devices(trace: Trace) -> Problem | None:
    silent = [device.id for device in trace.devices if not device.has_data]
    if not silent or len(silent) == len(trace.devices):
        return None
    return Problem(
        "missing_devices",
        f"nothing was recorded of {len(silent)} of {len(trace.devices)} devices: {', '.join(silent)}.",
        "if they took part, their time is missing here, not idle; record again to be sure.",
    )


def _no_hlo(trace: Trace) -> Problem | None:
    ran = [program for program in np.unique(trace.ops.program).tolist() if program != NO_PROGRAM]
    missing = sum(program not in trace.programs for program in ran)
    if not missing:
        return None
    return Problem(
        "no_hlo",
        f"the capture lacks the HLO of {missing} of {len(ran)} programs that ran: it cannot place their ops.",
        "leave enable_hlo_proto on when recording.",
    )


def _stale_names(trace: Trace, names: object) -> Problem | None:
    """Names that were traced into a program, and that the program from the compilation cache lacks."""
    if not isinstance(names, dict):
        return None
    traced, cached = names.get("traced"), names.get("from_cache")
    if not isinstance(traced, dict) or not isinstance(cached, list):
        return None
    expected = {plain(name): _texts(traced.get(name)) for name in cached if isinstance(name, str)}
    found: dict[str, set[str]] = {}
    for program in trace.programs:
        module = trace.programs.module(program)
        function = plain(module.name.removeprefix("jit_")) if module is not None else ""
        if module is not None and expected.get(function):
            paths = (parse_op_name(instruction.op_name).path for instruction in module.instructions)
            found.setdefault(function, set()).update(f"/{path}/" for path in paths)
    missing = {
        (function, name)
        for function, paths in found.items()
        for name in expected[function]
        if not any(f"/{name}/" in path for path in paths)
    }
    if not missing:
        return None
    functions = ", ".join(sorted({function for function, _ in missing}))
    listed = ", ".join(sorted({name for _, name in missing}))
    return Problem(
        "stale_names",
        f"operations are missing in programs that came from the compilation cache ({functions}): {listed}.",
        "jax keeps names out of its cache's keys: compile inside profile(), which puts them in, or empty the "
        "cache once (jax_compilation_cache_dir). XLA may also have removed what they name.",
    )


def _texts(values: object) -> list[str]:
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


def _command_buffers(trace: Trace) -> Problem | None:
    graph = np.array([in_command_buffer(name) for name in trace.ops.name] + [False], bool)
    inside = sum(int((line.end - line.start)[graph[line.op]].sum()) for line in trace.op_lines)
    everything = sum(int((line.end - line.start).sum()) for line in trace.op_lines)
    if not inside:
        return None
    return Problem(
        "command_buffers",
        f"{100 * inside / everything:.0f} % of the device time ran in command buffers (CUDA graphs), "
        "which hide the single ops.",
        f"for one profiled run set {_GRAPH_FLAG} (nothing after the equals sign).",
    )


def _clock_skew(trace: Trace) -> Problem | None:
    early = late = 0
    for line in trace.op_lines:
        if line.launch is None:
            continue
        launched = line.launch >= 0
        before = line.start[launched] < trace.launches.start[line.launch[launched]]
        early, late = early + int(before.sum()), late + int((~before).sum())
    if early <= 0.01 * (early + late):
        return None
    return Problem(
        "clock_skew",
        f"{early} of {early + late} kernels begin before they were launched: host and device clocks differ.",
        "sums per operation hold; overlap and launch latency do not.",
    )


def _python_tracer_on(trace: Trace) -> Problem | None:
    if not trace.python_tracer:
        return None
    return Problem(
        "python_tracer_on",
        "the Python tracer was on: it slows every Python call.",
        "record with rlscope_jax.profile, or set ProfileOptions().python_tracer_level = 0.",
    )


def _unanswered(trace: Trace) -> np.ndarray | None:
    """The launches without any device work; None where the device is driven without launches."""
    if len(trace.launches.correlation) == 0:
        return None
    answered = np.zeros(len(trace.launches.correlation), bool)
    for line in trace.op_lines:
        if line.launch is not None:
            answered[line.launch[line.launch >= 0]] = True
    return np.flatnonzero(~answered)


def _is_truncated(trace: Trace) -> bool:
    """Whether many launches late in the window went unrecorded while the host went on."""
    lost = _unanswered(trace)
    if lost is None or len(lost) < 10 or len(lost) < 0.05 * len(trace.launches.correlation):
        return False
    last = max((int(line.end.max()) for line in trace.op_lines), default=trace.window[0])
    return bool((trace.launches.start[lost] > last).mean() > 0.5)
