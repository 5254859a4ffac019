"""Several windows added up: what only their sum can tell."""

from rlscope_jax.breakdown.windows import _blind


def window(wall, idle, dispatches=0, device_ops=10):
    totals = {"wall": {"raw": wall}, "idle": {"raw": idle}}
    return {"totals": totals, "counts": {"dispatches": dispatches, "device_ops": device_ops}}


def test_windows_that_see_little_of_a_long_call_say_so():
    problem = _blind([window(100, 95), window(100, 45)])
    assert problem["code"] == "long_ops"
    assert problem["message"].startswith("for 70 % of the windows nothing was seen")


def test_a_program_that_calls_may_be_idle():
    assert _blind([window(100, 95), window(100, 95, dispatches=1)]) is None


def test_little_idle_time_is_no_problem():
    assert _blind([window(100, 10), window(100, 40)]) is None


def test_nothing_at_all_is_another_problems_to_tell():
    assert _blind([window(100, 100, device_ops=0)]) is None
