"""The report as a table for a terminal of 100 columns."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rlscope_jax.breakdown.report import Report
from rlscope_jax.reporters.overhead import half_width, is_resolved, overhead_lines, shown_key, wall_of_row

WIDTH = 100
_ARROWS = {None: "", "forward": " →", "recompute": " ↻", "backward": " ←"}  # in the order shown


def render(report: Report, console: Console | None = None, raw: bool = False) -> None:
    """Print the report: first whether the capture can be believed, then where the time went.

    Corrected times are shown beside raw ones where there are any; with `raw` only what was recorded.
    """
    data = report.to_dict()
    console = console or Console(highlight=False)
    if console.width > WIDTH or not console.is_terminal:
        console.width = WIDTH
    key = shown_key(data, raw)
    _header(data, console, key)
    _health(data["health"], console)
    for line in overhead_lines(data, key):
        console.print(f"[dim]{escape(line)}[/dim]")
    scale, unit = _unit(data["totals"]["wall"]["raw"])
    console.print(_table(data, scale, unit, key))
    console.print(
        "[dim]wall: the window's time, each instant given to one operation; dev self: summed over lines; "
        "→ forward ← backward ↻ recompute[/dim]"
    )
    if key == "corrected":
        console.print(
            "[dim]wall, dev and host only are corrected for profiling, ± says how far wall may be off, "
            "raw is as recorded; ? not resolved: ± exceeds the figure[/dim]"
        )


def _header(data: dict[str, Any], console: Console, key: str) -> None:
    window, environment, counts = data["window"], data["environment"], data["counts"]
    wall = data["totals"]["wall"][key]
    where = f"{data['session']['logdir']} · {data['session']['name']}"
    console.print(f"[bold]{escape(where)}[/bold]", soft_wrap=True)
    parts = [
        f"window {_time(window['wall_ns'])}",
        _steps(window, data["steps"]["wall"], key),
        f"{counts['device_ops']:,} device ops",
        f"{counts['dispatches']:,} dispatches",
        f"{counts['compiles']:,} compiles",
        f"jax {environment['jax'] or 'unknown'}, {environment['platform']}",
    ]
    console.print(" · ".join(parts))
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
    return f"{window['steps']} steps of {_time(steps['median'][key])}"


def _health(health: dict[str, Any], console: Console) -> None:
    for problem in health["problems"]:
        console.print(f"[yellow]{health['verdict']}: {escape(problem['message'])}[/yellow]")
        console.print(f"  [dim]{problem['code']} – {escape(problem['hint'])}[/dim]")


def _table(data: dict[str, Any], scale: float, unit: str, key: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1))
    table.add_column("operation", overflow="fold", min_width=24, ratio=1)
    corrected = [f"±\n{unit}", f"raw\n{unit}"] if key == "corrected" else []
    for header in (
        f"wall\n{unit}", "wall\n%", *corrected, f"dev self\n{unit}", f"dev total\n{unit}",
        f"host only\n{unit}",
        "ops\n#", "disp.\n#", "evidence\n",
    ):  # fmt: skip
        table.add_column(header, justify="left" if header.startswith("evidence") else "right", no_wrap=True)
    wall = data["totals"]["wall"][key]
    hosts = data["session"]["hosts"]
    process = None
    for row in _ordered([row for row in data["operations"] if _says_something(row)]):
        if len(hosts) > 1 and row["process"] != process:
            process = row["process"]
            table.add_row(f"[italic]{escape(hosts[process])}[/italic]")
        depth = row["path"].count("/")
        name = "  " * depth + row["path"].rsplit("/", 1)[-1] + _ARROWS[row["direction"]]
        own = wall_of_row(row, key)
        table.add_row(
            escape(name),
            _cell(own, scale) if key == "raw" or is_resolved(row) else "?",
            f"{100 * own / wall:.1f}" if wall else "",
            *([_cell(half_width(row), scale), _cell(wall_of_row(row, "raw"), scale)] if corrected else []),
            _cell(row["device"]["self"][key], scale),
            _cell(row["device"]["total"][key], scale),
            _cell(row["wall"]["host_only"][key], scale),
            _count(row["device"]["ops"]),
            _count(row["host"]["dispatches"]),
            _evidence(row),
        )
    table.add_section()
    totals = data["totals"]
    table.add_row(
        "total",
        _cell(wall, scale),
        "100.0" if wall else "",
        *_total_correction(totals["wall"], scale, bool(corrected)),
        _cell(totals["device_self"][key], scale),
        "",
        _cell(totals["host_only"][key], scale),
        _count(data["counts"]["device_ops"]),
        _count(data["counts"]["dispatches"]),
        "",
        style="bold",
    )
    return table


def _total_correction(wall: dict[str, Any], scale: float, corrected: bool) -> list[str]:
    if not corrected:
        return []
    low, high = wall["interval"]
    return [_cell((high - low) // 2, scale), _cell(wall["raw"], scale)]


def _ordered(operations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Parents before children, siblings by the wall time they and their children took; specials last."""
    weight: dict[tuple[str, ...], int] = {}
    for row in operations:
        parts = tuple(row["path"].split("/"))
        for depth in range(1, len(parts) + 1):
            weight[parts[:depth]] = weight.get(parts[:depth], 0) + wall_of_row(row, "raw")

    def place(row: dict[str, Any]) -> tuple:
        parts = tuple(row["path"].split("/"))
        branch = [(-weight[parts[:depth]], parts[depth - 1]) for depth in range(1, len(parts) + 1)]
        return row["process"], row["path"].startswith("("), branch, list(_ARROWS).index(row["direction"])

    return sorted(operations, key=place)


def _says_something(row: dict[str, Any]) -> bool:
    host = row["host"]
    counts = row["device"]["ops"] + host["dispatches"] + host["compiles"] + host["syncs"] + host["callbacks"]
    return bool(wall_of_row(row, "raw") or row["device"]["total"]["raw"] or counts)


def _evidence(row: dict[str, Any]) -> str:
    if not row["evidence"]:
        return "" if row["kind"] == "special" else row["kind"]
    best, share = max(row["evidence"].items(), key=lambda item: item[1])
    return best if share > 0.995 else f"{best} {100 * share:.0f} %"


def _unit(nanoseconds: int) -> tuple[float, str]:
    for scale, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if nanoseconds >= 10 * scale:
            return scale, unit
    return 1e3, "us"


def _cell(nanoseconds: int | None, scale: float) -> str:
    if nanoseconds is None:
        return "no data"
    return f"{nanoseconds / scale:,.2f}" if nanoseconds else "·"


def _count(number: int) -> str:
    if number >= 100_000:
        return f"{number / 1000:,.0f}k" if number < 10_000_000 else f"{number / 1e6:,.1f}M"
    return f"{number:,}" if number else "·"


def _time(nanoseconds: int) -> str:
    scale, unit = _unit(nanoseconds)
    return f"{nanoseconds / scale:,.2f} {unit}"
