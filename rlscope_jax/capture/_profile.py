"""profile(): record windows of a training loop without ever breaking it."""

from __future__ import annotations

import math
import os
import threading
import time
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlscope_jax import _jax
from rlscope_jax._process import Usage
from rlscope_jax.capture._anchors import AnchorClock
from rlscope_jax.capture._budget import EventBudget
from rlscope_jax.capture._compiles import CompileLog
from rlscope_jax.capture._schedule import Phase, Schedule
from rlscope_jax.capture._session import (
    StoppedEarly,
    Window,
    add_to_anchors,
    fallback_directory,
    local_directory,
    write_profile,
    write_sidecar,
)
from rlscope_jax.capture._waits import visible_waits
from rlscope_jax.errors import NoProfileError
from rlscope_jax.names import EDGE_NAME, STEP_NAME

if TYPE_CHECKING:
    from rlscope_jax.breakdown.report import Report

_left_to_parent: list[Any] = []  # recorders that a forked child must neither stop nor free


class profile:
    """Record windows of a training loop for `rlscope-jax report` and TensorBoard.

        with profile("runs/ppo", Schedule(skip_first=2, active=3, repeat=1)) as profiler:
            for _ in range(updates):
                state, metrics = train_step(state)
                profiler.step(metrics)
        print(profiler.report().to_json())

    Without a schedule everything inside the block is recorded. The Python tracer stays off. Each window
    becomes `<logdir>/plugins/profile/<session>/<host>.xplane.pb` and a small description of it in
    `<logdir>/plugins/rlscope/`; where `logdir` cannot be written they go to the user's cache directory.

    A profiler that cannot start, stop or write says so once, as a warning, and training goes on. In a forked
    child the block does nothing.

    Args:
        logdir: where TensorBoard looks; made when missing.
        schedule: which steps to record; None records the whole block.
        max_events: a window ends early, after a whole step, rather than hold more events than about this
            many, and its report says so. While the recorder stops it needs about 1.1 kB of memory for each
            (`benchmarks/capture.py`). None: no limit.

    Raises:
        ValueError: `logdir` is remote (`gs://…`), or `max_events` is no positive number.
    """

    _has_captured = False
    """Of this process: its first capture costs more, so the step before it is recorded for nothing."""

    def __init__(
        self, logdir: str | Path, schedule: Schedule | None = None, *, max_events: int | None = 2_000_000
    ) -> None:
        if max_events is not None and max_events < 1:
            raise ValueError(f"profile(max_events={max_events}) would record nothing; use None for no limit")
        self.logdir = local_directory(logdir)
        self.schedule = schedule
        self.sessions: list[Path] = []
        """The `xplane.pb` files written so far, oldest first."""
        self._step = 0
        self._phase = self._following = Phase.OFF
        self._ends_at_edge = False
        """Whether a window begins or ends with the step that runs."""
        self._look_ahead_from: float = 0
        """Up to this step the one after it is like it."""
        self._recorder: _jax.Recorder | None = None
        self._budget = EventBudget(max_events)
        self._first_step = 0
        self._clock = AnchorClock()
        self._described: Path | None = None  # the last window that has a description
        self._compiles = CompileLog(lambda: self._step)
        self._closed = True
        self._process = os.getpid()
        self._last: Any = None  # the last step's value: what the end of the block waits for
        self._step_scope: Any = None
        self._block = ExitStack()  # what holds from the first step to the last
        self._window = ExitStack()  # what holds while a window is open
        self._said: set[str] = set()
        self._lock = threading.RLock()  # several threads may end steps

    def __enter__(self) -> profile:
        with self._lock, ExitStack() as undo:  # an interrupt while we wait leaves nothing behind
            self._process = os.getpid()
            # Not only in windows: the programs that they record were compiled before.
            undo.enter_context(_jax.names_in_cache_key())
            self._compiles.start()
            undo.callback(self._compiles.stop)
            phase = self._phase_of(self._step)  # not the first one where a block is entered again
            self._look_ahead_from = self._step
            if phase is not Phase.OFF:
                self._wait(None)  # what was called before the block must not run within it
            self._closed = False
            self._begin(phase)
            self._open_step()
            self._block = undo.pop_all()
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        with self._lock, self._block:
            if self._is_forked():
                return
            self._window.close()
            try:
                if self._recorder is not None and kind is None:
                    # After an exception the steps so far are worth reading, but waiting could raise it again.
                    self._wait(self._last)
            finally:
                self._closed, self._last = True, None
                self._close_step()
                self._end(last=self._step - 1)  # what ran since the last step() is no whole step
                self._keep_steps_after()

    def step(self, value: Any = None) -> None:
        """Mark the end of a training step.

        Args:
            value: arrays the step produced. At the edges of a window they and every other live array
                are waited for, so that no device work of one step is recorded, or missed, in another.
                Work whose results were all dropped can only be waited for through `value`.
        """
        now = time.perf_counter_ns()
        with self._lock:
            if self._is_forked():
                return
            if self._closed:
                self._warn("outside", "step() was called outside the profile's block")
                return
            self._end_step(value, now)

    def report(self) -> Report:
        """The report of the newest window; call it after the block, or between windows.

        Raises:
            NoProfileError: no window was recorded.
            RlscopeError: the profile cannot be read.
        """
        if not self.sessions:
            raise NoProfileError(
                "no window was recorded: the block ended before the schedule's first active step, "
                "or a warning above says what failed."
            )
        from rlscope_jax.facade import load  # brings numba, which training must not pay for

        return load(self.sessions[-1])

    def _end_step(self, value: Any, now: int) -> None:
        self._last = value
        following, edge = self._following, self._ends_at_edge
        if edge:
            self._window.close()
        if edge or self._clock.starts_after_this_step:
            self._wait(value)
            now = time.perf_counter_ns()
        self._close_step()
        self._clock.step_ends(now)
        early = self._stops_early(edge)  # our own work from here on: no part of the step
        if early:
            self._window.close()
            self._wait(value)
        if edge or early:
            self._end(self._step, early)
        self._step += 1
        if edge:
            self._begin(following)
        self._open_step()

    def _stops_early(self, edge: bool) -> StoppedEarly | None:
        if self._recorder is None:
            return None
        self._budget.step()
        if edge or not self._budget.is_full:
            return None
        return StoppedEarly(self._budget.limit or 0, self._budget.estimate, self._planned_end())

    def _phase_of(self, step: int) -> Phase:
        if self.schedule is None:
            return Phase.ACTIVE
        phase = self.schedule.phase(step)
        if phase is Phase.OFF and not profile._has_captured and self.schedule.phase(step + 1) is Phase.ACTIVE:
            return Phase.WARMUP
        return phase

    def _planned_end(self) -> int | None:
        if self.schedule is None:
            return None
        last = self._step
        while self.schedule.phase(last) is not Phase.OFF and not self.schedule.window_ends_after(last):
            last += 1
        return last

    def _begin(self, phase: Phase) -> None:
        self._phase = phase
        if phase is Phase.OFF:
            return
        self._keep_steps_after()
        try:
            self._recorder = _jax.Recorder()
            self._first_step = self._step
            self._budget.open()
            self._window.enter_context(visible_waits())
        except Exception as error:
            self._warn("start", f"could not start the profiler: {error}")

    def _end(self, last: int, early: StoppedEarly | None = None) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        try:
            space = recorder.stop()
            profile._has_captured = True
        except Exception as error:
            self._warn(
                "stop", f"could not stop the profiler, steps {self._first_step} to {last} are lost: {error}"
            )
            return
        self._budget.close(len(space))
        # A schedule's window that no step ended in is only the start of a cycle that never came.
        if self._phase is Phase.ACTIVE and (self.schedule is None or last >= self._first_step):
            window = Window(recorder.started_ns, recorder.stopped_ns, self._first_step, last)
            self._keep(space, window, early, recorder.usage)
        if early is not None:
            self._warn(
                "early",
                f"recording stopped after step {last}: about {early.estimated_events:,} events, and "
                f"max_events is {early.limit_events:,}",
            )

    def _keep(self, space: bytes, window: Window, early: StoppedEarly | None, usage: Usage | None) -> None:
        steps = f"the profile of steps {window.first_step} to {window.last_step}"
        try:
            path = write_profile(self.logdir, space)
        except Exception as error:
            instead = fallback_directory(self.logdir)
            try:
                path = write_profile(instead, space)
            except Exception as second:
                self._warn("keep", f"could not keep {steps}: {error}; nor in {instead}: {second}")
                return
            self._warn("keep", f"could not keep {steps} in {self.logdir} ({error}); it is in {instead}")
        self.sessions.append(path)
        anchors = self._clock.window_closes()
        try:
            write_sidecar(
                path,
                window,
                early,
                anchors=anchors,
                compiles=self._compiles.functions(),
                usage=usage,
            )
            self._described = path
        except Exception as error:
            self._warn("sidecar", f"could not describe {steps}: {error}")

    def _keep_steps_after(self) -> None:
        described, self._described = self._described, None
        if described is None or not self._clock.after:
            return
        try:
            add_to_anchors(described, self._clock.after)
        except Exception as error:
            self._warn("sidecar", f"could not add to the description of {described}: {error}")

    def _wait(self, value: Any) -> None:
        try:
            with _jax.TraceMe(EDGE_NAME):
                _jax.wait_for(value)
        except Exception as error:
            self._warn("wait", f"could not wait for the device at the edge of a window: {error}")

    def _is_forked(self) -> bool:
        """Whether this is a child of the process that records; it then lets go of what is the parent's."""
        if self._process == os.getpid():
            return False
        if self._recorder is not None:
            _left_to_parent.append((self._recorder, self._step_scope))
        self._recorder = self._step_scope = None
        self._window.close()
        return True

    def _open_step(self) -> None:
        if self._ends_at_edge or self._step + 1 >= self._look_ahead_from:
            self._look_ahead()  # now, for when the step ends that would lengthen it
        self._clock.step_begins(recorded=self._recorder is not None)
        if self._recorder is not None:
            self._step_scope = _jax.step_annotation(STEP_NAME, self._step)
            self._step_scope.__enter__()

    def _look_ahead(self) -> None:
        """What follows the step that begins, and up to which step it stays so."""
        self._following = self._phase_of(self._step + 1)
        self._ends_at_edge = self._following is not self._phase
        if self.schedule is None:
            self._look_ahead_from = math.inf
        else:
            self._ends_at_edge |= self._phase is Phase.ACTIVE and self.schedule.window_ends_after(self._step)
            # The step before the next change may be a warmup, see `_phase_of`.
            self._look_ahead_from = self.schedule.next_change(self._step + 1) - 1

    def _close_step(self) -> None:
        scope, self._step_scope = self._step_scope, None
        if scope is not None:
            scope.__exit__(None, None, None)

    def _warn(self, kind: str, message: str) -> None:
        if kind not in self._said:
            self._said.add(kind)
            warnings.warn(f"rlscope_jax: {message}. Training goes on.", RuntimeWarning, stacklevel=4)
