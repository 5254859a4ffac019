"""What must hold of any input: `load` refuses it by name, or makes a report that closes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]

from rlscope_jax import load
from rlscope_jax.breakdown.report import Report, report_schema
from rlscope_jax.errors import RlscopeError

CELLS = ("device_only", "overlap", "host_only", "idle")
_VALIDATOR = jsonschema.Draft202012Validator(report_schema())
_ROWS_VALIDATED = 50  # jsonschema needs 4 ms a row


def judge(path: Path) -> str:
    """`refused` or `reported`.

    Raises:
        Exception: anything else came of the input, which is a bug.
    """
    try:
        report = load(path)
    except RlscopeError as error:
        if path.name not in str(error):
            raise AssertionError("the error does not name the file") from error
        return "refused"
    json.dumps(closes(report), allow_nan=False)
    return "reported"


def closes(report: Report) -> dict[str, Any]:
    """Assert that the report follows its schema and that every sum of it closes; returns it as values.

    Inside, sums close to the picosecond; in JSON, where each figure is rounded, to 1 ns a figure.
    """
    for process in report.processes:
        begin, end = process.trace.window
        table = process.table
        assert sum(row.wall for row in table.rows) == end - begin, "the rows do not sum to the window"
        own = sum(row.device_self for row in table.rows)
        assert own == int(table.cells.device_self.sum()), "the rows do not sum to the owners"
        assert own == int(table.cells.self_of_device.sum()), "the rows do not sum to the devices"
        assert all(row.device_self >= 0 and row.wall >= 0 for row in table.rows), "a time is negative"
    data = report.to_dict()
    _VALIDATOR.validate(data | {"operations": data["operations"][:_ROWS_VALIDATED]})
    rows, totals = data["operations"], data["totals"]
    cells = [row["wall"][cell]["raw"] for row in rows for cell in CELLS]
    _near(sum(totals[cell]["raw"] for cell in CELLS), totals["wall"]["raw"], len(CELLS))
    _near(sum(cells), totals["wall"]["raw"], len(cells))
    _near(sum(row["device"]["self"]["raw"] for row in rows), totals["device_self"]["raw"] or 0, len(rows))
    return data


def _near(sum_of_parts: int, whole: int, figures: int) -> None:
    assert abs(sum_of_parts - whole) <= figures, f"parts sum to {sum_of_parts} ns, the whole is {whole} ns"
