"""Measured tables: the format, what the committed ones promise, and their surrogates."""

from pathlib import Path

import numpy as np
import pytest

from rlscope_jax.tune.backends.halide.tasks import TASKS
from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.surrogate import fit, smooth
from rlscope_jax.tune.table import Table, TableMeasurer
from tune_tasks import small_table

TABLES = Path(__file__).resolve().parents[3] / "benchmarks" / "tune_tables"


def test_a_table_is_read_as_it_was_written(tmp_path):
    table = small_table()
    table.save(tmp_path / "small.npz")
    found = Table.load(tmp_path / "small.npz")
    assert found.header == table.header
    assert found.candidates == table.candidates
    assert found.seconds == table.seconds
    assert list(found.space.every()) == table.candidates
    assert found.space.is_valid(table.candidates[3])


def test_a_failure_is_a_failed_trial():
    table = small_table()
    good, bad = TableMeasurer(table).measure([table.candidates[4], table.candidates[5]])
    assert good.seconds == pytest.approx(float(table.rows["ratio"][4]) * 1e-3)
    assert bad.error is not None
    (also_bad,) = TableMeasurer(table, smooth=True).measure([table.candidates[5]])
    assert also_bad.error is not None


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"not a table"])
def test_what_is_no_table_is_refused(tmp_path, content):
    path = tmp_path / "x.npz"
    path.write_bytes(content)
    with pytest.raises(TuneError, match=r"x\.npz is no table of measurements"):
        Table.load(path)
    with pytest.raises(TuneError, match="is no table"):
        Table.load(tmp_path / "missing.npz")


@pytest.mark.parametrize("name", TASKS)
def test_committed_tables_are_complete(name):
    table = Table.load(TABLES / f"{name}.npz")
    ratios = table.rows["ratio"]
    assert table.name == name
    assert len(table.candidates) == len(set(table.candidates)) >= 2000
    assert len({point.sketch for point in table.candidates}) >= 2
    assert np.isfinite(ratios).mean() > 0.95
    done = np.isfinite(ratios)
    assert (table.rows["low"][done] <= ratios[done]).all()
    assert (ratios[done] <= table.rows["high"][done]).all()
    assert np.nanmax(ratios) > 3 * np.nanmin(ratios)  # good and bad points
    # The points are points of the task as it is now.
    now = TASKS[name]().space
    for point in table.candidates[::97]:
        assert now.is_valid(now.candidate(point.sketch, table.space.values(point)))


def test_committed_tables_are_small():
    assert sum(path.stat().st_size for path in TABLES.glob("*.npz")) < 300_000


def test_a_surrogate_is_fitted_the_same_way_again():
    table = Table.load(TABLES / "policy_layer.npz")
    np.testing.assert_allclose(smooth(table), table.rows["smooth"], rtol=1e-3)


def test_the_surrogate_is_nearer_to_the_truth_than_the_measurements():
    rng, table = np.random.default_rng(0), small_table()
    points = np.array([point.levels for point in table.space.every("tiles")], float)
    truth = np.log(1 + np.abs(points[:, 0] - 2)) + 0.2 * points[:, 1] * (points[:, 2] == 1)
    noise = np.full(len(points), 0.2)
    noisy = truth + rng.normal(0, noise)
    fitted = fit(points, noisy, noise)
    assert np.mean((fitted - truth) ** 2) < 0.5 * np.mean((noisy - truth) ** 2)
    exact = fit(points, truth, np.full(len(points), 1e-3))
    np.testing.assert_allclose(exact, truth, atol=0.01)
