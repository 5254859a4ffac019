"""What was compiled, how long it took, and what was compiled again and why."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rlscope_jax.reporters.units import unit_of

Data = dict[str, Any]

_MOST = 3
_MUCH = 0.1
_WORDS = {"trace": "tracing", "lower": "lowering", "backend": "XLA"}


def compile_lines(data: Data) -> list[str]:
    """A line on all compilations, and some on the functions that took most or were compiled again."""
    section = data["compiles"]
    functions = [one for one in section["functions"] if not one["eager"] and one["count"]]
    eager = [one for one in section["functions"] if one["eager"] and one["count"]]
    if not functions and not eager:
        return []
    when = "from the start on" if section["covers"] == "run" else "within the window"
    told = [f"{_count(functions)} of functions, {_time(functions)}"] if functions else []
    if eager:
        scale, unit = unit_of(_spent(eager))
        told.append(f"{_count(eager)} of operations outside jit, {_rounded(_spent(eager) / scale)} {unit}")
    lines = [f"compilations {when}: {'; '.join(told)}"]
    whole = _spent(functions)
    telling = [
        one for one in functions if _reasons(one) or one["count"] > 1 or _spent([one]) >= _MUCH * whole
    ]
    for one in sorted(telling, key=lambda one: -_spent([one]))[:_MOST]:
        where = f", {_short(one['where'])}" if one["where"] else ""
        times = f"{one['count']} times, " if one["count"] > 1 else ""
        lines.append(f"  {one['function']}: {times}{_time([one])}{where}")
        lines += [f"    again: {reason}" for reason in _reasons(one)]
    return lines


def _count(functions: list[Data]) -> int:
    return sum(one["count"] for one in functions)


def _spent(functions: list[Data]) -> int:
    return sum(one[f"{phase}_ns"] for one in functions for phase in _WORDS)


def _time(functions: list[Data]) -> str:
    scale, unit = unit_of(_spent(functions))
    parts = (
        f"{word} {_rounded(sum(one[f'{phase}_ns'] for one in functions) / scale)}"
        for phase, word in _WORDS.items()
    )
    return f"{_rounded(_spent(functions) / scale)} {unit} ({', '.join(parts)})"


def _rounded(time: float) -> str:
    return f"{time:,.0f}" if time >= 100 else f"{time:,.1f}"


def _reasons(function: Data) -> list[str]:
    """Why it was compiled again: the first example of each kind, and how often."""
    again = [one for one in function["compiled"] if one["reason"]]
    often = Counter(one["kind"] for one in again)
    first = {one["kind"]: one for one in reversed(again)}
    return [
        f"{first[kind]['reason']}"
        + (f" (step {first[kind]['step']})" if first[kind]["step"] is not None else "")
        + (f"; {number} times for {kind}" if number > 1 else "")
        for kind, number in often.most_common()
    ]


def _short(where: str) -> str:
    """A file and a line, with the file's last two folders."""
    return "/".join(where.replace("\\", "/").split("/")[-3:])
