"""Can this capture be believed? Checked before any number is shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rlscope_jax.xla_events.op_table import NO_PROGRAM
from rlscope_jax.xla_events.trace import Trace


@dataclass(frozen=True)
class Problem:
    """Something that limits what the capture can tell, and what to do about it."""

    code: str
    message: str
    hint: str
    unusable: bool = False


def check(trace: Trace, unfinished: int) -> list[Problem]:
    """The problems of one host's capture; `unfinished` counts dispatches without any device work."""
    problems = []
    if len(trace.launches.correlation):
        # A launch says itself whether it ran; a dispatch may launch nothing, or from another thread.
        ran = [line.launch[line.launch >= 0] for line in trace.op_lines if line.launch is not None]
        unfinished = len(trace.launches.correlation) - len(
            np.unique(np.concatenate([*ran, np.zeros(0, int)]))
        )
    if not trace.op_lines:
        problems.append(_no_device_ops(trace))
    elif unfinished:
        problems.append(
            Problem(
                "window_closed_early",
                f"{unfinished} dispatches or launches show no device work: the window closed before it ran.",
                "wait for the result before the window ends: jax.block_until_ready(x), or profiler.step(x).",
            )
        )
    silent = [device.id for device in trace.devices if not device.has_data]
    if silent and len(silent) < len(trace.devices):
        problems.append(
            Problem(
                "missing_devices",
                f"nothing was recorded of {len(silent)} of {len(trace.devices)} devices: {', '.join(silent)}.",
                "if they took part, their time is missing here, not idle; record again to be sure.",
            )
        )
    ran_programs = [program for program in np.unique(trace.ops.program).tolist() if program != NO_PROGRAM]
    missing = [program for program in ran_programs if program not in trace.programs]
    if missing:
        problems.append(
            Problem(
                "no_hlo",
                f"the capture lacks the HLO of {len(missing)} program(s) that ran: nothing places their ops.",
                "leave enable_hlo_proto on when recording.",
            )
        )
    if trace.python_tracer:
        problems.append(
            Problem(
                "python_tracer_on",
                "the Python tracer was on: Python calls are slowed many times over.",
                "record with rlscope_jax.profile, or set ProfileOptions().python_tracer_level = 0.",
            )
        )
    return problems


def _no_device_ops(trace: Trace) -> Problem:
    if any(thread.order.size for thread in trace.host_threads):
        return Problem(
            "no_device_ops",
            "the capture holds host events but no device op: no op data.",
            "wait for the device before the window ends (jax.block_until_ready). "
            "jax 0.6 records no ops on CPU at all: upgrade.",
        )
    return Problem(
        "no_device_ops",
        "the capture holds no events at all.",
        "run some steps inside the window; host_tracer_level 0 records nothing.",
        unusable=True,
    )


def verdict(problems: list[Problem]) -> str:
    """ok, degraded or unusable."""
    if any(problem.unusable for problem in problems):
        return "unusable"
    return "degraded" if problems else "ok"
