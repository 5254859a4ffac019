"""The operations as a pandas table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlscope_jax.breakdown.report import Report
from rlscope_jax.errors import RlscopeError

if TYPE_CHECKING:
    import pandas


def to_pandas(report: Report) -> pandas.DataFrame:
    """One row per operation and direction; a column per figure, named by its place in the JSON.

    Columns are `process`, `path`, `kind`, `direction`, then `device.self.raw`, `wall.host_only.raw` and so
    on; times are nanoseconds, what is not known is missing.

    Raises:
        RlscopeError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise RlscopeError("Report.to_pandas() needs pandas: pip install pandas") from error
    rows = [dict(_flat("", operation)) for operation in report.to_dict()["operations"]]
    return pandas.DataFrame.from_records(rows)


def _flat(prefix: str, value: dict[str, Any]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, inner in value.items():
        name = f"{prefix}{key}"
        found += _flat(f"{name}.", inner) if isinstance(inner, dict) else [(name, inner)]
    return found
