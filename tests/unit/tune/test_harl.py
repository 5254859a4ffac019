"""The parts of the search after HARL: the bandit, the space as arrays, stopping, carrying over, ablations."""

import numpy as np
import pytest

from rlscope_jax.tune import Param, Sketch, Space
from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.harl.bandit import SlidingUcb
from rlscope_jax.tune.search import search
from rlscope_jax.tune.searchers import make_searcher
from rlscope_jax.tune.table import TableMeasurer
from tune_tasks import small_table

pytest.importorskip("flax", reason="needs the extra tune")
pytest.importorskip("optax", reason="needs the extra tune")
SMALL = {"tracks": 16, "steps": 6, "every": 3}


def run(table, trials, **options):
    searcher = make_searcher("harl", table.space, 0, **SMALL, **options)
    return searcher, search(searcher, TableMeasurer(table), trials)


def test_the_bandit_tries_all_then_prefers_what_paid_and_follows_a_change():
    bandit = SlidingUcb(3, window=30, exploration=0.05)
    assert bandit.choose(3) == [0, 1, 2]
    pulls = []
    for number in range(120):
        (arm,) = bandit.choose()
        pulls.append(arm)
        bandit.reward(arm, float(arm == (1 if number < 60 else 2)))
    assert pulls[30:60].count(1) > 20
    assert pulls[90:].count(2) > 20
    assert len(bandit.rewards) == 30


def test_the_bounds_are_those_of_the_formula():
    bandit = SlidingUcb(2, window=10, exploration=0.5)
    for arm, reward in ((0, 1.0), (0, 0.5), (1, 0.25)):
        bandit.reward(arm, reward)
    bonus = np.sqrt(0.5 * np.log(4) / np.array([2, 2]))
    np.testing.assert_allclose(bandit.bounds(pending=[1]), np.array([0.75, 0.25]) + bonus)


def test_arrays_say_what_the_space_says():
    from rlscope_jax.tune.harl.arrays import arrays_of, features_of, moves_of

    space = small_table().space
    arrays = arrays_of(space)
    points = list(space.every())
    sketch = np.array([space.names.index(point.sketch) for point in points])
    levels = np.array([[*p.levels, *[0] * (space.width - len(p.levels))] for p in points])
    np.testing.assert_allclose(features_of(arrays, sketch, levels), space.encode(points), atol=1e-6)
    moves = np.asarray(moves_of(arrays, sketch, levels))
    assert moves.shape == (len(points), 2 * space.width + 1)
    assert moves[:, -1].all()
    for point, allowed in zip(points, moves, strict=True):
        near = space.neighbours(point)
        for place in range(space.width):
            for step in (0, 1):
                there = place < len(point.levels) and near[2 * place + step] is not None
                assert allowed[step * space.width + place] == there


@pytest.mark.parametrize("alone", [True, False])
def test_sketches_need_no_parameters(alone):
    """Their features are that they are they; nothing moves in them."""
    from rlscope_jax.tune.harl.arrays import arrays_of, features_of, moves_of

    plain = {name: Sketch((), lambda values: None) for name in ("a", "b")}
    more = {} if alone else {"c": Sketch((Param("n", (1, 2)),), lambda values: None)}
    space = Space(plain | more)
    arrays, points = arrays_of(space), list(space.every())
    sketch = np.array([space.names.index(point.sketch) for point in points])
    levels = np.array([[*point.levels, 0][:1] for point in points])
    np.testing.assert_allclose(features_of(arrays, sketch, levels), space.encode(points), atol=1e-6)
    moves = np.asarray(moves_of(arrays, sketch, levels))
    assert moves.tolist() == [
        [False, False, True],
        [False, False, True],
        *[[False, True, True], [True, False, True]][: len(points) - 2],
    ]
    searcher = make_searcher("harl", space, 0, **SMALL)
    found = searcher.propose(1)
    searcher.observe(found, [1.0])
    assert {*found, *searcher.propose(8)} == set(points)


def test_a_validity_that_raises_is_said():
    from rlscope_jax.tune.harl.arrays import arrays_of

    sketch = Sketch((Param("n", (1, 2)),), lambda values: None, valid=lambda values: values["none"])
    with pytest.raises(TuneError, match="sketch 'a': `valid` raised KeyError"):
        arrays_of(Space({"a": sketch}))


@pytest.mark.slow
def test_every_ablation_searches_and_differs():
    table = small_table()  # four batches: what the policy learned of the second shows in the last
    found = {
        name: run(table, 32, **options)[1].trials
        for name, options in {
            "all": {},
            "bandit": {"bandit": False},
            "stopping": {"stopping": False},
            "learning": {"learning": False},
        }.items()
    }
    assert all(len(trials) == 32 for trials in found.values())
    assert len({tuple(trial.candidate for trial in trials) for trials in found.values()}) == 4


def test_a_policy_and_its_trials_go_to_the_next_task():
    import jax

    table = small_table()
    first, _ = run(table, 24)
    carried = first.carried
    assert len(carried.times) == 24
    fresh, _ = run(table, 0)
    follower, _ = run(table, 0, carried=carried)
    one, other, new = (
        np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(searcher.agent.params)])
        for searcher in (first, follower, fresh)
    )
    np.testing.assert_array_equal(one, other)
    assert (one != new).any()
    # It knows the times already: its first batch is no worse than the median of what is to be had.
    batch = follower.propose(8)
    median = np.median([time for time in table.seconds.values() if np.isfinite(time)])
    assert np.median([table.seconds[candidate] for candidate in batch]) < median
    assert np.isnan(fresh.rounds[-1].entropy) if fresh.propose(8) else False


def test_a_stopped_track_goes_on_from_a_spare_start():
    import jax

    from rlscope_jax.tune.harl.tracks import Plan, walk

    table = small_table()
    searcher, _ = run(table, 8)
    arms = [0, 1] * 4
    starts = searcher._starts(arms)
    key = jax.random.key(0)
    model = searcher._model.params
    for plan in (Plan(6, 3), Plan(6, 0)):
        _, came = walk(searcher.agent, model, searcher._arrays, starts, key, plan)
        levels, sketch = np.asarray(came.levels), np.asarray(came.sketch)
        jumps = np.abs(np.diff(levels, axis=0)).sum(axis=-1) + (np.diff(sketch, axis=0) != 0)
        if plan.every:
            assert (jumps[:3] <= 1).all()
            assert (jumps > 1).sum() > 0  # only where tracks were stopped
            assert (np.argwhere(jumps > 1)[:, 0] == 3).all()
        else:
            assert (jumps <= 1).all()
        assert float(came.entropy) > 0
