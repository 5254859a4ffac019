"""The columns of the table, and which of them a terminal has room for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from rlscope_jax.reporters.overhead import half_width, is_known, is_resolved, wall_of_row
from rlscope_jax.reporters.rows import Operation
from rlscope_jax.reporters.units import cell, count

Data = dict[str, Any]
_NAME_WIDTH = 28
_UNKNOWN = "?"
"""Where the interval is wider than the figure."""

_SHORT = {"annotation": "annot.", "function": "func.", "inherited": "inher."}


@dataclass(frozen=True)
class Column:
    """One column: how it is titled, and what it says of a row and of the whole."""

    title: str
    unit: str
    width: int
    of_row: Callable[[Operation, Data, float, str], str]
    of_total: Callable[[Data, float, str], str]
    is_time: bool = False
    """Whether the unit is the table's."""
    justify: Literal["left", "right"] = "right"
    matters: Callable[[Data, str], bool] = lambda data, key: True


def columns_that_fit(data: Data, width: int, key: str) -> list[Column]:
    """The columns that say something of this report, as many as `width` characters hold.

    `key` is which of a figure's values is shown: "raw" or "corrected".
    """
    chosen: list[int] = []
    left = width - _NAME_WIDTH
    for number in _BY_WORTH:
        column = _COLUMNS[number]
        if column.matters(data, key) and column.width + 1 <= left:
            left -= column.width + 1
            chosen.append(number)
    return [_COLUMNS[number] for number in sorted(chosen)]


def _percent(row: Operation, data: Data, scale: float, key: str) -> str:
    wall = data["totals"]["wall"][key]
    if not wall:
        return ""
    return f"{100 * wall_of_row(row, key) / wall:.1f}" if key == "raw" or is_resolved(row) else _UNKNOWN


def _wall(row: Operation, data: Data, scale: float, key: str) -> str:
    return cell(wall_of_row(row, key), scale) if key == "raw" or is_resolved(row) else _UNKNOWN


def _time(figure: Data, scale: float, key: str) -> str:
    return cell(figure[key], scale) if is_known(figure, key) else _UNKNOWN


def _may_be_off(data: Data, scale: float, key: str) -> str:
    wall = data["totals"]["wall"]
    return cell(wall["interval"][1] - wall["corrected"], scale)


def _host_category(row: Operation, data: Data, scale: float, key: str) -> str:
    """The category that most of the host-only time is of."""
    categories = {name: value[key] for name, value in row["wall"]["host_only_categories"].items()}
    most = max(categories, key=lambda name: categories[name])
    return most.replace("wait_inferred", "wait?") if categories[most] else ""


def _evidence(row: Operation, data: Data, scale: float, key: str) -> str:
    if not row["evidence"]:
        return ""
    best, share = max(row["evidence"].items(), key=lambda item: item[1])
    name = _SHORT.get(best, best)
    return name if share > 0.995 else f"{name} {100 * share:.0f}%"


def _counted(what: str) -> Callable[[Data, str], bool]:
    return lambda data, key: data["counts"][what] > 0


def _is_corrected(data: Data, key: str) -> bool:
    return key == "corrected"


_COLUMNS = (
    Column("wall", "", 9, _wall, lambda data, scale, key: _time(data["totals"]["wall"], scale, key),
           is_time=True),
    Column("wall", "%", 5, _percent, lambda data, scale, key: "100.0" if data["totals"]["wall"][key] else ""),
    Column("±", "", 7, lambda row, data, scale, key: cell(half_width(row), scale), _may_be_off, is_time=True,
           matters=_is_corrected),
    Column("raw", "", 9, lambda row, data, scale, key: cell(wall_of_row(row, "raw"), scale),
           lambda data, scale, key: cell(data["totals"]["wall"]["raw"], scale), is_time=True,
           matters=_is_corrected),
    Column("device", "", 9, lambda row, data, scale, key: _time(row["device"]["self"], scale, key),
           lambda data, scale, key: _time(data["totals"]["device_self"], scale, key), is_time=True),
    Column("with below", "", 10, lambda row, data, scale, key: _time(row["device"]["total"], scale, key),
           lambda data, scale, key: "", is_time=True),
    Column("host only", "", 9, lambda row, data, scale, key: _time(row["wall"]["host_only"], scale, key),
           lambda data, scale, key: _time(data["totals"]["host_only"], scale, key), is_time=True),
    Column("mostly", "", 8, _host_category, lambda data, scale, key: "", justify="left"),
    Column("ops", "#", 7, lambda row, data, scale, key: count(row["device"]["ops"]),
           lambda data, scale, key: count(data["counts"]["device_ops"]), matters=_counted("device_ops")),
    Column("disp.", "#", 6, lambda row, data, scale, key: count(row["host"]["dispatches"]),
           lambda data, scale, key: count(data["counts"]["dispatches"])),
    Column("comp.", "#", 5, lambda row, data, scale, key: count(row["host"]["compiles"]),
           lambda data, scale, key: count(data["counts"]["compiles"]), matters=_counted("compiles")),
    Column("calls", "#", 5, lambda row, data, scale, key: count(row["host"]["callbacks"]),
           lambda data, scale, key: count(data["counts"]["callbacks"]), matters=_counted("callbacks")),
    Column("evidence", "", 11, _evidence, lambda data, scale, key: "", justify="left"),
)  # fmt: skip
_BY_WORTH = (0, 1, 2, 4, 6, 3, 12, 9, 10, 5, 11, 7, 8)
