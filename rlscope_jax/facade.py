"""From a log directory to a report: the whole chain of stages, in order."""

from __future__ import annotations

from pathlib import Path

from rlscope_jax.attribution.attribute import attribute
from rlscope_jax.breakdown.report import Process, Report
from rlscope_jax.breakdown.table import tabulate
from rlscope_jax.xla_events.read import read_trace
from rlscope_jax.xla_events.sessions import Session, find_session


def load(logdir: str | Path, session: str | None = None) -> Report:
    """Read the newest session under `logdir` (or the one named) into a report.

    Raises:
        RlscopeError: there is no profile, or it cannot be read; the message says which and why.
    """
    chosen = find_session(logdir, session)
    return Report(chosen, [_process(path, chosen) for path in chosen.files])


def _process(path: Path, session: Session) -> Process:
    attribution = attribute(read_trace(path, session.window_unix_ns))
    return Process(attribution, tabulate(attribution), session.step_limits)
