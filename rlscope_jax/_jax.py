"""The one door to jax's private parts; every entry has a public fallback and a test.

Written for jax 0.8.0 to 0.11.2 (2026-11). When a name moves, mend it here and nowhere else.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
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
    from jax._src import core as _core

    _eval_trace: Any = _core.eval_trace
    _trace_ctx: Any = _core.trace_ctx
except (ImportError, AttributeError):  # pragma: no cover - only on a jax that moved them
    _eval_trace = _trace_ctx = None

try:  # the class of every array: where its waits are made visible
    from jax._src.array import ArrayImpl as _ArrayImpl

    ArrayImpl: Any = _ArrayImpl
except ImportError:  # pragma: no cover - only on a jax that moved it
    ArrayImpl = type("NoArray", (), {})

try:  # jax 0.10 removed the public name; brax 0.14 calls it (see annotate/auto/brax.py)
    from jax._src import api as _api

    device_put_replicated: Any = getattr(_api, "device_put_replicated", None)
except ImportError:  # pragma: no cover - only on a jax that moved it
    device_put_replicated = _api = None  # type: ignore[assignment]


is_recording: Callable[[], bool] = getattr(TraceMe, "is_enabled", lambda: True)
"""Whether some profiler of this process listens; 30 ns, where making an annotation costs 130 and more."""


def is_tracing() -> bool:
    """Whether the calling code is being traced (jit, grad, vmap, scan, ...) rather than run."""
    if _trace_ctx is None:  # pragma: no cover - only on a jax that moved it
        return isinstance(jax.numpy.zeros(()), jax.core.Tracer)
    trace = _trace_ctx.trace
    return trace is not _eval_trace and trace is not None  # None: a thread that has not run jax yet (0.11)


def is_idle() -> bool:
    """Whether a name would reach nobody: nothing is traced, nothing is recorded. Asked on every call."""
    if _trace_ctx is None:  # pragma: no cover - only on a jax that moved it
        return not is_recording() and not is_tracing()
    trace = _trace_ctx.trace
    return (trace is _eval_trace or trace is None) and not is_recording()


def traced_function() -> str | None:
    """The function whose program the calling code becomes a part of; None if it runs at once.

    Under a bare `jax.grad` or `jax.vmap` code is traced and yet runs at once, op by op.
    """
    if _trace_ctx is None:  # pragma: no cover - only on a jax that moved it
        return "" if is_tracing() else None
    found, trace = None, _trace_ctx.trace
    while trace is not None and trace is not _eval_trace:
        frame = getattr(trace, "frame", None)  # what stages code out (jit, scan, ...) has one
        if frame is not None:
            found = getattr(getattr(frame, "debug_info", None), "func_name", None) or ""
        trace = getattr(trace, "parent_trace", None)
    return found


_NAMES_IN_KEY = "jax_compilation_cache_include_metadata_in_key"


def cache_keeps_names() -> bool:
    """Whether the persistent compilation cache tells programs apart by their names too."""
    return bool(getattr(jax.config, _NAMES_IN_KEY, False))


_holders: list[bool] = []  # one for each block that wants names in the key: what was set before it
_holders_lock = threading.Lock()


@contextmanager
def names_in_cache_key() -> Iterator[None]:
    """Within, the persistent compilation cache gives no program back under names it no longer has.

    Its keys then hold source lines too: after an edit everything compiles anew, once. For all threads, until
    the last such block ends.
    """
    if not hasattr(jax.config, _NAMES_IN_KEY):  # pragma: no cover - only on a jax that renamed it
        yield
        return
    with _holders_lock:
        _holders.append(cache_keeps_names() if not _holders else _holders[0])
        jax.config.update(_NAMES_IN_KEY, True)
    try:
        yield
    finally:
        with _holders_lock:
            before = _holders.pop()
            if not _holders:
                jax.config.update(_NAMES_IN_KEY, before)


_watchers: list[Callable[[bool], None]] = []


def around_profiling(tell: Callable[[bool], None]) -> None:
    """Have `tell(True)` called before the program starts a profiler session, `tell(False)` after its end."""
    _watchers.append(tell)
    if ProfilerSession is None or len(_watchers) > 1:
        return

    def watched(*arguments: Any, **more: Any) -> Any:
        _tell_watchers(True)
        try:
            return _WatchedSession(ProfilerSession(*arguments, **more))
        except BaseException:
            _tell_watchers(False)
            raise

    module: Any = _profiler
    module.ProfilerSession = watched  # jax looks it up here each time, whoever imported start_trace


def _tell_watchers(begins: bool) -> None:
    for tell in _watchers:
        tell(begins)


class _WatchedSession:
    """A profiler session that tells when it has stopped."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._session, name)
        if not name.startswith("stop"):
            return found

        @wraps(found)
        def stop(*arguments: Any, **more: Any) -> Any:
            try:
                return found(*arguments, **more)
            finally:
                _tell_watchers(False)

        return stop


_PMAPS = ("jax._src.pmap", "jax._src.linear_util")  # where a pmapped function seems to be from


def after_each_call(tell: Callable[[str], None]) -> Callable[[], None] | None:
    """Have `tell(name)` called after each warm call of a jitted function that is not jax's own.

    Costs 1 to 3 us a call. Returns what ends it; None where this jax has no such hook, or the program uses it
    (`jax_debug_nans`).
    """
    state = getattr(_api, "_post_hook_state", None)
    if state is None or state.get_global() is not None:
        return None

    def hook(function: Any, *_: Any) -> None:
        module = getattr(function, "__module__", None) or ""
        if module.partition(".")[0] != "jax" or module in _PMAPS:
            tell(f"{module}.{getattr(function, '__qualname__', '')}")

    state.set_global(hook)

    def undo() -> None:
        if state.get_global() is hook:
            state.set_global(None)

    return undo


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

    Args:
        python_tracer: record Python calls too.
        beside: it records beside a program that may profile itself, and gives way to that.

    Raises:
        RuntimeError: another profiler is running, or the backend refuses.
    """

    def __init__(self, python_tracer: bool = False, beside: bool = False) -> None:
        if ProfilerSession is None:  # pragma: no cover - only on a jax that moved it
            raise RuntimeError("this jax has no ProfilerSession; record with jax.profiler.trace instead")
        if not beside:
            _tell_watchers(True)
        self._beside = beside
        self._session: Any = None
        try:
            self._start(python_tracer)
        except BaseException:
            self._let_go()
            raise

    def _start(self, python_tracer: bool) -> None:
        if TraceMe.is_enabled():  # a second session would only fail when it stops, with everything lost
            raise RuntimeError("another profiler is already running in this process")
        jax.devices()  # a session started before its backend would see no device
        _set_metadata()
        self._session = ProfilerSession(profile_options(python_tracer=python_tracer))
        self.started_ns = time.time_ns()

    def stop(self) -> bytes:
        """End the session and return the serialized XSpace (protobuf), without the JSON trace."""
        session, self._session = self._session, None
        self.stopped_ns = time.time_ns()
        try:
            return session.stop()
        finally:
            self._let_go()

    def _let_go(self) -> None:
        if not self._beside:
            _tell_watchers(False)


def has_leaves(value: Any) -> bool:
    """Whether a value is a pytree that holds arrays or other leaves, rather than a leaf itself."""
    leaves = jax.tree.leaves(value)
    return not (len(leaves) == 1 and leaves[0] is value) and bool(leaves)


def wait_for(value: Any = None) -> None:
    """Wait until the arrays in `value` and every live array are computed; donated ones are passed over."""
    try:
        leaves = jax.tree.leaves(value)
    except Exception:  # a tree that jax cannot flatten (keys of two kinds): its arrays are alive all the same
        leaves = []
    for array in [*leaves, *jax.live_arrays()]:
        if isinstance(array, jax.Array) and not array.is_deleted():
            try:
                array.block_until_ready()
            except RuntimeError:
                if not array.is_deleted():  # else another thread has donated it this instant
                    raise


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
