"""The one door to jax's private parts; every entry has a public fallback and a test.

Written for jax 0.8.0 to 0.11.2 (2026-11). When a name moves, mend it here and nowhere else.
"""

from __future__ import annotations

import os
import socket
import time
from typing import Any

import jax

named_scope = jax.named_scope

try:  # The class behind jax.profiler.TraceAnnotation: half its cost, for lack of the **kwargs call.
    from jax._src.lib import _profiler

    TraceMe: Any = _profiler.TraceMe
    ProfilerSession: Any = _profiler.ProfilerSession
except (ImportError, AttributeError):  # pragma: no cover - only on a jax that moved them
    _profiler = None
    TraceMe = jax.profiler.TraceAnnotation
    ProfilerSession = None

try:  # "Are we being traced?": a public way costs far more than the call it guards.
    from jax._src.core import trace_state_clean as _trace_state_clean
except ImportError:  # pragma: no cover - only on a jax that moved it

    def _trace_state_clean() -> bool:
        return not isinstance(jax.numpy.zeros(()), jax.core.Tracer)


try:  # jax 0.10 removed the public name; brax 0.14 calls it (see annotate/auto/brax.py)
    from jax._src import api as _api

    device_put_replicated: Any = getattr(_api, "device_put_replicated", None)
except ImportError:  # pragma: no cover - only on a jax that moved it
    device_put_replicated = None


def is_tracing() -> bool:
    """Whether the calling code is being traced (jit, grad, vmap, scan, ...) rather than run."""
    return not _trace_state_clean()


def host_name() -> str:
    """The name XLA would give this host's profile file."""
    return socket.gethostname() or "host"


def profile_options(*, host_tracer_level: int = 2, python_tracer: bool = False) -> Any:
    """Profiler options with the Python tracer off: it slows every Python call and hides ours."""
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = int(python_tracer)
    options.host_tracer_level = host_tracer_level
    return options


class Recorder:
    """One running XLA profiler session.

    Raises:
        RuntimeError: another profiler is running, or the backend refuses.
    """

    def __init__(self, python_tracer: bool = False) -> None:
        if ProfilerSession is None:  # pragma: no cover - only on a jax that moved it
            raise RuntimeError("this jax has no ProfilerSession; record with jax.profiler.trace instead")
        if TraceMe.is_enabled():  # a second session would only fail when it stops, with everything lost
            raise RuntimeError("another profiler is already running in this process")
        jax.devices()  # a session started before its backend would see no device
        _set_metadata()
        self._session: Any = ProfilerSession(profile_options(python_tracer=python_tracer))
        self.started_ns = time.time_ns()

    def stop(self) -> bytes:
        """End the session and return the serialized XSpace (protobuf), without the JSON trace."""
        session, self._session = self._session, None
        self.stopped_ns = time.time_ns()
        return session.stop()


def has_leaves(value: Any) -> bool:
    """Whether a value is a pytree that holds arrays or other leaves, rather than a leaf itself."""
    leaves = jax.tree.leaves(value)
    return not (len(leaves) == 1 and leaves[0] is value) and bool(leaves)


def wait_for(value: Any = None) -> None:
    """Wait until the arrays in `value` and every live array are computed; donated ones are passed over."""
    for array in [*jax.tree.leaves(value), *jax.live_arrays()]:
        if isinstance(array, jax.Array) and not array.is_deleted():
            array.block_until_ready()


def step_annotation(name: str, step: int) -> Any:
    """A trace annotation that marks one training step, as every XLA tool knows it."""
    return jax.profiler.StepTraceAnnotation(name, step_num=step)


def _set_metadata() -> None:
    # jax.profiler.start_trace stores these; a session opened directly must do so itself.
    if hasattr(_profiler, "set_metadata"):
        import jaxlib

        _profiler.set_metadata("jax_version", jax.__version__)
        _profiler.set_metadata("jaxlib_version", jaxlib.__version__)
        _profiler.set_metadata("process_id", str(os.getpid()))
