import pytest

from rlscope_jax.capture import Phase, Schedule

O, W, A = Phase.OFF, Phase.WARMUP, Phase.ACTIVE


@pytest.mark.parametrize(
    ("schedule", "phases"),
    [
        (Schedule(), [A, A, A]),
        (Schedule(skip_first=2, active=2, repeat=1), [O, O, A, A, O, O]),
        (Schedule(wait=1, warmup=1, active=2, repeat=2), [O, W, A, A, O, W, A, A, O, O, O, O]),
        (Schedule(skip_first=1, wait=1, active=1), [O, O, A, O, A, O, A]),
    ],
)  # fmt: skip
def test_phases_are_those_of_torch_profiler(schedule, phases):
    assert [schedule.phase(step) for step in range(len(phases))] == phases


def test_a_window_ends_after_its_last_active_step():
    schedule = Schedule(wait=1, active=2)
    assert [schedule.window_ends_after(step) for step in range(6)] == [False, False, True] * 2


@pytest.mark.parametrize("wrong", [{"active": 0}, {"wait": -1}, {"warmup": 1.5}])
def test_a_schedule_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match="Schedule"):
        Schedule(**wrong)
