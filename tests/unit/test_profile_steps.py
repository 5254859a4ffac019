"""Which steps profile() records and keeps, against a schedule asked anew at every step."""

from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlscope_jax.capture import Phase, _profile, profile
from schedules import schedules

blocks = st.lists(
    st.tuples(st.none() | schedules, st.integers(0, 40), st.sets(st.integers(0, 40))), min_size=1, max_size=3
)
"""Of one process: (schedule, steps, steps after which no other event has room)."""


class Recorder:
    """A recorder that records nothing."""

    started_ns, stopped_ns, usage = 1, 2, None

    def stop(self):
        return b""


class Budget:
    """A budget that is exceeded after some steps."""

    limit = estimate = 1

    def __init__(self, profiler, full):
        self._profiler, self._full = profiler, full

    @property
    def is_full(self):
        return self._profiler._step in self._full

    def open(self):
        pass

    def step(self):
        pass

    def close(self, written):
        pass


@pytest.fixture(scope="module")
def told():
    """What profile() did: ("mark", step) for a step that was recorded, ("keep", first, last) for a window."""
    happened = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profile, "_has_captured", False)
        patch.setattr(_profile._jax, "Recorder", Recorder)
        patch.setattr(_profile._jax, "wait_for", lambda value: None)
        patch.setattr(
            _profile._jax,
            "step_annotation",
            lambda name, step: happened.append(("mark", step)) or nullcontext(),
        )
        patch.setattr(_profile, "write_profile", lambda logdir, space: Path("kept"))
        patch.setattr(_profile, "add_to_anchors", lambda path, after: None)
        patch.setattr(
            _profile,
            "write_sidecar",
            lambda path, window, *_, **__: happened.append(("keep", window.first_step, window.last_step)),
        )
        yield happened


def naive(schedule, at, steps, full, captured):
    """What should happen in a block of some steps from `at` on, and if anything was captured by then."""
    happened, first, phase = [], None, Phase.OFF

    def phase_of(step):
        if schedule is None:
            return Phase.ACTIVE
        comes = schedule.phase(step + 1) is Phase.ACTIVE
        found = schedule.phase(step)
        return Phase.WARMUP if found is Phase.OFF and comes and not captured else found

    def begin(step, new):
        nonlocal first, phase
        phase, first = new, None if new is Phase.OFF else step

    def end(last):
        nonlocal first, captured
        if first is not None:
            captured = True
            if phase is Phase.ACTIVE and (schedule is None or last >= first):
                happened.append(("keep", first, last))
        first = None

    begin(at, phase_of(at))
    for step in range(at, at + steps):
        following = phase_of(step + 1)
        if first is not None:
            happened.append(("mark", step))
        ends = schedule is not None and phase is Phase.ACTIVE and schedule.window_ends_after(step)
        if ends or following is not phase:
            end(step)
            begin(step + 1, following)
        elif step in full:
            end(step)
    if first is not None:
        happened.append(("mark", at + steps))
    end(at + steps - 1)
    return happened, captured


@pytest.mark.filterwarnings("ignore:rlscope_jax. recording stopped")
@given(blocks)
def test_steps_are_recorded_as_a_schedule_asked_anew_says(told, described):
    profile._has_captured = captured = False
    for schedule, steps, full in described:
        told.clear()
        with profile("unused", schedule) as profiler:
            profiler._budget = Budget(profiler, full)
            for _ in range(steps):
                profiler.step()
        expected, captured = naive(schedule, 0, steps, full, captured)
        assert told == expected


@given(schedules, st.integers(0, 20), st.integers(0, 20), st.booleans())
def test_a_block_entered_again_goes_on_with_its_steps(told, schedule, first, second, captured):
    profile._has_captured = captured
    profiler = profile("unused", schedule)
    for at, steps in ((0, first), (first, second)):
        told.clear()
        with profiler:
            for _ in range(steps):
                profiler.step()
        expected, captured = naive(schedule, at, steps, (), captured)
        assert told == expected
