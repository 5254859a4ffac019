"""`rlscope-jax doctor`: can this machine record, and can that capture be believed?"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

_COLORS = {"ok": "green", "warning": "yellow", "failed": "red"}


@dataclass(frozen=True)
class Finding:
    """One thing looked at: ok, warning or failed; what was seen, and what to do about it."""

    subject: str
    state: str
    seen: str
    hint: str = ""


class DoctorCommand:
    """Check a capture, or this installation.

    With LOGDIR: the sessions found there and the health of the newest. Without: versions, the backend,
    a profiler that starts, stops and leaves something to read, and the TensorBoard plugins.
    """

    name = "doctor"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the verb's options."""
        parser.add_argument("logdir", metavar="LOGDIR", nargs="?", help="check this capture")
        parser.add_argument("--session", metavar="NAME", help="a session other than the newest")

    def run(self, options: argparse.Namespace) -> int:
        """Print what was found; returns 1 when something failed."""
        here = options.logdir is None
        found = check_installation() if here else check_capture(options.logdir, options.session)
        from rich.console import Console
        from rich.markup import escape

        console = Console(highlight=False, soft_wrap=True)
        for finding in found:
            color = _COLORS[finding.state]
            console.print(f"[{color}]{finding.state:8}[/{color}] {finding.subject}: {escape(finding.seen)}")
            if finding.hint:
                console.print(f"         [dim]{escape(finding.hint)}[/dim]")
        return int(any(finding.state == "failed" for finding in found))


def check_capture(logdir: str, session: str | None = None) -> list[Finding]:
    """The sessions under a directory and the health of one of them.

    Raises:
        RlscopeError: there is none, or it cannot be read.
    """
    from rlscope_jax.facade import load
    from rlscope_jax.xla_events.sessions import sessions

    report = load(logdir, session)
    data = report.to_dict()
    health = data["health"]
    names = [known.name for known in sessions(logdir)]
    seen = (
        f"{report.session.name} (of {len(names)} under {logdir}), hosts {', '.join(data['session']['hosts'])}"
    )
    found = [Finding("session", "ok", seen)]
    share = health["covered"]
    reach = "no device op" if share is None else f"device ops up to {100 * share:.0f} % of the window"
    found.append(Finding("window", "ok", f"{data['window']['wall_ns'] / 1e6:,.2f} ms, {reach}"))
    states = {"ok": "ok", "degraded": "warning", "unusable": "failed"}
    found.append(Finding("verdict", states[health["verdict"]], health["verdict"]))
    found += [
        Finding(problem["code"], "warning", problem["message"], problem["hint"])
        for problem in health["problems"]
    ]
    return found


def check_installation() -> list[Finding]:
    """What recording and reading need, tried out one by one; a check that breaks is a finding too."""
    checks: list[tuple[str, Callable[[], Finding]]] = [
        ("versions", _versions),
        ("backend", _backend),
        ("profiler", _profiler),
        ("numba cache", _numba_cache),
        ("TensorBoard", _tensorboard),
    ]
    found = []
    for subject, check in checks:
        try:
            found.append(check())
        except Exception as error:  # a broken installation must not break its own diagnosis
            found.append(Finding(subject, "failed", f"{type(error).__name__}: {error}"))
    return found


def _versions() -> Finding:
    names = ("rlscope-jax", "jax", "jaxlib", "numpy", "numba", "tensorboard", "xprof")
    known = [f"{name} {version}" for name in names if (version := _version(name)) is not None]
    return Finding("versions", "ok", ", ".join([f"Python {sys.version.split()[0]}", *known]))


def _version(distribution: str) -> str | None:
    import importlib.metadata  # slow to load, and every command loads this file

    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _backend() -> Finding:
    import jax

    devices = jax.devices()
    return Finding(
        "backend", "ok", f"{devices[0].platform}, {len(devices)} device(s): {devices[0].device_kind}"
    )


def _profiler() -> Finding:
    """Record one small program and read it back."""
    import jax
    import jax.numpy as jnp

    from rlscope_jax.capture import profile
    from rlscope_jax.facade import load

    step = jax.jit(lambda x: jnp.tanh(x @ x))
    x = jnp.ones((64, 64))
    step(x).block_until_ready()
    with tempfile.TemporaryDirectory() as logdir:
        with profile(logdir) as profiler:
            profiler.step(step(x))
        if not profiler.sessions:
            return Finding("profiler", "failed", "it did not start, stop or write", "see the warning above")
        data = load(logdir).to_dict()
    ops, problems = data["counts"]["device_ops"], data["health"]["problems"]
    seen = f"recorded {ops} device op(s) of one small program"
    if ops == 0:
        hint = "a GPU needs CUPTI and the right to use it (NVreg_RestrictProfilingToAdminUsers=0)"
        return Finding("profiler", "failed", seen, hint)
    if problems:
        return Finding("profiler", "warning", f"{seen}; {problems[0]['message']}", problems[0]["hint"])
    return Finding("profiler", "ok", seen)


def _numba_cache() -> Finding:
    from rlscope_jax.xla_events import compiled, events

    place = compiled.cache_directory(events.decode_events)
    hint = "every report compiles anew, for some seconds; set NUMBA_CACHE_DIR to a directory you may write"
    if place is None:
        return Finding("numba cache", "warning", "compiled code is not kept", hint)
    if not os.access(place if place.exists() else place.parent, os.W_OK):
        return Finding("numba cache", "warning", f"{place} cannot be written", hint)
    return Finding("numba cache", "ok", str(place))


def _tensorboard() -> Finding:
    missing = [name for name in ("tensorboard", "xprof") if importlib.util.find_spec(name) is None]
    if missing:
        hint = "only needed to see profiles in TensorBoard: pip install 'rlscope-jax[tensorboard]'"
        return Finding("TensorBoard", "warning", f"not installed: {', '.join(missing)}", hint)
    return Finding("TensorBoard", "ok", "tensorboard and xprof are installed")
