"""The loops of a program: how often each of its parts runs in one call, and which loops a window cut."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rlscope_jax.xla_events.hlo import HloModule, Instruction, trip_count
from rlscope_jax.xla_events.trace import Trace

CONTROL = frozenset({"while", "conditional", "call"})
"""Instructions whose computations leave events of their own."""

_DEEPEST = 200  # loops in loops: no compiler's work is deeper

Rate = Callable[[int], float | None]
"""How often a computation was seen to run, in whatever unit; None where that is not known."""


class Loops:
    """The computations of a module that run as such, and what runs them."""

    def __init__(self, module: HloModule) -> None:
        self.entry = module.entry
        self.of: dict[int, list[Instruction]] = {}
        """Computation -> its instructions."""
        for instruction in module.instructions:
            self.of.setdefault(instruction.computation, []).append(instruction)
        self.callers: dict[int, list[Instruction]] = {}
        """Computation -> the loops, conditionals and calls that run it, as far as the entry reaches."""
        waiting, seen = [module.entry], {module.entry}
        while waiting:
            for instruction in self.of.get(waiting.pop(), []):
                for called in instruction.called if instruction.opcode in CONTROL else ():
                    self.callers.setdefault(called, []).append(instruction)
                    if called not in seen:
                        seen.add(called)
                        waiting.append(called)
        order = self._callers_first(module.entry)
        if len(order) < len(seen):  # a damaged program: some part of it calls itself
            self.of, self.callers, order = {}, {}, []
        self.looped: set[int] = set()
        """The computations that run within a loop."""
        for computation in order:
            callers = self.callers.get(computation, [])
            if any(one.opcode == "while" or one.computation in self.looped for one in callers):
                self.looped.add(computation)

    def _callers_first(self, entry: int) -> list[int]:
        """The computations, each after all that run it; not those that run themselves, or lie too deep."""
        missing = {computation: len(callers) for computation, callers in self.callers.items()}
        depth, order, waiting = {entry: 0}, [], [entry] if entry not in missing else []
        while waiting:
            around = waiting.pop()
            order.append(around)
            for instruction in self.of.get(around, []):
                for called in instruction.called if instruction.opcode in CONTROL else ():
                    missing[called] -= 1
                    depth[called] = max(depth.get(called, 0), depth[around] + 1)
                    if not missing[called] and depth[called] < _DEEPEST:
                        waiting.append(called)
        return order

    def executions(self, rate: Rate) -> dict[int, float]:
        """Computation -> how often it runs in one call of the program.

        Static loops say it themselves. The branches of a conditional, and loops whose trip count is not
        known, run as often as was seen: their caller's times the ratio of both rates. A computation of
        which nothing is known is left out.
        """
        found: dict[int, float | None] = {self.entry: 1.0}

        def times(computation: int) -> float | None:
            if computation not in found:
                parts = [self._each_time(caller, computation, rate, times) for caller in
                         self.callers.get(computation, [])]  # fmt: skip
                known = [part for part in parts if part is not None]
                found[computation] = sum(known) if known and len(known) == len(parts) else None
            return found[computation]

        for computation in self.callers:
            times(computation)
        return {computation: often for computation, often in found.items() if often is not None}

    @staticmethod
    def _each_time(
        caller: Instruction, computation: int, rate: Rate, times: Callable[[int], float | None]
    ) -> float | None:
        outer = times(caller.computation)
        if outer is None:
            return None
        if caller.opcode == "call":
            return outer
        if caller.opcode == "while" and (trips := trip_count(caller)) is not None:
            return outer * trips
        seen, around = rate(computation), rate(caller.computation)
        return None if seen is None or not around else outer * seen / around


def in_cut_loops(trace: Trace) -> list[np.ndarray]:
    """Per op line: which ops (bool[events]) lie in a loop of which there is no event around them.

    A loop that is open at an edge of the window leaves none. Of a run's lines only the one with most of its
    ops is looked at, for on others ops of a body may follow each other by chance.
    """
    looped, control = _flags(trace)
    count = len(trace.runs)
    ops = np.array([np.bincount(line.run, minlength=count) for line in trace.op_lines], np.int64)
    main = ops.argmax(axis=0) if len(ops) else np.zeros(count, np.int64)
    start, end = _covered_by(trace, control)
    found = []
    for number, line in enumerate(trace.op_lines):
        inside = looped[line.op] & (main[line.run] == number)
        if len(start):
            place = np.searchsorted(start, line.start, "right") - 1
            inside &= ~((place >= 0) & (line.end <= end[np.maximum(place, 0)])) | control[line.op]
        found.append(inside)
    return found


def _flags(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(lies in a loop, is a loop), bool[ops] each."""
    loops: dict[int, Loops | None] = {}
    looped, control = (np.zeros(len(trace.ops.name) + 1, bool) for _ in range(2))
    for op, (program, name) in enumerate(zip(trace.ops.program.tolist(), trace.ops.name, strict=True)):
        instruction = trace.programs.instruction(program, name)
        if instruction is None:
            continue
        if program not in loops:
            module = trace.programs.module(program)
            loops[program] = Loops(module) if module is not None else None
        known = loops[program]
        looped[op] = known is not None and instruction.computation in known.looped
        control[op] = instruction.opcode == "while"
    return looped, control


def _covered_by(trace: Trace, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(start, end) of the stretches that the chosen ops cover, whatever their line; disjoint, in order."""
    nothing = np.zeros(0, np.int64)
    start = np.concatenate([nothing, *(line.start[chosen[line.op]] for line in trace.op_lines)])
    end = np.concatenate([nothing, *(line.end[chosen[line.op]] for line in trace.op_lines)])
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order])
    if len(start) == 0:
        return start, end
    first = np.append(True, start[1:] >= end[:-1])
    return start[first], end[np.append(first[1:], True)]
