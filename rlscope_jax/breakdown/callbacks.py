"""The host callbacks of each operation: how many, how long, and what stands still for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rlscope_jax.attribution.callback_gaps import gaps_of_owners
from rlscope_jax.findings.callbacks import callbacks, calls_through_python
from rlscope_jax.findings.facts import Facts

if TYPE_CHECKING:
    from rlscope_jax.breakdown.report import Process

Data = dict[str, Any]
_SUMS = ("count", "time_ns", "gap_ns", "slow_calls", "slow_calls_ns")


def callbacks_section(data: Data, processes: Sequence[Process]) -> list[Data]:
    """One entry for each operation and program that calls back, the longest first; times as recorded.

    Args:
        data: the report so far.
        processes: what it is made of.
    """
    found = []
    for number, process in enumerate(processes):
        facts = Facts(data, number, process)
        gaps = _gaps(process)
        for made in callbacks(facts):
            slow = calls_through_python(facts, made.program)
            found.append(
                {
                    "process": number,
                    "operation": made.path,
                    "program": facts.program_names.get(made.program),
                    "function": facts.function(made.program),
                    "primitives": list(made.primitives),
                    "where": made.line,
                    "count": made.count,
                    "time_ns": made.self_time // 1000,
                    "gap_ns": gaps.get((made.program, made.path), 0) // 1000,
                    "slow_calls": len(slow),
                    "slow_calls_ns": sum(call.end - call.start for call in slow) // 1000,
                }
            )
    return _longest_first(found)


def add_callbacks(sections: list[list[Data]]) -> list[Data]:
    """The sections of several windows added up."""
    found: dict[tuple, Data] = {}
    for one in (one for section in sections for one in section):
        key = one["process"], one["operation"], one["program"]
        known = found.setdefault(key, {**one, **dict.fromkeys(_SUMS, 0)})
        known.update({name: known[name] + one[name] for name in _SUMS})
    return _longest_first(list(found.values()))


def _longest_first(found: list[Data]) -> list[Data]:
    return sorted(found, key=lambda one: -(one["time_ns"] + one["gap_ns"]))


def _gaps(process: Process) -> dict[tuple[int, str], int]:
    """(program, operation) -> the device's waiting around its callbacks, ps."""
    attribution = process.attribution
    found: dict[tuple[int, str], int] = {}
    for owner, gap in zip(attribution.owners, gaps_of_owners(attribution).tolist(), strict=True):
        if gap:
            key = int(process.trace.ops.program[owner.op]), owner.main.path
            found[key] = found.get(key, 0) + gap
    return found
