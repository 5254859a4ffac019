"""Every algorithm keeps the same rules; a search that was killed goes on to the same end."""

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rlscope_jax.tune import searchers
from rlscope_jax.tune.database import Database, Key
from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.measure import Recorded
from rlscope_jax.tune.search import search
from rlscope_jax.tune.searchers import SEARCHERS, make_searcher
from rlscope_jax.tune.table import TableMeasurer
from tune_tasks import small_table

OPTIONS = {
    "evolutionary": {"population": 64, "generations": 2},
    "harl": {"tracks": 16, "steps": 6, "every": 3},
}
NEEDS = {"evolutionary": "optax", "tpe": "optuna", "harl": "flax"}


@pytest.fixture(params=list(SEARCHERS))
def algorithm(request):
    if request.param in NEEDS:
        pytest.importorskip(NEEDS[request.param])
    return request.param


@pytest.fixture
def table():
    return small_table()


def run(algorithm, table, trials, seed=0, measurer=None, **more):
    searcher = make_searcher(algorithm, table.space, seed, **OPTIONS.get(algorithm, {}))
    return search(searcher, measurer or TableMeasurer(table), trials, **more)


def test_a_search_repeats_with_its_seed_and_never_repeats_a_point(algorithm, table):
    found = run(algorithm, table, 40)
    assert repr(found) == repr(run(algorithm, table, 40))  # from Python 3.13 on no NaN equals another
    assert repr(found) != repr(run(algorithm, table, 40, seed=1))
    points = [trial.candidate for trial in found.trials]
    assert len(points) == len(set(points)) == 40
    assert all(table.space.is_valid(point) for point in points)


def test_failures_are_seen_and_survived(algorithm, table):
    class Failing(TableMeasurer):
        def measure(self, candidates):
            found = super().measure(candidates)
            return [t if i % 2 else type(t)(t.candidate, error="it hung") for i, t in enumerate(found)]

    found = run(algorithm, table, 32, measurer=Failing(table))
    assert sum(trial.error is not None for trial in found.trials) >= 16
    assert found.best.error is None


def test_a_space_may_end_before_the_trials_do(algorithm, table):
    few = small_table()
    keep = np.arange(10)
    few.rows.update({name: column[keep] for name, column in few.rows.items()})
    found = run(algorithm, few, 30)
    assert {trial.candidate for trial in found.trials} == set(few.candidates)


@pytest.mark.parametrize("algorithm", ["evolutionary", "tpe", "harl"])
def test_learning_beats_chance(algorithm, table):
    pytest.importorskip(NEEDS[algorithm])
    finals = {
        name: np.mean([np.log(run(name, table, 32, seed).best.seconds) for seed in range(4)])
        for name in ("random", algorithm)
    }
    assert finals[algorithm] < finals["random"]


def test_what_is_known_from_elsewhere_is_not_proposed(algorithm, table):
    searcher = make_searcher(algorithm, table.space, 0, **OPTIONS.get(algorithm, {}))
    known = table.candidates[:40]
    searcher.observe(known, [table.seconds[point] for point in known])
    proposed = searcher.propose(16)
    assert len(proposed) == 16
    assert not set(proposed) & set(known)


KILLED = """
import os, signal, sys
import tune_tasks
from rlscope_jax.tune.database import Database, Key
from rlscope_jax.tune.measure import Recorded
from rlscope_jax.tune.search import search
from rlscope_jax.tune.searchers import make_searcher
from rlscope_jax.tune.table import TableMeasurer

class Killed(TableMeasurer):
    left = int(sys.argv[2])
    def measure(self, candidates):
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1
        return super().measure(candidates)

table = tune_tasks.small_table()
measurer = Recorded(Killed(table), Database(sys.argv[1]), table.space, Key("small", "none", "0", "0"))
search(make_searcher("random", table.space, 0), measurer, 24)
"""


def test_killed_again_and_again_it_comes_to_the_same(tmp_path, table):
    path, whole = tmp_path / "trials.jsonl", run("random", table, 24)
    for trials in (1, 7, 9):  # 17 in all: killed within the first batch, between, within the third
        killed = subprocess.run(
            [sys.executable, "-c", KILLED, str(path), str(trials)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert killed.returncode == -signal.SIGKILL
    assert len(path.read_text().splitlines()) == 17
    key = Key("small", "none", "0", "0")
    measurer = Recorded(TableMeasurer(table), Database(path), table.space, key)
    resumed = run("random", table, 24, measurer=measurer)
    assert [t.candidate for t in resumed.trials] == [t.candidate for t in whole.trials]
    assert [t.seconds for t in resumed.trials] == [t.seconds for t in whole.trials]


def test_killed_after_any_trial_every_algorithm_resumes(algorithm, table, tmp_path):
    class Killed(Exception):
        pass

    class Dying(TableMeasurer):
        left = 0

        def measure(self, candidates):
            self.left -= 1
            if self.left < 0:
                raise Killed
            return super().measure(candidates)

    whole, key = run(algorithm, table, 24), Key("small", "none", "0", "0")
    for left in (0, 1, 8, 13):
        database = Database(tmp_path / f"{left}.jsonl")
        dying = Dying(table)
        dying.left = left
        with pytest.raises(Killed):
            run(algorithm, table, 24, measurer=Recorded(dying, database, table.space, key))
        assert len(database.trials(table.space, key)) == left
        resumed = run(
            algorithm, table, 24, measurer=Recorded(TableMeasurer(table), database, table.space, key)
        )
        assert [(t.candidate, t.seconds) for t in resumed.trials] == [
            (t.candidate, t.seconds) for t in whole.trials
        ]


def test_the_callback_hears_every_trial_once(table):
    heard = []
    found = run("random", table, 20, on_trials=heard.extend, batch=6)
    assert tuple(heard) == found.trials
    curve = found.best_so_far()
    assert curve.shape == (20,)
    assert curve[-1] == found.best.seconds
    assert (np.diff(curve) <= 0).all()


def test_an_unknown_algorithm_is_named(table):
    with pytest.raises(
        TuneError, match="no search algorithm 'annealing'; there are random, evolutionary, tpe, harl"
    ):
        make_searcher("annealing", table.space)


def test_the_baselines_are_frozen():
    """What a learned search is compared with must not change with it.

    Whoever mends a baseline measures anew whatever was compared with it, and sets the digest.
    """
    folder = Path(searchers.__file__).parent
    names = ("../cost_model.py", "evolutionary.py", "random.py", "tpe.py")
    found = hashlib.sha256(b"".join((folder / name).read_bytes() for name in names)).hexdigest()
    assert found.startswith("b3eb243a2d0cebf0")
