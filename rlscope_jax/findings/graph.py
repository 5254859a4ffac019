"""Which instructions of a module stand where, and which run which."""

from __future__ import annotations

from collections import defaultdict

from rlscope_jax.xla_events.hlo import HloModule, Instruction


class Graph:
    """The instructions of a module by computation."""

    def __init__(self, module: HloModule) -> None:
        self.members: dict[int, list[Instruction]] = defaultdict(list)
        """Computation -> its instructions, each after what it uses."""
        for one in module.instructions:
            self.members[one.computation].append(one)

    def run_by(self, callers: list[Instruction]) -> list[Instruction]:
        """All instructions that these run: of loops, calls and fusions, however deep."""
        waiting = [called for one in callers for called in one.called]
        seen: set[int] = set()
        found: list[Instruction] = []
        while waiting:
            computation = waiting.pop()
            if computation in seen:
                continue
            seen.add(computation)
            found += self.members[computation]
            waiting += [called for one in self.members[computation] for called in one.called]
        return found
