"""Long calls told from their outputs: arrays that become ready in the end, here by the test's own clock."""

import gc

import pytest

from rlscope_jax.record import calls
from rlscope_jax.record.calls import Calls

SECOND = 1_000_000_000


class Array:
    """An array of a program's."""

    def __init__(self, fails=False):
        self.ready = self.deleted = False
        self.fails = fails

    def is_deleted(self):
        return self.deleted

    def is_ready(self):
        if self.deleted:
            raise RuntimeError("deleted")
        return self.ready

    def block_until_ready(self):
        assert self.ready  # else it would wait
        if self.fails:
            raise ValueError("the callback said so")


class Program:
    """Live arrays, and a clock."""

    def __init__(self, monkeypatch, is_wanted=lambda begin, end: True):
        self.arrays, self.now = [], 1000 * SECOND
        monkeypatch.setattr(calls.time, "time_ns", lambda: self.now)
        self.calls = Calls(is_wanted, lambda: self.arrays)

    def look(self, seconds=1.0):
        """Let time pass, then look."""
        self.now += round(seconds * SECOND)
        self.calls._look()

    def found(self):
        """(begin, end) of the calls in seconds, each moment in the middle between two looks."""
        return [
            ((c.begin_unix_ns / SECOND) - 1000, (c.end_unix_ns / SECOND) - 1000) for c in self.calls.found()
        ]


@pytest.fixture
def program(monkeypatch):
    return Program(monkeypatch)


def test_a_call_lasts_from_when_its_output_is_awaited_to_when_it_is_ready(program):
    program.look()
    program.arrays = [Array(), Array()]
    for _ in range(5):
        program.look()
    assert program.found() == []
    program.arrays[0].ready = program.arrays[1].ready = True
    program.look()
    assert program.found() == [(1.5, 6.5)]
    assert program.calls.found()[0].doubt_ns == SECOND


def test_calls_that_wait_for_each_other_are_told_apart(program):
    first, second = Array(), Array()
    program.arrays = [second, first]
    program.look()
    program.look()
    first.ready = True
    program.look()
    program.look()
    second.ready = True
    program.look()
    assert program.found() == [(0.5, 2.5), (2.5, 4.5)]


def test_what_is_computed_beside_a_long_call_does_not_end_it(program):
    short, long = Array(), Array()
    program.arrays = [long, short]
    program.look(0.1)
    short.ready = True
    program.look(0.1)
    for _ in range(3):
        program.look()
    long.ready = True
    program.look()
    [(begin, end)] = program.found()
    assert (begin, end) == (pytest.approx(0.05), pytest.approx(3.7))


def test_an_output_dropped_before_the_last_look_is_held(program):
    program.arrays = [Array()]
    program.look()
    program.look()
    output = program.arrays.pop()
    output.ready = True
    del output
    gc.collect()
    program.calls.close()
    assert len(program.found()) == 1


def test_outputs_of_short_calls_are_not_held(program):
    program.arrays = [Array()]
    program.look(0.1)
    alive = program.calls._watched[0]
    program.look(0.1)
    program.arrays.clear()
    gc.collect()
    assert alive.array is None
    program.look(0.1)
    assert program.found() == []


@pytest.mark.parametrize("gone", ["donated", "failed", "never"])
def test_a_call_that_did_not_end_well_is_not_told(program, gone):
    output = Array(fails=gone == "failed")
    program.arrays = [output]
    for _ in range(3):
        program.look()
    output.deleted, output.ready = gone == "donated", gone == "failed"
    program.look()
    program.calls.close()
    assert program.found() == []
    assert program.calls._watched == []


def test_only_calls_that_hold_windows_are_kept(monkeypatch):
    program = Program(monkeypatch, is_wanted=lambda begin, end: False)
    program.arrays = [Array()]
    program.look()
    program.look()
    program.arrays[0].ready = True
    program.look()
    assert program.found() == []


def test_a_failing_look_ends_the_looking_only(monkeypatch):
    def fails():
        raise RuntimeError("no backend")

    found = Calls(lambda begin, end: True, fails)
    found.start()
    found._thread.join()
    found.close()
    assert found.found() == []


def test_time_in_which_the_process_was_stopped_is_told(program, monkeypatch):
    program.arrays = [Array()]
    program.look()
    clock = iter([0.0, 5.0])
    monkeypatch.setattr(calls.time, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(calls.time, "process_time", lambda: 0.0)
    program.now += SECOND
    program.calls._wait(0.0)
    program.arrays[0].ready = True
    program.look()
    assert program.calls.found()[0].stopped_ns == 5 * SECOND
