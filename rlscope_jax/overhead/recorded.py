"""Correct a recording by what is known of it: unprofiled work of the same run, its machine's constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from rlscope_jax.attribution.attribute import Attribution
from rlscope_jax.overhead.anchors import read_anchors
from rlscope_jax.overhead.choose import NOT_CALIBRATED, calibrated, choose
from rlscope_jax.overhead.constants import Constants
from rlscope_jax.overhead.correct import Overhead
from rlscope_jax.overhead.figures import Figures
from rlscope_jax.overhead.long_call import (
    Held,
    Opened,
    RestOfCall,
    held_by,
    read_calls,
    read_window,
    rest_of_call,
)
from rlscope_jax.overhead.new_memory import new_memory
from rlscope_jax.overhead.store import read, store_path
from rlscope_jax.xla_events.trace import Step, Trace


class Recorded(NamedTuple):
    """One process of one window, and what its recorder wrote down."""

    attribution: Attribution
    steps: list[Step]
    sidecar: dict


class _Window:
    """One of them, with what it cost: told once, asked twice where it lies in a long call."""

    def __init__(self, recorded: Recorded) -> None:
        self.steps, self.sidecar = recorded.steps, recorded.sidecar
        self._attribution = recorded.attribution
        self.constants = stored_constants(recorded.attribution.trace, recorded.sidecar)

    @cached_property
    def overhead(self) -> Overhead:
        """What recording it cost."""
        memory = new_memory(self._attribution.trace, self.sidecar, self.steps, self.constants)
        return Overhead(self._attribution, memory)

    @cached_property
    def runs(self) -> set[tuple[int, int]]:
        """(program, run id) of what ran in it; of those that say their run."""
        runs = self._attribution.trace.runs
        told = zip(runs.program.tolist(), runs.run_id.tolist(), strict=True)
        return {(program, run) for program, run in told if run >= 0}

    @property
    def held(self) -> Held | None:
        """What it holds of a call."""
        return held_by(self.overhead, calibrated(self.constants))


def corrected_figures(windows: Sequence[Recorded], sidecars: Sequence[dict] = ()) -> list[Figures]:
    """The figures of each of some windows.

    Args:
        windows: the windows; where `sidecars` are given, windows of one run.
        sidecars: what was written down beside all windows of that run, whether they were read or not.
    """
    known = [_Window(window) for window in windows]
    rests = _for_others(_rests_of_calls(known, sidecars))
    return [_figures(window, rest) for window, rest in zip(known, rests, strict=True)]


def _figures(window: _Window, rest: RestOfCall | str | None) -> Figures:
    constants, anchors = window.constants, read_anchors(window.sidecar)
    unknown = rest if isinstance(rest, str) else None
    known = anchors or (None if isinstance(rest, str) else rest)
    if constants is not None and isinstance(known, RestOfCall) and known.elsewhere:
        known = None
    if constants is None and known is None:
        return Figures.uncorrected(_in_full(NOT_CALIBRATED, unknown))
    figures = Figures(choose(window.overhead, window.steps, constants, known))
    corrected = figures.corrected
    if corrected.correction is None and corrected.reason is not None:
        return Figures(replace(corrected, reason=_in_full(corrected.reason, unknown)))
    return figures


def _in_full(reason: str, unknown: str | None) -> str:
    return reason if unknown is None else f"{reason} (the call that windows lie in tells nothing: {unknown})"


def _rests_of_calls(windows: Sequence[_Window], sidecars: Sequence[dict]) -> list[RestOfCall | str | None]:
    """For each window what the rest of the call says that it lies in; None where it lies in none."""
    found: list[RestOfCall | str | None] = [None] * len(windows)
    opened = [read_window(window.sidecar) for window in windows]
    of_run = [when for sidecar in sidecars if (when := read_window(sidecar)) is not None]
    for call in read_calls(sidecars):
        inside: list[tuple[int, Opened, Held | None]] = []
        beside: set[tuple[int, int]] = set()
        for number, (recorded, when) in enumerate(zip(windows, opened, strict=True)):
            if when is not None and call.part_of(when):
                inside.append((number, when, recorded.held))
            elif when is not None and call.is_beside(when):
                beside |= recorded.runs
        rest = rest_of_call(call, of_run, [(when, held) for _, when, held in inside], beside)
        for number, when, _ in inside:
            if found[number] is None or 2 * call.part_of(when) > when.stop - when.start:
                found[number] = rest
    return found


def _for_others(rests: list[RestOfCall | str | None]) -> list[RestOfCall | str | None]:
    """For a window that lies in no long call what another one of the run tells: a ratio, less surely.

    Or why none does: of a whole run one reason is shown.
    """
    told = [rest for rest in rests if isinstance(rest, RestOfCall)]
    if not told:
        why = next((rest for rest in rests if rest is not None), None)
        return [why if rest is None else rest for rest in rests]
    most = max(told, key=told.count)
    return [replace(most, elsewhere=True) if rest is None else rest for rest in rests]


def stored_constants(trace: Trace, sidecar: dict) -> Constants | None:
    """The constants of the machine that recorded a trace, where it has been calibrated."""
    environment, told = trace.environment, sidecar.get("jaxlib")
    jaxlib = environment.get("jaxlib") or (told if isinstance(told, str) else None)  # jax 0.8 does not tell
    return read(
        store_path(trace.host, jaxlib, environment.get("platform")),
        sidecar.get("processor"),
    )
