"""profile(): record windows of a training loop without ever breaking it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from rlscope_jax import _jax
from rlscope_jax.capture._anchors import AnchorClock
from rlscope_jax.capture._schedule import Phase, Schedule
from rlscope_jax.capture._session import Window, write_session
from rlscope_jax.names import EDGE_NAME, STEP_NAME


class profile:
    """Record windows of a training loop for `rlscope-jax report` and TensorBoard.

        with profile("runs/ppo", Schedule(skip_first=2, active=3, repeat=1)) as profiler:
            for _ in range(updates):
                state, metrics = train_step(state)
                profiler.step(metrics)

    Without a schedule everything inside the block is recorded. The Python tracer stays off. Each window
    becomes `<logdir>/plugins/profile/<session>/<host>.xplane.pb` and a small description of it in
    `<logdir>/plugins/rlscope/`.

    A profiler that cannot start, stop or write says so once, as a warning, and training goes on.

    Args:
        logdir: where TensorBoard looks; made when missing.
        schedule: which steps to record; None records the whole block.
    """

    _has_captured = False
    """Of this process: its first capture costs more, so the step before it is recorded for nothing."""

    def __init__(self, logdir: str | Path, schedule: Schedule | None = None) -> None:
        # Absolute: programs change their directory while they train (Hydra does).
        self.logdir = Path(logdir).absolute()
        self.schedule = schedule
        self.sessions: list[Path] = []
        """The `xplane.pb` files written so far, oldest first."""
        self._step = 0
        self._phase = Phase.OFF
        self._recorder: _jax.Recorder | None = None
        self._first_step = 0
        self._clock = AnchorClock()
        self._closed = True
        self._last: Any = None  # the last step's value: what the end of the block waits for
        self._step_scope: Any = None
        self._warned = False

    def __enter__(self) -> profile:
        self._closed = False
        self._begin(self._phase_of(0))
        self._open_step()
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        try:
            if self._recorder is not None and kind is None:
                # After an exception the steps so far are worth reading, but waiting could raise it again.
                self._wait(self._last)
        finally:
            self._closed, self._last = True, None
            self._close_step()
            self._end(last=self._step - 1)  # what ran since the last step() is no whole step

    def step(self, value: Any = None) -> None:
        """Mark the end of a training step.

        Args:
            value: arrays the step produced. At the edges of a window they and every other live array
                are waited for, so that no device work of one step is recorded, or missed, in another.
                Work whose results were all dropped can only be waited for through `value`.
        """
        if self._closed:
            self._warn("step() was called outside the profile's block")
            return
        self._last = value
        following = self._phase_of(self._step + 1)
        edge = following is not self._phase or (
            self.schedule is not None and self.schedule.window_ends_after(self._step)
        )
        if edge or self._clock.starts_after_this_step:
            self._wait(value)
        self._clock.step_ends()
        self._close_step()
        if edge:
            self._end(last=self._step)
        self._step += 1
        if edge:
            self._begin(following)
        self._open_step()

    def _phase_of(self, step: int) -> Phase:
        if self.schedule is None:
            return Phase.ACTIVE
        phase = self.schedule.phase(step)
        if phase is Phase.OFF and not profile._has_captured and self.schedule.phase(step + 1) is Phase.ACTIVE:
            return Phase.WARMUP
        return phase

    def _begin(self, phase: Phase) -> None:
        self._phase = phase
        if phase is Phase.OFF:
            return
        try:
            self._recorder = _jax.Recorder()
            self._first_step = self._step
        except Exception as error:
            self._warn(f"could not start the profiler: {error}")

    def _end(self, last: int) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        try:
            space = recorder.stop()
            profile._has_captured = True
            # A schedule's window that no step ended in is only the start of a cycle that never came.
            if self._phase is Phase.ACTIVE and (self.schedule is None or last >= self._first_step):
                window = Window(recorder.started_ns, recorder.stopped_ns, self._first_step, last)
                anchors = self._clock.window_closes()
                self.sessions.append(write_session(self.logdir, space, window, anchors))
        except Exception as error:
            self._warn(f"could not keep the profile of steps {self._first_step} to {last}: {error}")

    def _wait(self, value: Any) -> None:
        try:
            with _jax.TraceMe(EDGE_NAME):
                _jax.wait_for(value)
        except Exception as error:
            self._warn(f"could not wait for the device at the edge of a window: {error}")

    def _open_step(self) -> None:
        self._clock.step_begins(recorded=self._recorder is not None)
        if self._recorder is not None:
            self._step_scope = _jax.step_annotation(STEP_NAME, self._step)
            self._step_scope.__enter__()

    def _close_step(self) -> None:
        scope, self._step_scope = self._step_scope, None
        if scope is not None:
            scope.__exit__(None, None, None)

    def _warn(self, message: str) -> None:
        if not self._warned:
            warnings.warn(
                f"rlscope_jax: {message}. Training goes on without it.", RuntimeWarning, stacklevel=3
            )
            self._warned = True
