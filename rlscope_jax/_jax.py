"""The one door to jax's private parts; every entry has a public fallback and a test.

Written for jax 0.8.0 to 0.11.2 (2026-11). When a name moves, mend it here and nowhere else.
"""

from __future__ import annotations

import os
import re
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from itertools import zip_longest
from types import FrameType
from typing import Any, NamedTuple

import jax
import jax.monitoring

from rlscope_jax._process import Usage, usage

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
    (`jax_debug_nans`). To be asked for before the program compiles anything.
    """
    state = getattr(_api, "_post_hook_state", None)
    if state is None or state.get_global() is not None:
        return None
    wanted = [True]

    def hook(function: Any, *_: Any) -> None:
        module = getattr(function, "__module__", None) or ""
        if wanted and (module.partition(".")[0] != "jax" or module in _PMAPS):
            tell(f"{module}.{getattr(function, '__qualname__', '')}")

    def hook_this_thread(*_: object) -> None:
        # jax sets a thread's own to None where it traces without the NaN check, as in jnp.sort.
        if wanted and not getattr(jax.config, "jax_debug_nans", False):
            state.set_local(hook)

    state.set_global(hook)
    stop_listening = on_compiling(hook_this_thread)

    def undo() -> None:
        wanted.clear()
        stop_listening()
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
        self.usage: Usage | None = None
        """What the process made the system do while it recorded; known when it has stopped."""
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
        self._before = usage()
        self.started_ns = time.time_ns()

    def stop(self) -> bytes:
        """End the session and return the serialized XSpace (protobuf), without the JSON trace."""
        session, self._session = self._session, None
        self.stopped_ns = time.time_ns()
        now = usage()
        if now is not None and self._before is not None:
            self.usage = now.since(self._before)
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
    """A trace annotation that marks one training step, as every XLA tool knows it.

    What `jax.profiler.StepTraceAnnotation` leaves, without the Python class around it: between dispatches of
    a small program that costs 4.5 µs even while nobody records.
    """
    return TraceMe(name, step_num=step, _r=1)


def _set_metadata() -> None:
    # jax.profiler.start_trace stores these; a session opened directly must do so itself.
    if hasattr(_profiler, "set_metadata"):
        import jaxlib

        _profiler.set_metadata("jax_version", jax.__version__)
        _profiler.set_metadata("jaxlib_version", jaxlib.__version__)
        _profiler.set_metadata("process_id", str(os.getpid()))


_PHASES = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "backend",
}
_compile_listeners: list[Callable[[str, str, float], None]] = []
_is_listening = False


def on_compiling(tell: Callable[[str, str, float], None]) -> Callable[[], None]:
    """Have `tell(phase, function, seconds)` called after each phase of a compilation; returns what ends it.

    Phases are "trace", "lower" and "backend", in this order, in the thread that compiles. Public API.
    """
    global _is_listening
    _compile_listeners.append(tell)
    if not _is_listening:  # one listener for good: jax 0.8 cannot take one away
        _is_listening = True
        jax.monitoring.register_event_duration_secs_listener(_tell_of_compiling)
    return lambda: _compile_listeners.remove(tell)


def _tell_of_compiling(event: str, duration_secs: float, **details: Any) -> None:
    if event in _PHASES:
        for tell in _compile_listeners:
            with suppress(Exception):  # the program must go on
                tell(_PHASES[event], str(details.get("fun_name", "")), duration_secs)


class Argument(NamedTuple):
    """What jax compiles for, of one argument."""

    name: str
    shape: str
    """Type and shape, as in f32[8,3]."""
    weak: bool
    sharding: str
    """How jit is told that it lies on the devices; "" where it is free to choose."""
    mesh: str
    """The axes of the mesh that the array comes from; "" for none."""


class Lowering(NamedTuple):
    """A function that is being lowered."""

    function: str
    file: str
    line: int
    is_jaxs: bool
    """Whether it is a function of jax's own: an operation that was called outside of any jit."""
    arguments: tuple[Argument, ...]
    identity: weakref.ref | None
    """The function object that was jitted."""


def lowering_now() -> Lowering | None:
    """The function that the calling thread lowers just now, to be asked from within `on_compiling`.

    None where this jax keeps it elsewhere.
    """
    frame: FrameType | None = sys._getframe(1)
    identity = lowered = None
    while frame is not None and identity is None:
        names = frame.f_code.co_varnames
        if lowered is None and "closed_jaxpr" in names and "module_name" in names:
            lowered = frame.f_locals
        elif lowered is not None and frame.f_code.co_name == "cache_miss" and "fun" in frame.f_locals:
            with suppress(TypeError):  # a function that cannot be referred to weakly
                identity = weakref.ref(frame.f_locals["fun"])
        frame = frame.f_back
    try:
        return None if lowered is None else _lowering(lowered, identity)
    except Exception:  # whatever a later jax may have changed
        return None


def _lowering(found: dict[str, Any], identity: weakref.ref | None) -> Lowering:
    jaxpr = getattr(found["closed_jaxpr"], "jaxpr", found["closed_jaxpr"])
    debug = jaxpr.debug_info
    avals = getattr(found["closed_jaxpr"], "in_avals", None) or found["in_avals"]
    names = debug.arg_names or ()
    names = ("",) * (len(avals) - len(names)) + tuple(names)
    shardings = tuple(found.get("in_shardings") or ())[-len(avals) :] if avals else ()
    arguments = tuple(
        Argument(
            name,
            aval.str_short(short_dtypes=True),
            bool(getattr(aval, "weak_type", False)),
            _sharding_text(sharding),
            _mesh_axes(getattr(aval, "sharding", None)),
        )
        for name, aval, sharding in zip_longest(names, avals, shardings)
    )
    function, file, line = debug.func_name, debug.func_filename or "", debug.func_lineno or 0
    is_jaxs = _is_jaxs(file)
    if is_jaxs and (users := _first_of_users(jaxpr)) is not None:  # pmap compiles under a name of its own
        (function, file, line), is_jaxs = users, False
    return Lowering(function, file, line, is_jaxs, arguments, identity)


def _sharding_text(sharding: Any) -> str:
    if sharding is None or type(sharding).__name__ == "UnspecifiedValue":
        return ""
    spec = getattr(sharding, "spec", None)
    return str(sharding) if spec is None else f"{spec} on {_mesh_axes(sharding) or 'no mesh'}"


def _mesh_axes(sharding: Any) -> str:
    axes = getattr(getattr(sharding, "mesh", None), "axis_names", ())
    return f"({', '.join(map(str, axes))})" if axes else ""


def _is_jaxs(file: str) -> bool:
    return os.path.join("jax", "_src", "") in file or os.path.join("jax", "experimental", "") in file


def _first_of_users(jaxpr: Any) -> tuple[str, str, int] | None:
    """The outermost function of the user's within a program, below what called it: name, file, line."""
    above = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        above.append((frame.f_code.co_filename, frame.f_code.co_name))
        frame = frame.f_back
    callers = {caller for caller in above if not _is_jaxs(caller[0])}
    while len(jaxpr.eqns) == 1 and "jaxpr" in jaxpr.eqns[0].params:
        jaxpr = getattr(jaxpr.eqns[0].params["jaxpr"], "jaxpr", jaxpr.eqns[0].params["jaxpr"])
    for equation in jaxpr.eqns:
        traceback = equation.source_info.traceback
        for call in reversed(traceback.frames if traceback is not None else []):
            name = call.function_name.rpartition(".")[2]
            known = (call.file_name, name) in callers or call.file_name.startswith("<")
            if not known and not _is_jaxs(call.file_name) and not _IN_BETWEEN.search(call.file_name):
                return name, call.file_name, call.line_num
    return None


_IN_BETWEEN = re.compile(r"[/\\](?:functools|contextlib|runpy|threading)\.py$|[/\\]rlscope_jax[/\\]")
