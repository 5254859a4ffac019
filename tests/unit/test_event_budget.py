"""When a window is full: from the size of an earlier one, else from what the process grew by."""

import pytest

from rlscope_jax import _process
from rlscope_jax.annotate import _traced
from rlscope_jax.capture import _budget
from rlscope_jax.capture._budget import BYTES_RECORDING, BYTES_WRITTEN, EventBudget

MB = 1 << 20


@pytest.fixture
def memory(monkeypatch):
    """What the process holds, in bytes, to be changed by the test."""
    held = [100 * MB]
    monkeypatch.setattr(_budget, "resident_bytes", lambda: held[0])
    monkeypatch.setattr(_budget, "ASK_AGAIN_NS", 0)
    return held


def grow(budget, memory, events):
    memory[0] += events * BYTES_RECORDING
    budget.step()


def test_growth_is_counted_as_events(memory):
    budget = EventBudget(limit=3500)
    budget.open()
    full = []
    for _ in range(4):
        grow(budget, memory, 1000)
        full.append(budget.is_full)
    assert full == [False, False, True, True]  # after three steps, a fourth would be too much
    assert budget.estimate == 4000


def test_during_short_steps_the_system_is_asked_now_and_then(memory, monkeypatch):
    now = [0]
    monkeypatch.setattr(_budget, "ASK_AGAIN_NS", 1_000_000)
    monkeypatch.setattr(_budget.time, "monotonic_ns", lambda: now[0])
    budget = EventBudget(limit=10_000)
    budget.open()
    estimates = []
    for _ in range(100):
        now[0] += 30_000
        grow(budget, memory, 10)
        estimates.append(budget.estimate)
    assert estimates == [10 * steps for steps in range(1, 101)]
    asked = []
    monkeypatch.setattr(_budget, "resident_bytes", lambda: asked.append(1) or memory[0])
    for _ in range(100):
        now[0] += 30_000
        grow(budget, memory, 10)
    assert len(asked) == 3


def test_what_the_first_step_took_does_not_end_the_window_of_short_steps(memory, monkeypatch):
    monkeypatch.setattr(_budget, "ASK_AGAIN_NS", 1_000_000)
    monkeypatch.setattr(_budget.time, "monotonic_ns", lambda: 5)  # all within a millisecond
    budget = EventBudget(limit=10_000)
    budget.open()
    grow(budget, memory, 4000)  # the recorder's first memory, or the program's
    full = []
    for _ in range(50):
        grow(budget, memory, 10)
        full.append(budget.is_full)
    assert not any(full)
    assert 4500 <= budget.estimate < 10_000


def test_a_step_that_compiles_is_not_measured(memory, monkeypatch):
    budget = EventBudget(limit=3500)
    budget.open()
    monkeypatch.setattr(_traced, "compiles", _traced.compiles + 1)
    grow(budget, memory, 1_000_000)
    assert (budget.estimate, budget.is_full) == (0, False)
    grow(budget, memory, 1000)
    assert budget.estimate == 2000  # both steps, at the second's rate


def test_a_window_written_out_tells_more_than_memory(memory):
    budget = EventBudget(limit=3500)
    budget.open()
    budget.step()
    budget.step()
    budget.close(written=2 * 500 * BYTES_WRITTEN)
    budget.open()
    full = []
    for _ in range(7):
        grow(budget, memory, 1_000_000)  # the recorder's memory is used again; this is the user's
        full.append(budget.is_full)
    assert full == [False] * 6 + [True]
    assert budget.estimate == 3500


def test_a_window_that_compiled_tells_nothing(memory, monkeypatch):
    budget = EventBudget(limit=3500)
    budget.open()
    monkeypatch.setattr(_traced, "compiles", _traced.compiles + 1)
    budget.step()
    budget.close(written=10 * MB)
    budget.open()
    budget.step()
    assert budget.estimate == 0


def test_without_a_limit_nothing_is_full(memory):
    budget = EventBudget(limit=None)
    budget.open()
    grow(budget, memory, 10**9)
    assert not budget.is_full


def test_a_system_that_does_not_tell_its_memory(monkeypatch):
    def missing(*_):
        raise FileNotFoundError

    monkeypatch.setattr(_process.os, "pread", missing)
    budget = EventBudget(limit=1)
    budget.open()
    budget.step()
    assert (budget.estimate, budget.is_full) == (0, False)
