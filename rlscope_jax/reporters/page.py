"""The page of the TensorBoard tab as one HTML file that needs nothing else: no server, no network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib import resources
from typing import Any

from rlscope_jax.reporters.units import as_text

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


def page(title: str, embedded: dict[str, Any]) -> str:
    """The page over some data: what `source.ts` calls `Embedded`.

    Whatever names the data hold, they are data here, never markup or script; and the page's policy lets no
    other script run and nothing be fetched.
    """
    script = _script()
    return _PAGE.format(
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        title=html.escape(as_text(f"{title} · RL-Scope")),
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
