"""The findings, above the table: what to do next."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape

_MOST = 3
_STYLES = {"high": "bold red", "medium": "yellow", "low": "dim"}


def show_findings(data: dict[str, Any], console: Console) -> None:
    """Print the first findings of a report, three at most, each with its gain and the next step."""
    wall = data["totals"]["wall"]["raw"]
    for finding in data["findings"][:_MOST]:
        code = f"[{_STYLES[finding['severity']]}]{finding['code']}[/]"
        gain = finding["gain_ns"]
        bound = f" [dim](gains {100 * gain / wall:.0f} % at most)[/dim]" if gain and wall else ""
        console.print(f"{code}{bound} {escape(finding['message'])}")
        console.print(f"  [dim]→ {escape(finding['hint'])}[/dim]")
    rest = len(data["findings"]) - _MOST
    if rest > 0:
        console.print(f"[dim]{rest} more findings of less gain: --json[/dim]")
    if data["findings"]:
        code = data["findings"][0]["code"]
        console.print(f"[dim]what a finding means: rlscope-jax report --explain {code}[/dim]\n")
