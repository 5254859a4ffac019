"""A result is compared with the reference's before its time counts."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rlscope_jax.tune import Param, Sketch, TuneTask
from rlscope_jax.tune.backends import jaxprog
from rlscope_jax.tune.source import source_of
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
        lambda x: {"sum": x.sum(), "both": (x, np.arange(3, dtype=np.int32))},
        {"only": Sketch((Param("a", (1,)),), lambda values: None)},
    )
    ones, numbers = np.ones(3, np.float32), np.arange(3, dtype=np.int32)
    assert task.check({"both": (ones, numbers), "sum": np.float32(3)}) is None
    assert "result 1 differs" in task.check({"both": (ones, numbers + 1), "sum": np.float32(3)})


@pytest.mark.parametrize("changed", [{"a": 1.0}, [1.0, 2.0], {"a": (1.0, 2.0)}])
def test_the_structure_counts(changed):
    sketches = {"only": Sketch((Param("a", (1,)),), lambda values: None)}
    task = TuneTask("tree", (np.float32(1),), lambda x: {"a": x, "b": x * 2}, sketches)
    assert task.check({"b": np.float32(2), "a": np.float32(1)}) is None
    assert "the reference" in task.check(jax.tree.map(np.float32, changed))


@pytest.mark.parametrize(
    ("dtype", "slip"), [(jnp.bfloat16, 0.015625), (np.int64, 1), (np.complex64, 1e-2j), (np.float64, 1e-2)]
)
def test_other_types_are_compared_as_jax_computes_them(dtype, slip):
    sketches = {"only": Sketch((Param("a", (1,)),), lambda values: None)}
    task = TuneTask("type", (np.ones(4, dtype),), double, sketches, rtol=1e-3)
    right = jax.jit(double)(*task.args)  # int32 of int64
    assert task.check(right) is None
    assert f"in 100.0% of its elements, by up to {abs(slip):.2g}" in task.check(
        right + jnp.asarray(slip, right.dtype)
    )


def test_random_keys_may_be_results():
    sketches = {"only": Sketch((Param("a", (1,)),), lambda values: None)}
    task = TuneTask("keys", (jax.random.key(0),), lambda key: jax.random.split(key)[0], sketches)
    assert task.check(jax.random.split(jax.random.key(0))[0]) is None
    assert "differs" in task.check(jax.random.key(0))
    assert task.digest


def test_a_changed_task_has_its_own_right_result(task):
    assert task.check(task.args[0] * 2) is None
    other = dataclasses.replace(task, args=(task.args[0] + 1,))
    assert other.check(other.args[0] * 2) is None
    assert dataclasses.replace(task, reference=jnp.negative).check(-task.args[0]) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": 3}, "name must be text"),
        ({"args": np.zeros(3)}, "args must be a tuple"),
        ({"reference": None}, "reference must be a function"),
        ({"sketches": {}}, "at least one name -> Sketch"),
        ({"sketches": {"only": double}}, "at least one name -> Sketch"),
    ],
)
def test_what_makes_no_task_is_refused(task, change, words):
    with pytest.raises(ValueError, match=words):
        dataclasses.replace(task, **change)


def test_a_task_may_say_itself_what_equal_means(task):
    def same_sum(found, expected):
        return None if found.sum() == expected.sum() else "another sum"

    task = dataclasses.replace(task, equal=same_sum)
    assert task.check(task.args[0][::-1] * 2) is None
    assert task.check(task.args[0]) == "another sum"
    with pytest.raises(TypeError, match="must say what is wrong, or return None; it returned False"):
        dataclasses.replace(task, equal=lambda found, expected: False).check(task.args[0])


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


class Power:
    def __init__(self, exponent):
        self.exponent = exponent

    def __call__(self, x):
        return x**self.exponent


def multiply(factor, by=1):
    def run(x):
        return x * factor * by

    return run


@pytest.mark.parametrize(
    "make",
    [
        multiply,
        Power,
        lambda n: Power(n).__call__,
        lambda n: partial(double, multiply(n)),
        lambda n: partial(partial, {"deep": [multiply(1), {n}]}),
        lambda n: jax.jit(multiply(n)),
        lambda n: multiply(1, by=n),
        lambda n: lambda x, n=n: x * n,
        lambda n: jaxprog.maps(multiply(n), 4)["vmap"].build,
        lambda n: partial(double, np.zeros(n)),
    ],
)
def test_a_source_is_the_same_in_every_process_and_another_for_what_is_bound(make):
    assert source_of(make(2)) == source_of(make(2))
    assert source_of(make(2)) != source_of(make(3))
    assert "0x" not in source_of(make(2))


def halve(x):
    return x / 2


def quarter(x):
    return [halve(one) for one in halve(x)]


def test_a_source_holds_the_functions_of_its_module_that_it_names():
    assert "return x / 2" in source_of(quarter)
    assert "return x / 2" in source_of(partial(double, quarter))


def test_functions_that_hold_each_other_have_a_source_too():
    def one(x):
        return other(x)

    def other(x):
        return one(x)

    assert "return other(x)" in source_of(one)


def test_building_goes_through_the_sketch():
    task = misbehaving()
    right, raises = (task.space.candidate("only", {"how": how}) for how in ("right", "raises"))
    assert task.check(task.build(right)(*task.args)) is None
    assert task.export(right)(*task.args) is not None  # no export of its own: the built one
    with pytest.raises(ValueError, match="no such schedule"):
        task.build(raises)
