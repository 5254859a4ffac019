"""A result is compared with the reference's before its time counts."""

import dataclasses
from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest

from rlscope_jax.tune import Param, Sketch, TuneTask
from tune_tasks import double, misbehaving


@pytest.fixture
def task():
    x = np.arange(8, dtype=np.float32)
    return TuneTask("double", (x,), double, {"only": Sketch((Param("a", (1, 2)),), lambda values: double)})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda y: y, None),
        (lambda y: y + 5e-5, None),
        (jnp.asarray, None),
        (lambda y: y + 1e-2, "differs from the reference in 100.0% of its elements, by up to 0.01"),
        (lambda y: np.where(y == 4, 5, y).astype(y.dtype), "in 12.5% of its elements, by up to 1"),
        (
            lambda y: np.where(y == 4, np.nan, y).astype(y.dtype),
            "NaNs or infinities that the reference has not",
        ),
        (lambda y: y[:4], r"float32\(4,\), the reference's float32\(8,\)"),
        (lambda y: y.astype(np.float64), r"float64\(8,\), the reference's float32"),
        (lambda y: (y, y), "2 results where the reference has 1"),
    ],
)
def test_what_is_wrong_is_said(task, change, words):
    found = task.check(change(task.args[0] * 2))
    if words is None:
        assert found is None
    else:
        import re

        assert re.search(words, found)


def test_nans_of_the_reference_must_be_there_too():
    x = np.array([1, np.nan], np.float32)
    task = TuneTask("nan", (x,), double, {"only": Sketch((Param("a", (1,)),), lambda values: double)})
    assert task.check(x * 2) is None
    assert "NaNs" in task.check(np.array([2, 2], np.float32))


def test_nested_results_are_compared_leaf_by_leaf():
    task = TuneTask(
        "nested",
        (np.ones(3, np.float32),),
        lambda x: {"sum": x.sum(), "both": (x, np.arange(3))},
        {"only": Sketch((Param("a", (1,)),), lambda values: None)},
    )
    right = {"both": (np.ones(3, np.float32), np.arange(3)), "sum": np.float32(3)}
    assert task.check(right) is None
    assert "result 1 differs" in task.check(right | {"both": (np.ones(3, np.float32), np.arange(3) + 1)})


def test_a_task_may_say_itself_what_equal_means(task):
    def same_sum(found, expected):
        return None if found.sum() == expected.sum() else "another sum"

    task = dataclasses.replace(task, equal=same_sum)
    assert task.check(task.args[0][::-1] * 2) is None
    assert task.check(task.args[0]) == "another sum"


def test_the_digest_changes_with_what_matters_and_with_nothing_else(task):
    def other(x):
        return x + x

    same = dataclasses.replace(task, weight=3.0, args=(task.args[0] + 1,))
    assert same.digest == task.digest
    sketch = task.sketches["only"]
    for change in (
        {"name": "twice"},
        {"args": (np.zeros(9, np.float32),)},
        {"args": (task.args[0].astype(np.float16),)},
        {"reference": other},
        {"rtol": 1e-3},
        {"sketches": {"only": sketch.within(a=(1,))}},
        {"sketches": {"other": sketch}},
        {"reference": partial(double, 1)},
    ):
        assert dataclasses.replace(task, **change).digest != task.digest, change


def test_building_goes_through_the_sketch():
    task = misbehaving()
    right, raises = (task.space.candidate("only", {"how": how}) for how in ("right", "raises"))
    assert task.check(task.build(right)(*task.args)) is None
    assert task.export(right)(*task.args) is not None  # no export of its own: the built one
    with pytest.raises(ValueError, match="no such schedule"):
        task.build(raises)
