import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlscope_jax.capture import Phase, Schedule
from schedules import schedules

OFF, W, A = Phase.OFF, Phase.WARMUP, Phase.ACTIVE


@pytest.mark.parametrize(
    ("schedule", "phases"),
    [
        (Schedule(), [A, A, A]),
        (Schedule(skip_first=2, active=2, repeat=1), [OFF, OFF, A, A, OFF, OFF]),
        (Schedule(wait=1, warmup=1, active=2, repeat=2), [OFF, W, A, A, OFF, W, A, A, OFF, OFF, OFF, OFF]),
        (Schedule(skip_first=1, wait=1, active=1), [OFF, OFF, A, OFF, A, OFF, A]),
    ],
)  # fmt: skip
def test_phases_are_those_of_torch_profiler(schedule, phases):
    assert [schedule.phase(step) for step in range(len(phases))] == phases


def test_a_window_ends_after_its_last_active_step():
    schedule = Schedule(wait=1, active=2)
    assert [schedule.window_ends_after(step) for step in range(6)] == [False, False, True] * 2


@given(schedules, st.integers(0, 40))
def test_up_to_the_next_change_all_steps_are_alike(schedule, step):
    upto = int(min(schedule.next_change(step), 60))
    assert upto > step
    assert {schedule.phase(one) for one in range(step, upto)} == {schedule.phase(step)}
    assert not any(schedule.window_ends_after(one) for one in range(step, upto - 1))


@pytest.mark.parametrize("wrong", [{"active": 0}, {"wait": -1}, {"warmup": 1.5}])
def test_a_schedule_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match="Schedule"):
        Schedule(**wrong)
