"""How an operation's name is written into a scope or annotation, and read back from an op_name.

A mark is `rls=` before each segment of the operation's path: `operation("update/loss")` opens the scope
`rls=update/rls=loss`. The `name=` shape survives grad, vmap, remat, scan, while, cond and shard_map
(jax 0.10); `:` and `/` would not. Host annotations carry the same text, so one rule reads both.

XLA keeps names as `jit(f)/transpose(jvp(rls=loss))/while/body/closed_call/rls=step/mul`: components are
separated by `/`, transformations wrap one or more of them, and the last one is the primitive.

No jax import here: readers use this module too.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

MARK = "rls="
STEP_NAME = "rlscope_step"
"""The name of every training step that our own capture marks."""
EDGE_NAME = "rlscope_edge"
"""The name of our own capture's wait at the edge of a window: a wait, but no sync of the user's."""

_SEGMENT = re.compile(r"[A-Za-z0-9_.+\-]+(?: [A-Za-z0-9_.+\-]+)*")

# Wrappers whose content is a piece of the name stack; any other `word(...)` names a function.
_TRANSFORMS = frozenset(
    {"jvp", "transpose", "vmap", "remat", "checkpoint", "custom_jvp", "custom_vjp", "mask"}
)

# Components that jax itself adds: control flow and call primitives met on the way to an operation.
_STRUCTURAL = frozenset(
    {
        "while", "body", "cond", "scan", "closed_call", "core_call", "checkpoint", "remat", "remat2",
        "rematted_computation", "custom_jvp_call", "custom_vjp_call", "custom_jvp_call_jaxpr",
        "custom_vjp_call_jaxpr", "pjit", "xla_call", "shard_map", "xla_pmap", "body_fun", "cond_fun",
        "custom_lin", "composite", "main", "eval_jaxpr",
    }
)  # fmt: skip
_BRANCH = re.compile(r"branch_\d+_fun")


class GraphPath(NamedTuple):
    """Where an instruction's op_name places it.

    `path` is the operation path ("" when nothing names it), `direction` is forward, backward, recompute
    or None, `marked` tells our marks from other scopes, and `rooted` says whether the op_name starts at
    the program (`jit(f)/...`) or is a fragment such as a reduction body's or an argument's name.
    """

    path: str
    direction: str | None
    marked: bool
    rooted: bool


def check_name(name: str) -> str:
    """Return `name` if it can be an operation's name.

    A name is one or more segments joined by `/`; a segment holds letters, digits, `_ . + -` and single
    spaces between them.

    Raises:
        TypeError: `name` is not a string.
        ValueError: a segment is empty or holds another character.
    """
    if not isinstance(name, str):
        raise TypeError(
            f"operation() needs a name, e.g. operation('env_step'); got {type(name).__name__}. "
            "As a decorator write @operation('name'), with the parentheses."
        )
    for segment in name.split("/"):
        if not _SEGMENT.fullmatch(segment):
            raise ValueError(
                f"operation name {name!r}: the part {segment!r} is not allowed. Use letters, digits, "
                "'_', '.', '+', '-' and single spaces; '/' nests."
            )
    return name


def encode(name: str) -> str:
    """Write an operation name as a mark: "update/loss" -> "rls=update/rls=loss"."""
    return MARK + name.replace("/", "/" + MARK)


@lru_cache(maxsize=4096)
def mark(name: str) -> str:
    """Check and encode, remembered: `with operation("name"):` in a host loop makes the object anew each time.

    Raises:
        ValueError: see `check_name`.
    """
    return encode(check_name(name))


def decode(text: str) -> str | None:
    """Read a mark back: "rls=update/rls=loss" -> "update/loss"; None if `text` is no mark of ours."""
    if not text.startswith(MARK):
        return None
    return text[len(MARK) :].replace("/" + MARK, "/")


def join(outer: str, inner: str) -> str:
    """Join two operation paths; where the end of `outer` repeats the start of `inner` they overlap.

    The host's `update` and the graph's `update/loss` are one `update/loss`, not `update/update/loss`.
    """
    if not outer or not inner:
        return outer or inner
    left, right = outer.split("/"), inner.split("/")
    for shared in range(min(len(left), len(right)), 0, -1):
        if left[-shared:] == right[:shared]:
            return "/".join(left + right[shared:])
    return f"{outer}/{inner}"


class CallNest(NamedTuple):
    """How an instruction's op_name nests it: the loops it was traced in, then functions of their own.

    `loops` are the components between the program and the first function compiled on its own within it (or
    the primitive); `functions` are the plain names of these functions.
    """

    loops: tuple[str, ...]
    functions: frozenset[str]


@lru_cache(maxsize=65536)
def call_nest(op_name: str) -> CallNest:
    """Read the nesting of calls out of an HLO op_name."""
    components = _components(_split(op_name, ";")[0])
    inner = [place for place, part in enumerate(components) if place and part.function is not None]
    first = inner[0] if inner else len(components) - 1
    loops = tuple(part.text for part in components[1:first] if part.text)
    return CallNest(loops, frozenset(_called(components[place].function or "") for place in inner))


def _called(call: str) -> str:
    """The plain name in `jit(f)`."""
    return plain(call.partition("(")[2].removesuffix(")"))


def plain(name: str) -> str:
    """A function's name as both a call and a module spell it: `<lambda>` is `jit__lambda`'s."""
    return re.sub(r"[\W_]+", "_", name, flags=re.ASCII).strip("_")


def root_function(op_name: str) -> str:
    """The function whose program an op_name starts in: "train" of `jit(train)/while/body/mul`, "" if none."""
    components = _components(_split(op_name, ";")[0])
    call = components[0].function if components else None
    return "" if call is None else call.partition("(")[2].removesuffix(")").replace("/", "_")


@lru_cache(maxsize=65536)
def parse_op_name(op_name: str, every_scope: bool = False) -> GraphPath:
    """Read the operation path and the direction of differentiation out of an HLO op_name.

    The path is that of the marks where there are any, else of the scopes; with `every_scope` of both
    together. Of several names joined with `;` (instructions that XLA merged) the first with a mark counts,
    else the first. Direction follows the innermost mark: backward when a component at or above it is
    transposed, recompute when rematerialisation stands above it, forward when it is only under jvp.
    Without any scope it is that of the whole name.
    """
    parsed = [_parse_one(part, every_scope) for part in _split(op_name, ";")]
    return next((name for name in parsed if name.marked), parsed[0])


def _parse_one(op_name: str, every_scope: bool) -> GraphPath:
    components = _components(op_name)
    rooted = bool(components) and components[0].function is not None
    if rooted:
        components = components[_last_root(components) :]
    marks = [index for index, component in enumerate(components) if component.text.startswith(MARK)]
    # Without marks: every component that jax did not add, less the primitive at the end.
    scopes = [i for i, component in enumerate(components[:-1]) if _is_scope(component)]
    chosen = sorted({*marks, *scopes}) if every_scope else marks or scopes
    if not chosen or not (rooted or marks or len(components) > 1):
        return GraphPath("", _direction(components) if rooted else None, False, rooted)
    named = [components[index].text.removeprefix(MARK) for index in chosen]
    return GraphPath(_collapse(named), _direction(components[: chosen[-1] + 1]), bool(marks), rooted)


def _last_root(components: list[_Component]) -> int:
    """Where the name begins. XLA may join an instruction's whole name to its caller's: then it begins anew.

    The start of the name must come again, not the function alone: `jit(step)` may well call a `jit(step)`.
    """
    start = components[:2]
    again = [i for i in range(len(components) - 1) if components[i : i + 2] == start]
    return again[-1] if len(start) == 2 and start[1].text else 0


class _Component(NamedTuple):
    text: str
    wrappers: tuple[str, ...]
    function: str | None = None  # jit(f), pmap(f), ...: a function, whose text is empty


def _is_scope(component: _Component) -> bool:
    text = component.text
    # jax writes the qualified name of a traced function (`f.<locals>.body`) as it would a scope.
    return bool(text) and "<" not in text and text not in _STRUCTURAL and not _BRANCH.fullmatch(text)


def _direction(above: list[_Component]) -> str | None:
    if any(component.text == "rematted_computation" for component in above):
        return "recompute"
    wrappers = {wrapper for component in above for wrapper in component.wrappers}
    if "transpose" in wrappers:
        return "backward"
    return "forward" if "jvp" in wrappers else None


def _collapse(segments: list[str]) -> str:
    kept: list[str] = []
    for segment in segments:
        if not kept or kept[-1] != segment:
            kept.append(segment)
    return "/".join(kept)


def _components(op_name: str, wrappers: tuple[str, ...] = ()) -> list[_Component]:
    found: list[_Component] = []
    for part in _split(op_name, "/"):
        head, opening, rest = part.partition("(")
        if not (opening and rest.endswith(")")):
            found.append(_Component(part, wrappers))
        elif head in _TRANSFORMS:
            inner = _components(rest[:-1], (*wrappers, head))
            found.extend(inner or [_Component("", (*wrappers, head))])
        else:
            found.append(_Component("", wrappers, part))
    return found


def _split(text: str, separator: str) -> list[str]:
    """Split at `separator` outside parentheses; unbalanced text is split everywhere."""
    if "(" not in text:
        return text.split(separator)
    parts: list[str] = []
    depth = start = 0
    for index, char in enumerate(text):
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        elif char == separator and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    parts.append(text[start:])
    return parts
