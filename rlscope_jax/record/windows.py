"""Windows opened from a thread beside the program, also in the middle of one long jitted call."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from rlscope_jax._when_loaded import when_loaded
from rlscope_jax.record.runs import Runs

if TYPE_CHECKING:
    from rlscope_jax.capture._compiles import CompileLog
    from rlscope_jax.record.calls import Calls

_POLL = 0.02  # seconds between looks at whether jax is up
_LOOK = 0.005  # seconds between looks, within a window, at whether it should end
_COMPILERS = tuple(
    os.path.join("jax", "_src", *parts)
    for parts in (("compiler.py",), ("interpreters", "partial_eval.py"), ("interpreters", "mlir.py"))
)
_SETTLED = 1.0  # seconds without a compile
_PATIENCE = 20.0  # where no function has been compiled yet
_PROBE = 0.01  # seconds: the first window, when it is not known yet how many events there are
_SHORTEST = 0.002
_LONG, _LONGEST = 0.1, 2.0  # of windows, where it is not asked for
_FEW_EVENTS = 2_000  # in the longest window: its ops are long, and those cut by its edges are not seen
_BYTES_PER_EVENT = 57  # of a serialized profile, measured: 57 to 66
_LATER_BY = 1.5  # each window comes this much later than the one before, where no interval is asked for
_COLLECTING_SHARE = 0.03  # of the time between windows, for events and for all else, where none is asked for


@dataclass(frozen=True)
class RunCount:
    """So many runs of one of the program's own jitted functions, where a plan could say seconds."""

    count: int


Length = float | RunCount


@dataclass(frozen=True)
class Plan:
    """When windows are opened, in seconds or in runs.

    `skip` counts from when the backend is up; None waits until a function has been compiled, and nothing more
    for a second.
    `window` is the longest one; None is a tenth of a second, and longer where the program's ops are so long
    that little is seen in that.
    `every` is from one window's end to the next; None spaces them ever wider, so that the windows cover runs
    of minutes and of days alike, and keeps them so short that collecting them stays a small part of the run.
    """

    skip: Length | None = None
    window: Length | None = None
    every: Length | None = None
    most: int = 20
    max_events: int = 200_000

    @property
    def counts_runs(self) -> bool:
        """Whether anything is asked for in runs."""
        return any(isinstance(length, RunCount) for length in (self.skip, self.window, self.every))


class Windows:
    """The windows of one run of a program.

    Args:
        logdir: where the profiles go.
        plan: when to open them.
        tell: told what is worth telling, one line at a time.
    """

    def __init__(self, logdir: Path, plan: Plan, tell: Callable[[str], None]) -> None:
        self.logdir, self.plan, self._tell = logdir, plan, tell
        self.kept: list[Path] = []
        """The profiles written so far."""
        self.open_seconds = 0.0
        """How long windows were open, all together."""
        self.writing_seconds = 0.0
        """How long collecting and writing took, beside the program."""
        self.failed = False
        """Whether recording ended for want of a place to write, or the like."""
        self._stop = threading.Event()
        self._process = os.getpid()
        self.run = f"{self._process}-{time.time_ns()}"
        """What ties the windows of one run together."""
        self._session = threading.Lock()
        self._own_profiler = threading.Event()
        self._runs = Runs()
        self._empty = sys.maxsize  # bytes of the smallest profile so far: mostly programs, hardly an event
        self._compiles: CompileLog | None = None
        self._calls: Calls | None = None
        self._opened: list[tuple[int, int]] = []  # the windows kept, unix ns
        self._when_over = when_loaded(frozenset({"jax"}), self._listen)
        if "jax" in sys.modules:
            self._listen(sys.modules["jax"])
        self._thread = threading.Thread(target=self._run, name="rlscope_windows", daemon=True)

    def start(self) -> None:
        """Watch for jax from now on."""
        self._thread.start()

    def close(self) -> None:
        """End the window that is open, if one is, keep it, and open no more.

        In a fork of the program it does nothing.
        """
        if os.getpid() != self._process:
            return
        atexit.unregister(self.close)
        self._stop.set()
        if self._thread.ident is not None:  # else it was never started
            self._thread.join()
        self._when_over()
        if self._calls is not None:
            self._calls.close()
        if self.kept:
            from rlscope_jax.capture._session import rewrite

            with suppress(OSError, ValueError):  # the last window told of all but the latest
                rewrite(self.kept[-1], calls=self._ended_calls(), compiles=self._compiled())

    def _run(self) -> None:
        try:
            if self._wait_for_jax() and self._wait_to_begin():
                self._record()
        except Exception as error:  # the program must go on
            self.failed = True
            self._tell(f"recording ended: {type(error).__name__}: {error}")
        finally:
            self._runs.stop_counting()

    def _wait_for_jax(self) -> bool:
        while not self._stop.wait(_POLL):
            if _backend_is_up():
                from rlscope_jax import _jax

                _jax.around_profiling(self._give_way)
                if self.plan.counts_runs and not self._runs.are_counted:
                    self._tell("this jax does not tell of runs: give seconds instead")
                    return False
                self._watch_calls()
                return True
        return False

    def _wait_to_begin(self) -> bool:
        if self.plan.skip is not None:
            return self._wait_for(self.plan.skip)
        busy = time.monotonic()
        while not self._stop.wait(_POLL):
            if _is_compiling():
                busy = time.monotonic()
            elif time.monotonic() - busy > (_SETTLED if self._has_compiled() else _PATIENCE):
                return True
        return False

    def _has_compiled(self) -> bool:
        """Whether the program is beyond its imports, which may use jax too."""
        return self._compiles is None or self._compiles.holds_a_function

    def _wait_while_compiling(self) -> bool:
        """Unless windows are to begin at once, none is opened upon a compilation; False at the end."""
        while self.plan.skip is None and _is_compiling():
            if self._stop.wait(_POLL):
                return False
        return not self._stop.is_set()

    def _wait_for(self, length: Length) -> bool:
        """Wait for a time or for runs; False when the program ends first."""
        if isinstance(length, RunCount):
            self._runs.start_over()
            while self._runs.most < length.count:
                if self._stop.wait(_LOOK):
                    return False
            return True
        return not self._stop.wait(length)

    def _record(self) -> None:
        began = time.monotonic()
        self._open(_SHORTEST, keep=False)  # a process' first window costs more than later ones
        least = self.writing_seconds  # what collecting takes at least: the programs are in every profile
        longest = self._longest()
        length = min(_PROBE, longest)
        while len(self.kept) < self.plan.most:
            if not self._wait_while_compiling():
                return
            before = self.writing_seconds
            events = self._open(length, keep=True)
            if self._stop.is_set():
                return
            room = self.plan.max_events / max(events, 1)
            pause = self.plan.every
            if pause is None:
                collecting = self.writing_seconds - before
                least = min(least, collecting)
                pause = max((time.monotonic() - began) * (_LATER_BY - 1), least / _COLLECTING_SHARE)
                room = min(room, _COLLECTING_SHARE * pause / max(collecting - least, 1e-6))
            if self.plan.window is None and length == longest and events < _FEW_EVENTS:
                longest = min(2 * longest, _LONGEST)
            length = min(max(length * room, _SHORTEST), longest)
            if not self._wait_for(max(pause, length) if isinstance(pause, float) else pause):
                return

    def _longest(self) -> float:
        window = self.plan.window
        return _LONG if window is None else window if isinstance(window, float) else float("inf")

    def _open(self, seconds: float, keep: bool) -> int:
        """Record for a while, or for the runs asked for; returns about how many events there were."""
        from rlscope_jax import _jax
        from rlscope_jax._process import resident_bytes
        from rlscope_jax.capture._budget import BYTES_RECORDING
        from rlscope_jax.capture._session import Window, write_profile, write_sidecar

        with self._session:
            if self._own_profiler.is_set():
                return 0
            try:
                recorder = _jax.Recorder(beside=True)
            except RuntimeError as error:
                self._tell(f"no window now: {error}")
                return 0
            if keep:
                self._opened.append((recorder.started_ns, sys.maxsize))
            until = time.monotonic() + seconds
            full = resident_bytes() + self.plan.max_events * BYTES_RECORDING
            self._runs.start_over()
            while time.monotonic() < until and not (self._stop.is_set() or self._own_profiler.is_set()):
                if isinstance(self.plan.window, RunCount) and self._runs.most >= self.plan.window.count:
                    break
                if resident_bytes() > full:  # more events than the windows before let expect
                    break
                self._stop.wait(min(_LOOK, max(until - time.monotonic(), 0)))
            began = time.monotonic()
            space = recorder.stop()
        window = Window(recorder.started_ns, recorder.stopped_ns, 0, -1)
        self.open_seconds += (recorder.stopped_ns - recorder.started_ns) / 1e9
        if keep:
            collected = time.monotonic() - began
            self._opened[-1] = recorder.started_ns, recorder.stopped_ns
            profile = write_profile(self.logdir, space)
            write_sidecar(
                profile,
                window,
                part_of=self.run,
                usage=recorder.usage,
                collecting_ns=round(collected * 1e9),
                calls=self._ended_calls(),
                compiles=self._compiled(),
            )
            self.kept.append(profile)
        self.writing_seconds += time.monotonic() - began
        self._empty = min(self._empty, len(space))
        return (len(space) - self._empty) // _BYTES_PER_EVENT

    def _listen(self, jax: ModuleType) -> None:
        """jax has just been loaded by the program: note what it compiles."""
        atexit.register(self.close)  # thus before jax takes its backends down
        try:
            from rlscope_jax.capture._compiles import CompileLog

            self._compiles = CompileLog()
            self._compiles.start()
            if self.plan.counts_runs:
                self._runs.start_counting()
        except Exception as error:  # the program must go on
            self._tell(f"compilations are not noted: {type(error).__name__}: {error}")

    def _compiled(self) -> list[dict]:
        return [] if self._compiles is None else self._compiles.functions()

    def _watch_calls(self) -> None:
        import jax

        from rlscope_jax.record.calls import Calls

        self._calls = Calls(self._holds_a_window, jax.live_arrays)
        self._calls.start()

    def _holds_a_window(self, begin: int, end: int) -> bool:
        """Whether a kept window was open between two unix ns."""
        return any(opened < end and begin < closed for opened, closed in self._opened)

    def _ended_calls(self) -> list[dict[str, int]]:
        return [] if self._calls is None else [call._asdict() for call in self._calls.found()]

    def _give_way(self, begins: bool) -> None:
        """The program's own profiler begins or has ended: there can be but one at a time."""
        if begins:
            self._own_profiler.set()
            with self._session:  # wait for the window that is open
                pass
        else:
            self._own_profiler.clear()


def _is_compiling() -> bool:
    """Whether some thread traces, lowers or compiles just now: its Python stack shows it."""
    for thread, frame in sys._current_frames().items():
        current = frame if thread != threading.get_ident() else None
        while current is not None:
            if current.f_code.co_filename.endswith(_COMPILERS):
                return True
            current = current.f_back
    return False


def _backend_is_up() -> bool:
    """Whether the program has a backend already: a profiler started before would see no device.

    Nothing is imported to find out: jax may be in the middle of being imported by the program.
    """
    bridge = sys.modules.get("jax._src.xla_bridge")
    loading = getattr(getattr(sys.modules.get("jax"), "__spec__", None), "_initializing", True)
    is_up = getattr(bridge, "backends_are_initialized", None)
    return not loading and is_up is not None and bool(is_up())
