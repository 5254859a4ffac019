"""Several windows added up: what only their sum can tell."""

from rlscope_jax.breakdown.windows import _blind, _overhead


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


def corrected(method, wall, removed=40, anchors=None, reason=None):
    known = method != "none"
    figure = {
        "raw": wall,
        "corrected": wall - removed if known else None,
        "interval": [0, wall] if known else None,
    }
    overhead = {
        "correction": method,
        "inflation": 2.0 if known else None,
        "removed": {"ns": removed, "interval": [removed - 10, removed + 10]} if known else None,
        "constants": {},
        "anchors": anchors,
        "reason": reason,
    }
    return {"totals": {"wall": figure}, "overhead": overhead}


def test_what_was_removed_adds_up_with_its_interval():
    told = _overhead([corrected("calibrated", 100), corrected("calibrated", 100, 60)])
    assert told["removed"] == {"ns": 100, "interval": [80, 120]}
    assert told["inflation"] == 2.0


def test_windows_corrected_in_two_ways_are_named_by_the_larger_part():
    anchors = {"iterations": 7, "base_ns": 3}
    told = _overhead([corrected("anchored", 100, anchors=anchors), corrected("calibrated", 30, 10)])
    assert (told["correction"], told["anchors"], told["removed"]["ns"]) == ("anchored", anchors, 50)


def test_of_several_calls_the_iterations_are_added():
    calls = [{"iterations": count, "base_ns": base} for count, base in ((7, 3), (7, 3), (5, 4))]
    told = _overhead([corrected("anchored", 100, anchors=anchors) for anchors in calls])
    assert told["anchors"] == {"iterations": 12, "base_ns": None, "calls": 2}


def test_one_window_that_is_not_corrected_leaves_all_raw_and_is_said():
    told = _overhead([corrected("anchored", 100, anchors={}), corrected("none", 100, reason="no call")])
    assert (told["correction"], told["removed"], told["anchors"]) == ("none", None, None)
    assert told["reason"] == "1 of 2 windows are not corrected: no call"
