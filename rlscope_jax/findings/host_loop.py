"""Operations whose host calls many small programs: what `not_jitted` and `dispatch_bound` look at."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from rlscope_jax.attribution import host_names
from rlscope_jax.findings.facts import Call, Facts, time

_CALLING = ("dispatch", "inline", "transfer", "wait", "wait_inferred", "runtime")
_NOT_CALLING = ("compile", "callback")


@dataclass(frozen=True)
class HostLoop:
    """The calls charged to one operation."""

    path: str
    calls: list[Call]
    eager_functions: list[str]
    """jax's own functions among those called, most often first."""
    eager: int
    """Calls of them."""
    host_ns: int
    """Wall time in which only the host worked for it, compilations and callbacks left out."""
    calling_ns: int
    """The part of it spent in jax: dispatching, moving, waiting."""
    device_ns: int
    """Device time of what was called."""
    entries: int | None
    """How often the operation was entered on the host; None where nothing marks it."""

    @property
    def functions(self) -> list[str]:
        """The functions called, most often first."""
        return _by_count(self.calls)

    @property
    def is_eager(self) -> bool:
        """Whether most calls are of jax's own programs."""
        return 2 * self.eager > len(self.calls)


def _by_count(calls: list[Call]) -> list[str]:
    counts = Counter(call.function or "?" for call in calls)
    return [name for name, _ in counts.most_common()]


def host_loops(facts: Facts) -> list[HostLoop]:
    """Every operation that called programs, except from within callbacks."""
    calls_of: dict[str, list[Call]] = defaultdict(list)
    for call in facts.calls:
        if not call.compiled:
            calls_of[call.path].append(call)
    loops = []
    for path, calls in calls_of.items():
        row = facts.row(path)
        if row is None:
            continue
        alone = row["wall"]["host_only_categories"]
        device = sum(
            facts.device_time.get(call.program, 0) / facts.runs.get(call.program, 1) for call in calls
        )
        loops.append(
            HostLoop(
                path,
                calls,
                _by_count([call for call in calls if facts.is_eager.get(call.program, False)]),
                sum(facts.is_eager.get(call.program, False) for call in calls),
                sum(time(alone[name]) for name in host_names.CATEGORIES if name not in _NOT_CALLING),
                sum(time(alone[name]) for name in _CALLING),
                round(device / 1000),
                facts.entries(path),
            )
        )
    return loops
