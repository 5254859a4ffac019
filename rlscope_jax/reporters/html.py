"""A report as one HTML file: what the TensorBoard tab shows of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rlscope_jax.breakdown.report import Report
from rlscope_jax.reporters.page import page
from rlscope_jax.tb_plugin import ops, timeline
from rlscope_jax.tune.database import Database
from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.searches import RECORD_NAME, tuning_of

_COLUMNS = 4000  # the timeline's detail: enough for the widest screen, and to zoom in a little
_LEAST_COLUMNS = 1000  # of each where there are many windows
_MOST_OPS = 30  # of one operation


def to_page(report: Report) -> str:
    """The report as an HTML page: all that the tab shows, the timeline at one level of detail.

    What a search left beside the profile is in it too.
    """
    data = report.to_dict()
    embedded = {
        "report": data,
        "ops": {name: _shortened(listed) for name, listed in ops.ops_of(report).items()},
        "timelines": _wholes(timeline.timelines_of(report)),
    }
    tuning = _tuning_beside(report)
    if tuning["tasks"]:
        embedded["tuning"] = tuning
    return page(data["session"]["name"], embedded)


def _tuning_beside(report: Report) -> dict[str, Any]:
    try:
        rows = Database(Path(report.session.logdir) / RECORD_NAME).rows()
    except TuneError:
        rows = []
    return tuning_of(rows)


def _wholes(windows: list[timeline.Timeline]) -> list[dict[str, Any]]:
    columns = max(_COLUMNS // len(windows), _LEAST_COLUMNS)
    return [timeline.cut(one, 0, one.wall, columns) for one in windows]


def _shortened(listed: dict[str, Any]) -> dict[str, Any]:
    kept, left = listed["ops"][:_MOST_OPS], listed["ops"][_MOST_OPS:]
    return {
        "ops": kept,
        "more": listed["more"] + len(left),
        "more_self": listed["more_self"] + sum(op["self"] for op in left),
    }
