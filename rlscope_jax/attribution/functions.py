"""Which Python function an instruction came from, for programs that name nothing themselves.

jax keeps with every instruction the Python stack in which it was traced. An instruction's path is the chain
of the program's functions from the compiled one down: `train/_update_step/_env_step`. Three things mislead:

- A function compiled on its own (`jit` within `jit`, all of `jax.random`) is traced once, and what it holds
  keeps the stack of its first call, wherever it is called. The name of such an instruction says
  `.../jit(_uniform)/...`: it is only believed as far as its surroundings agree.
- Before jax 0.10 the body of a loop too, when two loops share it.
- Stacks are cut to their innermost ten frames, and from jax 0.10 on repeat themselves at every loop.

Surroundings are the while, call or conditional that runs the instruction, and the instructions beside it
that are in no `jit` of their own.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property, reduce
from itertools import pairwise

from rlscope_jax.names import call_nest, plain
from rlscope_jax.xla_events.hlo import HloModule, Instruction
from rlscope_jax.xla_events.stack_frames import Frame

Chain = tuple[str, ...]
Namesakes = dict[tuple[str, str], str]
_MARK = " ("  # between a function's name and what tells it from its namesakes

# Code that calls the program's functions rather than being a part of the algorithm: never shown.
_MACHINERY = re.compile(
    r"[/\\](?:site|dist)-packages[/\\](?:jax|jaxlib|rlscope_jax)[/\\]"
    r"|[/\\]jax[/\\]_src[/\\]|[/\\]rlscope_jax[/\\](?:annotate|capture|record)[/\\]"
    r"|[/\\]lib[/\\]python3[^/\\]*[/\\](?:functools|contextlib|runpy)\.py$|^<frozen "
)
# Installed anywhere else than here, a file is the user's own.
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]|[/\\]lib[/\\]python3[^/\\]*[/\\]")
_BOUNDARIES = frozenset({"while", "conditional"})
_DEEPEST = 64  # a damaged module may hold a cycle
_NEARLY_ALL = 0.9  # stacks may be cut short, and constants keep that of where they were made
# Names that jax gives to what it compiles for want of the user's.
_NAMELESS = frozenset({"", "fun", "lambda", "unnamed_wrapped_function", "wrapped", "wrapper", "call_wrapped"})


def is_library(file: str) -> bool:
    """Whether a file belongs to an installed package rather than to the program that was profiled."""
    return _INSTALLED.search(file) is not None


class FunctionPaths:
    """The function chains of one program's instructions.

    Args:
        module: the program.
        function: the name it was compiled under ("train").
        caller: per computation, the index of the instruction that runs it; None for the entry.
        fold: leave out the functions of libraries that a function of the program calls.
        namesakes: what tells functions of one name apart, see `namesakes_of`.
    """

    def __init__(
        self,
        module: HloModule,
        function: str,
        caller: Callable[[int], int | None],
        fold: bool = True,
        namesakes: Namesakes | None = None,
    ) -> None:
        self._module, self._function, self._caller, self._fold = module, function, caller, fold
        self._namesakes = namesakes or {}
        self._found: dict[int, Chain] = {}
        self._chains: dict[int, Chain] = {}

    def of(self, index: int) -> Chain:
        """The chain of an instruction, outermost function first; empty when no frame is known."""
        if index not in self._found:
            self._found[index] = ()  # ends a cycle, should a damaged module hold one
            self._found[index] = self._work_out(self._module.instructions[index])
        return self._found[index]

    @cached_property
    def root(self) -> str:
        """The compiled function, by the user's name for it."""
        return self._root[1]

    def _name(self, call: Frame) -> str:
        name = _short(call)
        mark = self._namesakes.get((name, call.file))
        return name if mark is None else f"{name}{_MARK}{mark})"

    def _work_out(self, instruction: Instruction) -> Chain:
        own = self._chain(instruction)
        if not own:
            return ()
        nest = call_nest(instruction.op_name)
        home = self._home(instruction.computation)
        around = self._around(home)
        if not nest.functions:
            return _moved(own, self._beside.get((home, nest.loops), own), around)
        region = self._region(home, nest.loops, around)
        if own[: len(region)] == region:
            known = self._all_known(own, nest.functions)
            return own if known else self._as_far_as_known(own, len(region))
        inner = [
            place for place, name in enumerate(own) if _bare(name) in nest.functions and name not in region
        ]
        return region + own[inner[0] :] if inner else region

    def _home(self, computation: int) -> int:
        """The loop body, branch or entry that holds a computation: fusions and calls are XLA's doing."""
        for _ in range(_DEEPEST):
            caller = self._caller(computation)
            if caller is None or self._module.instructions[caller].opcode in _BOUNDARIES:
                return computation
            computation = self._module.instructions[caller].computation
        return computation

    def _around(self, home: int) -> Chain:
        """The chain of the loop or condition that runs this; of the entry the compiled function."""
        caller = self._caller(home)
        return (self.root,) if caller is None else self.of(caller) or (self.root,)

    def _region(self, home: int, loops: tuple[str, ...], around: Chain) -> Chain:
        """The function whose code a body or branch is: the one that the loop's own function hands to it."""
        beside = self._beside.get((home, loops))
        if beside is None or self._caller(home) is None:
            return around
        if beside[: len(around)] == around:
            return beside[: len(around) + 1]
        return _moved(beside, beside, around)

    @staticmethod
    def _all_known(own: Chain, functions: frozenset[str]) -> bool:
        """Whether every function compiled on its own is one of the program's, so that its stack is too."""
        return functions <= {_bare(name) for name in own}

    def _as_far_as_known(self, own: Chain, length: int) -> Chain:
        """Follow a chain until a function that, where stacks can be believed, others call."""
        while length < len(own):
            callers = self._calls.get(own[length])
            if callers is not None and own[length - 1] not in callers:
                break
            length += 1
        return own[:length]

    @cached_property
    def _beside(self) -> dict[tuple[int, tuple[str, ...]], Chain]:
        """What the believable instructions of one loop nest of one body have in common."""
        shared: dict[tuple[int, tuple[str, ...]], Chain] = {}
        for instruction in self._module.instructions:
            nest = call_nest(instruction.op_name)
            chain = self._chain(instruction)
            if chain and not nest.functions:
                key = self._home(instruction.computation), nest.loops
                shared[key] = _common(shared[key], chain) if key in shared else chain
        return shared

    @cached_property
    def _calls(self) -> dict[str, set[str]]:
        """The callers of every function that a believable stack shows."""
        callers: dict[str, set[str]] = defaultdict(set)
        for instruction in self._module.instructions:
            chain = self._chain(instruction)
            if self._all_known(chain, call_nest(instruction.op_name).functions):
                for caller, callee in pairwise(chain):
                    callers[callee].add(caller)
        return dict(callers)

    def _chain(self, instruction: Instruction) -> Chain:
        frame = instruction.stack_frame
        if frame not in self._chains:
            self._chains[frame] = self._read(frame)
        return self._chains[frame]

    def _read(self, frame: int) -> Chain:
        if frame == 0:
            return ()
        frames = _frames(self._module.frames.stack(frame))
        below = self._below_root(frames)
        chain = [self.root]
        own_code = below > 0 and not is_library(frames[below - 1].file)
        for call in frames[below:]:
            library = is_library(call.file)
            if self._fold and library and own_code:
                continue
            own_code |= not library
            name = self._name(call)
            if name in chain:  # a stack that repeats itself, or a recursion, which is shown once
                del chain[chain.index(name) + 1 :]
            else:
                chain.append(name)
        return tuple(chain)

    def _below_root(self, frames: list[Frame]) -> int:
        """Where in a stack the functions begin that the compiled one calls."""
        above, _ = self._root
        outer = tuple(self._name(call) for call in frames[: len(above)])
        below = len(_common(outer, above))
        if below < len(above):  # a stack that was cut short, or lost its middle (rematerialisation)
            return next((at + 1 for at, call in enumerate(frames) if _is(call, self._function)), below)
        return below

    def definitions(self) -> set[tuple[str, str]]:
        """The user's functions that the program consists of, each with the file it is defined in."""
        found = set()
        for frame in {instruction.stack_frame for instruction in self._module.instructions} - {0}:
            frames = _frames(self._module.frames.stack(frame))
            for call in frames[max(self._below_root(frames) - 1, 0) :]:
                if not is_library(call.file):
                    found.add((_short(call), call.file))
        return found

    @cached_property
    def _root(self) -> tuple[Chain, str]:
        """The functions from the outermost down to the compiled one, and the name of that."""
        stacks = [_frames(self._module.frames.stack(frame)) for frame in self._used_frames]
        stacks = [stack for stack in stacks if any(_is(call, self._function) for call in stack)] or stacks
        chains = {tuple(self._name(call) for call in stack): stack for stack in stacks if stack}
        shared = _shared_by_most(set(chains))
        beginning = next((stack for chain, stack in chains.items() if chain[: len(shared)] == shared), [])
        for depth in range(len(shared), 0, -1):
            if _is(beginning[depth - 1], self._function):
                return shared[:depth], shared[depth - 1]
        if shared and (plain(self._function) in _NAMELESS or len(chains) > 1):
            return shared, shared[-1]
        # One stack for all: a program of jax's own, compiled at the first of many calls.
        return shared, self._function

    @cached_property
    def _used_frames(self) -> set[int]:
        """Of instructions the compiled function itself traced: not a function's of its own, nor pmap's."""
        return {
            instruction.stack_frame
            for instruction in self._module.instructions
            if instruction.stack_frame
            and not call_nest(instruction.op_name).functions
            and not instruction.op_name.endswith("/shard_map")
        }


def _frames(stack: tuple[Frame, ...]) -> list[Frame]:
    """A stack without the machinery."""
    return [call for call in stack if not _MACHINERY.search(call.file)]


def _is(call: Frame, function: str) -> bool:
    name = call.function.rpartition("<locals>.")[2]
    return plain(function) in (plain(name), plain(name.rpartition(".")[2]))


def _short(call: Frame) -> str:
    """A qualified name without the functions it is defined in; a lambda has its line for a name."""
    name = call.function.rpartition("<locals>.")[2].replace("/", "_")
    return f"<lambda:{call.line}>" if name.endswith("<lambda>") else name or "<unknown>"


def _bare(name: str) -> str:
    """A name as XLA's names of jitted functions have it."""
    return plain(name.partition(_MARK)[0])


def namesakes_of(definitions: Iterable[tuple[str, str]]) -> Namesakes:
    """(name, file) -> the end of the file's path, of those functions that share a name.

    Two functions `step` in files of their own are two operations: `step (ppo.py)` and `step (sac.py)`.
    """
    files: dict[str, set[str]] = defaultdict(set)
    for name, file in definitions:
        files[name].add(file)
    return {
        (name, file): _end_of_path(file, shared)
        for name, shared in files.items()
        if len(shared) > 1 and not name.startswith("<")
        for file in shared
    }


def _end_of_path(file: str, others: set[str]) -> str:
    """The last parts of a path that no other path ends with, joined by colons."""
    parts = re.split(r"[/\\]", file)
    for length in range(1, len(parts)):
        end = parts[-length:]
        if sum(re.split(r"[/\\]", other)[-length:] == end for other in others) == 1:
            break
    return ":".join(end)


def _shared_by_most(chains: set[Chain]) -> Chain:
    """The shortest of the chains with which nearly all others begin; else the beginning they share.

    Some instruction stands in the compiled function itself, be it the loop that holds all others; what called
    it, outside the program, has none.
    """
    outermost = Counter(chain[0] for chain in chains)
    whole = [chain for chain in chains if chain[0] == outermost.most_common(1)[0][0]]  # not cut short
    for candidate in sorted(whole, key=len):
        if sum(chain[: len(candidate)] == candidate for chain in whole) >= _NEARLY_ALL * len(whole):
            return candidate
    return reduce(_common, whole, whole[0] if whole else ())


def _moved(own: Chain, beside: Chain, around: Chain) -> Chain:
    """A chain with a stale beginning, of a body that two loops share, put under the loop that runs it."""
    agrees = own[: len(around)] == around or around[: len(own)] == own
    if agrees or len(beside) <= len(_common(beside, around)):
        return own
    return (*around, *own[len(beside) - 1 :])


def _common(left: Chain, right: Chain) -> Chain:
    length = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        length += 1
    return left[:length]
