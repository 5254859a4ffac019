"""From a log directory to a report: the whole chain of stages, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from rlscope_jax.attribution.attribute import attribute
from rlscope_jax.attribution.placement import GROUPINGS
from rlscope_jax.breakdown.report import Process, Report
from rlscope_jax.breakdown.table import tabulate
from rlscope_jax.overhead.recorded import Recorded, corrected_figures
from rlscope_jax.xla_events.read import read_trace
from rlscope_jax.xla_events.sessions import Session, find_session, windows_of_run
from rlscope_jax.xla_events.trace import Trace


def load(
    logdir: str | Path,
    session: str | None = None,
    progress: Callable[[float], None] | None = None,
    group: str = "auto",
) -> Report:
    """Read the newest session under `logdir` (or the one named) into a report.

    Where `rlscope-jax record` took it as one of many windows of a run, all of them are added up.

    Args:
        logdir: what was given to the profiler, a directory above it, a session's directory or a file.
        session: a session's name.
        progress: told the share of the files decoded so far, 0 to 1.
        group: what names an operation: "operation" (marks and annotations), "scope", "function", or "auto":
            marks, else scopes, else functions.

    Raises:
        ValueError: `group` is none of these.
        RlscopeError: there is no profile, or it cannot be read; the message says which and why.
    """
    if group not in GROUPINGS:
        raise ValueError(f"group must be one of {', '.join(GROUPINGS)}; got {group!r}")
    chosen = find_session(logdir, session)
    run = windows_of_run(logdir, chosen)
    parts = [chosen] if session is not None else run
    files = sum(len(part.files) for part in parts)
    read = 0

    def tell(share: float) -> None:
        if progress is not None:
            progress((read + share) / files)

    windows = []
    for part in parts:
        processes: list[Process] = []
        for path in part.files:
            processes.append(_process(path, part, group, tell))
            read += 1
        _tell_hosts_apart([process.trace for process in processes])
        windows.append(Report(part, processes))
    _correct(windows, run)
    return windows[0] if len(windows) == 1 else Report(chosen, windows[-1].processes, windows)


def _tell_hosts_apart(traces: list[Trace]) -> None:
    """Two processes of one host, or of unnamed ones, must not share their devices' ids."""
    hosts = Counter(trace.host for trace in traces)
    for number, trace in enumerate(traces):
        label = trace.host
        while hosts[label] > 1 or (label != trace.host and label in hosts):
            label = f"{label}#{number}"
        taken: set[str] = set()
        for place, device in enumerate(trace.devices):
            own = label + device.id.removeprefix(trace.host)
            device.id = f"{own}#{place}" if own in taken else own
            taken.add(device.id)


def _process(path: Path, session: Session, group: str, progress: Callable[[float], None]) -> Process:
    attribution = attribute(read_trace(path, session.window_unix_ns, progress), group)
    return Process(attribution, tabulate(attribution), session.step_limits)


def _correct(windows: list[Report], run: list[Session]) -> None:
    """Correct the windows of a run: what nobody recorded between them tells of each."""
    processes = [(process, window.session.sidecar) for window in windows for process in window.processes]
    recorded = [Recorded(process.attribution, process.steps, sidecar) for process, sidecar in processes]
    figures = corrected_figures(recorded, [session.sidecar for session in run])
    for (process, _), found in zip(processes, figures, strict=True):
        process.figures = found
