"""The page of the TensorBoard tab as one HTML file that needs nothing else: no server, no network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib import resources
from typing import Any

from rlscope_jax.breakdown.report import Report
from rlscope_jax.reporters.units import as_text
from rlscope_jax.tb_plugin import ops, timeline

_COLUMNS = 4000  # the timeline's detail: enough for the widest screen, and to zoom in a little
_LEAST_COLUMNS = 1000  # of each where there are many windows
_MOST_OPS = 30  # of one operation

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-{digest}'; \
style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<title>{title}</title>
</head>
<body>
<script type="application/json" id="rlscope-data">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def to_page(report: Report) -> str:
    """The report as an HTML page: all that the tab shows, the timeline at one level of detail.

    Whatever names the profile holds, they are data here, never markup or script; and the page's policy lets
    no other script run and nothing be fetched.
    """
    data = report.to_dict()
    embedded = {
        "report": data,
        "ops": {name: _shortened(listed) for name, listed in ops.ops_of(report).items()},
        "timelines": _wholes(timeline.timelines_of(report)),
    }
    script = _script()
    return _PAGE.format(
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        title=html.escape(as_text(f"{data['session']['name']} · RL-Scope")),
        data=_as_text(embedded),
        script=script,
    )


def _script() -> str:
    script = resources.files("rlscope_jax.tb_plugin").joinpath("static/index.js").read_text("utf-8")
    # What would end the element; both stand in strings or comments only, where this means the same.
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _as_text(value: Any) -> str:
    """JSON that cannot end the element it stands in."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


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
