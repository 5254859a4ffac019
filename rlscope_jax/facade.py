"""From a log directory to a report: the whole chain of stages, in order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rlscope_jax.attribution.attribute import attribute
from rlscope_jax.breakdown.report import Process, Report
from rlscope_jax.breakdown.table import tabulate
from rlscope_jax.overhead.recorded import corrected_figures
from rlscope_jax.xla_events.read import read_trace
from rlscope_jax.xla_events.sessions import Session, find_session


def load(
    logdir: str | Path, session: str | None = None, progress: Callable[[float], None] | None = None
) -> Report:
    """Read the newest session under `logdir` (or the one named) into a report.

    Args:
        logdir: what was given to the profiler, a directory above it, a session's directory or a file.
        session: a session's name.
        progress: told the share of the files decoded so far, 0 to 1.

    Raises:
        RlscopeError: there is no profile, or it cannot be read; the message says which and why.
    """
    chosen = find_session(logdir, session)
    processes = []
    for number, path in enumerate(chosen.files):

        def tell(share: float, done: int = number) -> None:
            if progress is not None:
                progress((done + share) / len(chosen.files))

        processes.append(_process(path, chosen, tell))
    return Report(chosen, processes)


def _process(path: Path, session: Session, progress: Callable[[float], None]) -> Process:
    attribution = attribute(read_trace(path, session.window_unix_ns, progress))
    process = Process(attribution, tabulate(attribution), session.step_limits)
    process.figures = corrected_figures(attribution, process.steps, session.sidecar)
    return process
