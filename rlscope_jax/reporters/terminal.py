"""The report as a table for a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rlscope_jax.breakdown.report import Report
from rlscope_jax.reporters.callbacks import callback_lines
from rlscope_jax.reporters.columns import columns_that_fit
from rlscope_jax.reporters.compiles import compile_lines
from rlscope_jax.reporters.findings import show_findings
from rlscope_jax.reporters.overhead import is_known, overhead_lines, shown_key
from rlscope_jax.reporters.rows import Rows, select
from rlscope_jax.reporters.units import duration, unit_of

WIDTH = 110
ARROWS = {None: "", "forward": " →", "recompute": " ↻", "backward": " ←"}


def render(
    report: Report,
    console: Console | None = None,
    sort: str = "wall",
    top: int | None = None,
    process: int | None = None,
    raw: bool = False,
) -> None:
    """Print the report: first whether the capture can be believed, then what to do, then the table.

    Args:
        report: what to show.
        console: where to; the terminal if None.
        sort: what orders the rows, one of `rows.SORTS`.
        top: how many rows to show; None for all that matter.
        process: the only process to show, by its number.
        raw: show times as recorded even where they are corrected.
    """
    data = report.to_dict()
    console = console or Console(highlight=False)
    if console.width > WIDTH or not console.is_terminal:
        console.width = WIDTH
    key = shown_key(data, raw)
    _header(data, console, key)
    _health(data["health"], console)
    show_findings(data, console)
    for line in (*compile_lines(data), *callback_lines(data)):
        console.print(escape(line), soft_wrap=True)
    for line in overhead_lines(data, key):
        console.print(f"[dim]{escape(line)}[/dim]")
    rows = select(data, sort, top, process)
    scale, unit = unit_of(data["totals"]["wall"]["raw"])
    console.print(_table(data, rows, console.width, scale, unit, key))
    if rows.left_out:
        console.print(f"[dim]{rows.left_out} more rows, {rows.left_out_share:.1f} % of the wall time[/dim]")
    console.print(
        "[dim]wall: the window's time, each instant given to one operation; device: summed over lines\n"
        "→ forward ← backward ↻ recompute[/dim]"
    )
    if key == "corrected":
        console.print(
            "[dim]times are corrected for profiling: ± says how far wall may be off, raw is wall as "
            "recorded; ? not resolved: ± exceeds the figure[/dim]"
        )


def _header(data: dict[str, Any], console: Console, key: str) -> None:
    window, environment, counts = data["window"], data["environment"], data["counts"]
    wall = data["totals"]["wall"][key]
    where = f"{data['session']['logdir']} · {data['session']['name']}"
    console.print(f"[bold]{escape(where)}[/bold]", soft_wrap=True)
    parts = [
        f"window {duration(window['wall_ns'])}"
        + (f" in {window['windows']} windows" if window["windows"] > 1 else ""),
        _steps(window, data["steps"]["wall"], key),
        f"{counts['device_ops']:,} device ops",
        f"{counts['dispatches']:,} dispatches",
        f"{counts['compiles']:,} compiles",
        f"jax {environment['jax'] or 'unknown'}, {environment['platform']}",
    ]
    console.print(" · ".join(parts), soft_wrap=True)
    if not wall:
        return
    totals = data["totals"]
    shares = [
        f"{label} {100 * totals[cell][key] / wall:.1f} %"
        for cell, label in (
            ("device_only", "device only"),
            ("overlap", "device and host"),
            ("host_only", "host only"),
            ("idle", "idle"),
        )
    ]
    console.print(" · ".join(shares))


def _steps(window: dict[str, Any], steps: dict[str, Any] | None, key: str) -> str:
    if not window["steps"] or steps is None:
        return "no steps marked"
    median = steps["median"]
    if is_known(median, key):
        return f"{window['steps']} steps of {duration(median[key])}"
    return f"{window['steps']} steps of ≤ {duration(median['interval'][1])}"  # not resolved


def _health(health: dict[str, Any], console: Console) -> None:
    for problem in health["problems"]:
        console.print(f"[yellow]{health['verdict']}: {escape(problem['message'])}[/yellow]")
        console.print(f"  [dim]{problem['code']} – {escape(problem['hint'])}[/dim]")


def _table(data: dict[str, Any], rows: Rows, width: int, scale: float, unit: str, key: str) -> Table:
    columns = columns_that_fit(data, width, key)
    room = width - sum(column.width + 1 for column in columns)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 0, 0, 1))
    table.add_column("operation", width=room, no_wrap=True)
    for column in columns:
        title = f"{column.title}\n{unit if column.is_time else column.unit}"
        table.add_column(title, justify=column.justify, no_wrap=True, width=column.width)
    hosts = data["session"]["hosts"]
    process = None
    for row in rows.shown:
        if len(hosts) > 1 and row["process"] != process:
            process = row["process"]
            table.add_row(f"[italic]{escape(hosts[process])}[/italic]")
        table.add_row(escape(_name(row, room)), *(column.of_row(row, data, scale, key) for column in columns))
    table.add_section()
    table.add_row("total", *(column.of_total(data, scale, key) for column in columns), style="bold")
    return table


def _name(row: dict[str, Any], room: int) -> str:
    """The row's name, indented; what has no room is left out of its middle, for ends tell names apart."""
    name = "  " * row["path"].count("/") + row["path"].rsplit("/", 1)[-1] + ARROWS[row["direction"]]
    if len(name) <= room:
        return name
    tail = (room - 1) // 3
    return f"{name[: room - 1 - tail]}…{name[-tail:]}"
