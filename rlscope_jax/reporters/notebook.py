"""The same table for a notebook cell."""

from __future__ import annotations

import io

from rich.console import Console

from rlscope_jax.breakdown.report import Report
from rlscope_jax.reporters.terminal import WIDTH, render

_FRAME = '<pre style="overflow-x:auto;white-space:pre;line-height:1.25">{code}</pre>'


def to_html(report: Report) -> str:
    """The report's table as HTML that needs no style sheet and takes the notebook's own colors."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), highlight=False, force_terminal=True)
    render(report, console)
    return console.export_html(inline_styles=True, code_format=_FRAME)
