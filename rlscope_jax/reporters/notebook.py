"""The report for a notebook cell: the terminal's table, and where the window went as bars."""

from __future__ import annotations

import html
import io
from typing import Any

from rich.console import Console

from rlscope_jax.breakdown.report import Report
from rlscope_jax.reporters.overhead import wall_of_row
from rlscope_jax.reporters.terminal import WIDTH, render
from rlscope_jax.reporters.units import as_text, duration

_FRAME = '<pre style="overflow-x:auto;white-space:pre;line-height:1.25">{code}</pre>'
_MOST_BARS = 8
# The colours of the TensorBoard tab; they stand on a light and on a dark page.
_CELLS = {
    "device_only": ("device only", "#3f7fe0"),
    "overlap": ("device and host", "#1f9e9a"),
    "host_only": ("host only", "#ec7a33"),
    "idle": ("idle", "#9aa3ad"),
}
_BAR = (
    '<tr style="background:none"><td style="text-align:left;white-space:nowrap">{name}</td>'
    '<td style="width:60%"><div style="display:flex;height:12px">{cells}</div></td>'
    '<td style="text-align:right;white-space:nowrap">{time}</td></tr>'
)
_CELL = '<span title="{title}" style="width:{width:.2f}%;background:{color}"></span>'
_KEY = '<span style="background:{color};display:inline-block;width:10px;height:10px"></span> {name} &nbsp; '


def to_html(report: Report) -> str:
    """The report as HTML that needs neither style sheet nor script and takes the notebook's own colors."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), highlight=False, force_terminal=True)
    render(report, console)
    # The table first: it begins with whether the capture can be believed.
    table = console.export_html(inline_styles=True, code_format=_FRAME)
    return as_text(table + _bars(report.to_dict()))


def _bars(data: dict[str, Any]) -> str:
    """The operations that took most of the window, the directions of each together."""
    operations: dict[str, dict[str, int]] = {}
    for row in data["operations"]:
        cells = operations.setdefault(row["path"], dict.fromkeys(_CELLS, 0))
        for name in _CELLS:
            cells[name] += row["wall"][name]["raw"]
    whole = sum(wall_of_row(row, "raw") for row in data["operations"])
    assert sum(sum(cells.values()) for cells in operations.values()) == whole
    heaviest = sorted(operations.items(), key=lambda item: -sum(item[1].values()))[:_MOST_BARS]
    widest = max((sum(cells.values()) for _, cells in heaviest), default=0)
    if not widest:
        return ""
    keys = "".join(_KEY.format(color=color, name=name) for name, color in _CELLS.values())
    bars = "".join(_bar(path, cells, widest) for path, cells in heaviest)
    return f'<div>{keys}</div><table style="width:100%;max-width:900px">{bars}</table>'


def _bar(path: str, cells: dict[str, int], widest: int) -> str:
    parts = [
        _CELL.format(
            title=f"{_CELLS[name][0]}: {duration(time)}", width=100 * time / widest, color=_CELLS[name][1]
        )
        for name, time in cells.items()
        if time
    ]
    return _BAR.format(name=html.escape(path), cells="".join(parts), time=duration(sum(cells.values())))
