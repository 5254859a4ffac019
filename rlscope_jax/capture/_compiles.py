"""What jax compiles while a program runs, how long each phase takes, and why a function is compiled again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from rlscope_jax import _jax
from rlscope_jax._jax import Argument, Lowering

_KEPT = 50
"""Compilations described, and sets of arguments remembered, for each function; all are counted."""
_TOLD = 3
"""Differences told in a reason, and arguments named for each."""

# The kinds of reasons. Where several differ, the first of these names it.
STRUCTURE, SHAPE, WEAK_TYPE, SHARDING = "structure", "shapes", "weak types", "shardings"
NEW_FUNCTION, UNKNOWN = "new function object", "unknown"


@dataclass
class Compilation:
    """One compilation; `reason` says why the function was compiled again, None the first time."""

    unix_ns: int
    step: int | None
    trace_ns: int = 0
    lower_ns: int = 0
    backend_ns: int = 0
    kind: str | None = None
    reason: str | None = None


@dataclass
class CompiledFunction:
    """All compilations of one function."""

    function: str
    where: str | None
    """File and line of its definition."""
    eager: bool
    """A function of jax's own, called outside of any jit."""
    count: int = 0
    trace_ns: int = 0
    lower_ns: int = 0
    backend_ns: int = 0
    compiled: list[Compilation] = field(default_factory=list)
    """The latest."""


class CompileLog:
    """Listens to jax from `start` to `stop`.

    Args:
        step: asked for the number of the step that a compilation falls into; None where steps have none.
    """

    def __init__(self, step: Callable[[], int | None] = lambda: None) -> None:
        self._step = step
        self._undo: Callable[[], None] | None = None
        self._functions: dict[tuple[str, str, int], CompiledFunction] = {}
        self._lowered: dict[tuple[str, str, int], list[Lowering]] = {}
        self._pending = (
            threading.local()
        )  # of each thread: the traces not yet lowered, the programs to compile
        self._lock = threading.Lock()

    def start(self) -> None:
        """Note what is compiled from now on."""
        if self._undo is None:
            self._undo = _jax.on_compiling(self._told)

    @property
    def holds_a_function(self) -> bool:
        """Whether a function of the program has been compiled, rather than single operations."""
        with self._lock:
            return any(not function.eager for function in self._functions.values())

    def stop(self) -> None:
        """Note no more."""
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()

    def functions(self) -> list[dict]:
        """What was compiled so far, those that took longest first, as plain values."""
        with self._lock:
            found = [asdict(function) for function in self._functions.values()]
        return sorted(found, key=lambda one: -(one["trace_ns"] + one["lower_ns"] + one["backend_ns"]))

    def _told(self, phase: str, name: str, seconds: float) -> None:
        traces = self._pending.__dict__.setdefault("traces", {})
        programs = self._pending.__dict__.setdefault("programs", {})
        nanoseconds = round(seconds * 1e9)
        if phase == "trace":
            traces[name] = nanoseconds  # inner functions are told of before the outer one, which holds them
            return
        lowering = _jax.lowering_now() if phase == "lower" else None
        with self._lock:
            if phase == "lower":
                programs[name] = found = self._new(name, lowering)
                trace_ns = traces.get(_within(name), 0)
                traces.clear()
                _add(*found, trace_ns=trace_ns, lower_ns=nanoseconds)
            else:
                found = programs.pop(name, None) or self._new(name, None)
                _add(*found, backend_ns=nanoseconds)

    def _new(self, name: str, lowering: Lowering | None) -> tuple[CompiledFunction, Compilation]:
        function = _within(name)
        key, where, eager = (function, "", 0), None, False
        if lowering is not None:
            function, eager = lowering.function, lowering.is_jaxs
            if function == "<lambda>":
                function = f"<lambda:{lowering.line}>"
            key = function, lowering.file, lowering.line
            where = f"{lowering.file}:{lowering.line}" if lowering.file else None
        known = self._functions.setdefault(key, CompiledFunction(function, where, eager))
        new = Compilation(time.time_ns(), self._step())
        if lowering is not None:
            before = self._lowered.setdefault(key, [])
            if before:
                new.kind, new.reason = why(lowering, before)
            before.append(lowering)
            del before[:-_KEPT]
        known.count += 1
        known.compiled.append(new)
        del known.compiled[:-_KEPT]
        return known, new


def why(lowering: Lowering, before: list[Lowering]) -> tuple[str, str]:
    """Why a function was compiled again: what differs from the most alike of the earlier times.

    Returns:
        The kind of the reason, and the reason in words.
    """
    new = lowering.arguments
    alike = [old for old in before if len(old.arguments) == len(new)]
    if not alike:
        return STRUCTURE, f"it is given {len(new)} arrays, before {len(before[-1].arguments)}"
    closest = min(reversed(alike), key=lambda old: len(_different(new, old.arguments)))
    different = _different(new, closest.arguments)
    if different:
        kinds = {_kind(now, then) for now, then in different}
        kind = next(kind for kind in (SHAPE, SHARDING, WEAK_TYPE) if kind in kinds)
        return kind, _in_words(different)
    same = any(old.identity is not None and lowering.identity is not None
               and old.identity() is lowering.identity() for old in alike)  # fmt: skip
    if same or lowering.identity is None:
        return UNKNOWN, "its arguments are alike: a static argument, a jax setting or a mesh differs"
    return NEW_FUNCTION, "its arguments are alike, but jax.jit was given a new function object"


def _different(new: tuple[Argument, ...], old: tuple[Argument, ...]) -> list[tuple[Argument, Argument]]:
    return [(now, then) for now, then in zip(new, old, strict=True) if now[1:] != then[1:]]


def _kind(now: Argument, then: Argument) -> str:
    if now.shape != then.shape:
        return SHAPE
    return WEAK_TYPE if now.weak != then.weak else SHARDING


def _in_words(different: list[tuple[Argument, Argument]]) -> str:
    """What differs, and of which arguments: many are alike in that, and few are told."""
    of_difference: dict[str, list[str]] = {}
    for now, then in different:
        of_difference.setdefault(_difference(now, then), []).append(now.name or "a constant")
    told = []
    for difference, names in list(of_difference.items())[:_TOLD]:
        rest = len(names) - _TOLD
        more = f" and {rest} more" if rest > 0 else ""
        told.append(f"{', '.join(names[:_TOLD])}{more}: {difference}")
    rest = len(of_difference) - _TOLD
    return "; ".join(told) + (f"; and {rest} more differences" if rest > 0 else "")


def _difference(now: Argument, then: Argument) -> str:
    if now.shape != then.shape:
        return f"{now.shape}, before {then.shape}"
    if now.weak != then.weak:
        typed = {True: "weakly", False: "strongly"}
        return f"{typed[now.weak]} typed, before {typed[then.weak]}"
    if now.sharding != then.sharding:
        return f"sharded {now.sharding or 'as jit likes'}, before {then.sharding or 'as jit likes'}"
    return f"from {_mesh(now)}, before from {_mesh(then)}"


def _mesh(argument: Argument) -> str:
    return f"mesh {argument.mesh}" if argument.mesh else "no mesh"


def _add(function: CompiledFunction, compilation: Compilation, **spent: int) -> None:
    for one in (function, compilation):
        for phase, nanoseconds in spent.items():
            setattr(one, phase, getattr(one, phase) + nanoseconds)


def _within(name: str) -> str:
    """The function's name within `jit(f)` or `pmap(f)`."""
    return name.partition("(")[2].removesuffix(")") if name.endswith(")") else name
