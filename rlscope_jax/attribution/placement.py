"""Which operation an instruction belongs to, as far as its program alone can say."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from rlscope_jax.attribution.cost import cost
from rlscope_jax.attribution.functions import FunctionPaths, Namesakes
from rlscope_jax.names import join, parse_op_name, root_function
from rlscope_jax.xla_events.hlo import HloModule, Instruction

# In order of trust.
EVIDENCE = ("mark", "annotation", "scope", "function", "split", "inherited", "host", "none")

_KINDS = ("mark", "scope", "function")

# Instructions that only pass values on: neither their own name nor their place says anything.
_PLUMBING = frozenset({"parameter", "tuple", "get-tuple-element", "bitcast", "constant"})


GROUPINGS = ("auto", "operation", "scope", "function")
"""What names an operation: our marks, else scopes, else functions; or one of the three alone."""

_LEAST_SHARE = 100  # a part below a hundredth of its fusion is given to the rest


class Placement(NamedTuple):
    """An operation path within a program, and why."""

    path: str
    direction: str | None
    evidence: str
    kind: str | None
    """mark, scope or function: what kind of name the path was read from; None when nothing names it."""


NOWHERE = Placement("", None, "none", None)


class ModulePlacements:
    """Places the instructions of one program; each is worked out once, when asked for.

    An instruction is placed by the mark in its op_name, else by its named scopes, else by the Python
    functions it was traced in. One that XLA inserted (no op_name, or a fragment) inherits: from the
    producers and consumers that it serves where these agree on something within the owning while or call,
    else from that owner. An instruction with a whole op_name and no scope was left undecorated on purpose:
    it is not given to a neighbour.
    """

    def __init__(self, module: HloModule, grouping: str = "auto", namesakes: Namesakes | None = None) -> None:
        self._module = module
        self._grouping = grouping
        self._placed: dict[int, Placement] = {}
        fold = grouping != "function"
        function = parse_function(module.name)
        self._functions = FunctionPaths(module, function, self._callers.get, fold, namesakes)

    @property
    def definitions(self) -> set[tuple[str, str]]:
        """The user's functions that the program consists of, each with the file it is defined in."""
        return self._functions.definitions()

    @property
    def function(self) -> str:
        """The function the program was compiled from, by the user's name for it."""
        return self._functions.root

    def shares(self, name: str) -> list[tuple[Placement, int]]:
        """The placements of the instruction called `name`, each with its weight, heaviest first.

        Only a fusion has several: XLA puts instructions of several operations into one, and its time is
        divided by what these instructions cost.
        """
        index = self._module.by_name.get(name)
        if index is None:
            return [(NOWHERE, 1)]
        parts = self._parts(self._module.instructions[index])
        if len(parts) < 2:
            return [(self._place(index), 1)]
        return [(place._replace(evidence="split"), weight) for place, weight in parts]

    @cached_property
    def root_mark(self) -> str | None:
        """The first segment shared by every mark of the program: its single root operation, if it has one."""
        roots = set()
        for instruction in self._module.instructions:
            name = parse_op_name(instruction.op_name)
            if name.marked and name.rooted:
                roots.add(name.path.split("/")[0])
        return roots.pop() if len(roots) == 1 else None

    def _place(self, index: int) -> Placement:
        if index not in self._placed:
            self._placed[index] = NOWHERE  # ends a cycle, should a damaged module hold one
            self._placed[index] = self._work_out(self._module.instructions[index])
        return self._placed[index]

    def _work_out(self, instruction: Instruction) -> Placement:
        own = self._own(instruction)
        if own is not None:
            return own
        owner = self._owner(instruction.computation)
        shared = self._neighbours(instruction)
        if shared is not None and _within(shared.path, owner.path):
            return shared._replace(evidence="inherited")
        return owner._replace(evidence="inherited") if owner.kind else NOWHERE

    def _own(self, instruction: Instruction) -> Placement | None:
        """What the op_name and the stack of an instruction say; None when they say nothing."""
        name = parse_op_name(instruction.op_name, every_scope=self._grouping == "scope")
        by_name = name.path and self._grouping != "function"
        if by_name and name.marked:
            outer = "" if name.rooted else self._owner(instruction.computation).path
            return Placement(join(outer, name.path), name.direction, "mark", "mark")
        if not name.rooted or "/" not in instruction.op_name:  # XLA made it, and knows its program at most
            parts = self._parts(instruction)
            return parts[0][0]._replace(evidence="inherited") if parts and parts[0][0].kind else None
        if by_name and self._grouping != "operation":
            return Placement(name.path, name.direction, "scope", "scope")
        if self._grouping in ("auto", "function"):
            chain = self._functions.of(self._module.by_id[instruction.id]) or (self.function,)
            return Placement("/".join(chain), name.direction, "function", "function")
        return NOWHERE._replace(direction=name.direction)

    def _parts(self, instruction: Instruction) -> list[tuple[Placement, int]]:
        """What the instructions of a fusion belong to, with the cost of each, heaviest first."""
        if instruction.opcode != "fusion":
            return []
        costs: dict[Placement, int] = {}
        for member in self._members(instruction):
            name = parse_op_name(member.op_name)
            place = self._own(member) if name.rooted or name.marked else None
            if place is not None:
                costs[place] = costs.get(place, 0) + cost(member, self._module)
        least = max(costs.values(), default=0) / _LEAST_SHARE
        parts = [(place, weight) for place, weight in costs.items() if weight > least] or [
            (place, 1) for place in costs
        ]
        return sorted(parts, key=lambda part: -part[1])

    def _members(self, instruction: Instruction) -> list[Instruction]:
        return [member for called in instruction.called for member in self._by_computation.get(called, [])]

    def _owner(self, computation: int) -> Placement:
        """The placement of the while, call or conditional that runs this computation."""
        caller = self._callers.get(computation)
        return NOWHERE if caller is None else self._place(caller)

    def _neighbours(self, instruction: Instruction) -> Placement | None:
        """What the producers and consumers of a value have in common, looking through plumbing."""
        found = self._named_through(instruction, self._users) + self._named_through(
            instruction, self._operands
        )
        if not found:
            return None
        common = found[0].path
        for place in found[1:]:
            common = _common(common, place.path)
        directions = {place.direction for place in found}
        kind = next(kind for kind in _KINDS if any(place.kind == kind for place in found))
        direction = directions.pop() if len(directions) == 1 else None
        return Placement(common, direction, "inherited", kind) if common else None

    def _named_through(self, instruction: Instruction, step: dict[int, list[int]]) -> list[Placement]:
        """The named instructions first met when walking `step` (users or operands) from here."""
        found, seen, waiting = [], {instruction.id}, list(step.get(instruction.id, []))
        while waiting and len(seen) < 256:
            current = waiting.pop()
            if current in seen or current not in self._module.by_id:
                continue
            seen.add(current)
            neighbour = self._module.instructions[self._module.by_id[current]]
            own = None if neighbour.opcode in _PLUMBING else self._own(neighbour)
            if own is None:
                waiting.extend(step.get(current, []))
            elif own.kind:
                found.append(own)
        return found

    @cached_property
    def _by_computation(self) -> dict[int, list[Instruction]]:
        members: dict[int, list[Instruction]] = {}
        for instruction in self._module.instructions:
            members.setdefault(instruction.computation, []).append(instruction)
        return members

    @cached_property
    def _callers(self) -> dict[int, int]:
        callers: dict[int, int] = {}
        for index, instruction in enumerate(self._module.instructions):
            for called in instruction.called:
                callers.setdefault(called, index)
        return callers

    @cached_property
    def _operands(self) -> dict[int, list[int]]:
        return {instruction.id: instruction.operands for instruction in self._module.instructions}

    @cached_property
    def _users(self) -> dict[int, list[int]]:
        users: dict[int, list[int]] = {}
        for instruction in self._module.instructions:
            for operand in instruction.operands:
                users.setdefault(operand, []).append(instruction.id)
        return users


def place_op_name(op_name: str, grouping: str = "auto") -> Placement:
    """The placement that an op_name gives by itself, for an op whose program's HLO is not at hand."""
    name = parse_op_name(op_name, every_scope=grouping == "scope")
    kind = "mark" if name.marked else "scope"
    if name.path and (grouping in ("auto", "scope") or (grouping == "operation" and name.marked)):
        return Placement(name.path, name.direction, kind, kind)
    function = root_function(op_name) if grouping in ("auto", "function") else ""
    if function:
        return Placement(function, name.direction, "function", "function")
    return NOWHERE._replace(direction=name.direction)


def parse_function(module_name: str) -> str:
    """The function a module was compiled from: "jit_train_step" -> "train_step"."""
    for prefix in ("jit_", "pmap_", "pjit_"):
        if module_name.startswith(prefix):
            return module_name[len(prefix) :]
    return module_name


def _within(path: str, owner: str) -> bool:
    return not owner or path == owner or path.startswith(owner + "/")


def _common(left: str, right: str) -> str:
    shared = []
    for a, b in zip(left.split("/"), right.split("/"), strict=False):
        if a != b:
            break
        shared.append(a)
    return "/".join(shared)
