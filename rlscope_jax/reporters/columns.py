"""The columns of the table, and which of them a terminal has room for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from rlscope_jax.reporters.rows import Operation, wall_of
from rlscope_jax.reporters.units import cell, count

Data = dict[str, Any]
_NAME_WIDTH = 28

_SHORT = {"annotation": "annot.", "function": "func.", "inherited": "inher."}


@dataclass(frozen=True)
class Column:
    """One column: how it is titled, and what it says of a row and of the whole."""

    title: str
    unit: str
    width: int
    of_row: Callable[[Operation, Data, float], str]
    of_total: Callable[[Data, float], str]
    is_time: bool = False
    """Whether the unit is the table's."""
    justify: Literal["left", "right"] = "right"
    matters: Callable[[Data], bool] = lambda data: True


def columns_that_fit(data: Data, width: int) -> list[Column]:
    """The columns that say something of this report, as many as `width` characters hold."""
    chosen: list[int] = []
    left = width - _NAME_WIDTH
    for number in _BY_WORTH:
        column = _COLUMNS[number]
        if column.matters(data) and column.width + 1 <= left:
            left -= column.width + 1
            chosen.append(number)
    return [_COLUMNS[number] for number in sorted(chosen)]


def _percent(row: Operation, data: Data, scale: float) -> str:
    wall = data["totals"]["wall"]["raw"]
    return f"{100 * wall_of(row) / wall:.1f}" if wall else ""


def _host_category(row: Operation, data: Data, scale: float) -> str:
    """The category that most of the host-only time is of."""
    categories = {name: value["raw"] for name, value in row["wall"]["host_only_categories"].items()}
    most = max(categories, key=lambda name: categories[name])
    return most.replace("wait_inferred", "wait?") if categories[most] else ""


def _evidence(row: Operation, data: Data, scale: float) -> str:
    if not row["evidence"]:
        return ""
    best, share = max(row["evidence"].items(), key=lambda item: item[1])
    name = _SHORT.get(best, best)
    return name if share > 0.995 else f"{name} {100 * share:.0f}%"


def _counted(key: str) -> Callable[[Data], bool]:
    return lambda data: data["counts"][key] > 0


_COLUMNS = (
    Column("wall", "", 9, lambda row, data, scale: cell(wall_of(row), scale),
           lambda data, scale: cell(data["totals"]["wall"]["raw"], scale), is_time=True),
    Column("wall", "%", 5, _percent, lambda data, scale: "100.0" if data["totals"]["wall"]["raw"] else ""),
    Column("device", "", 9, lambda row, data, scale: cell(row["device"]["self"]["raw"], scale),
           lambda data, scale: cell(data["totals"]["device_self"]["raw"], scale), is_time=True),
    Column("with below", "", 10, lambda row, data, scale: cell(row["device"]["total"]["raw"], scale),
           lambda data, scale: "", is_time=True),
    Column("host only", "", 9, lambda row, data, scale: cell(row["wall"]["host_only"]["raw"], scale),
           lambda data, scale: cell(data["totals"]["host_only"]["raw"], scale), is_time=True),
    Column("mostly", "", 8, _host_category, lambda data, scale: "", justify="left"),
    Column("ops", "#", 7, lambda row, data, scale: count(row["device"]["ops"]),
           lambda data, scale: count(data["counts"]["device_ops"]), matters=_counted("device_ops")),
    Column("disp.", "#", 6, lambda row, data, scale: count(row["host"]["dispatches"]),
           lambda data, scale: count(data["counts"]["dispatches"])),
    Column("comp.", "#", 5, lambda row, data, scale: count(row["host"]["compiles"]),
           lambda data, scale: count(data["counts"]["compiles"]), matters=_counted("compiles")),
    Column("calls", "#", 5, lambda row, data, scale: count(row["host"]["callbacks"]),
           lambda data, scale: count(data["counts"]["callbacks"]), matters=_counted("callbacks")),
    Column("evidence", "", 11, _evidence, lambda data, scale: "", justify="left"),
)  # fmt: skip
_BY_WORTH = (0, 1, 2, 4, 10, 7, 8, 3, 9, 5, 6)
