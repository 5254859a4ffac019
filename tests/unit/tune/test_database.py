"""Trials on disk survive kills, strangers and changed spaces."""

import json
import math

import pytest

from rlscope_jax.tune import Param, Sketch, Space
from rlscope_jax.tune.database import Database, Key, key_of
from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.trial import Trial
from tune_tasks import misbehaving, small_table

KEY = Key("small", "none", "0", "0")


@pytest.fixture
def space():
    return small_table().space


@pytest.fixture
def trials(space):
    first, second, third = list(space.every())[:3]
    return [
        Trial(first, 1e-3, 0.8, 0.75, 0.85, 12),
        Trial(second, 2e-3, 2.0, 1.9, 2.1, 6, against=first),
        Trial(third, error="it hung"),
    ]


def test_what_is_added_is_read_back(tmp_path, space, trials):
    database = Database(tmp_path / "new" / "trials.jsonl")
    assert database.trials(space, KEY) == {}
    assert database.reference_seconds(KEY) is None
    database.add_reference(KEY, 1.25e-3)
    for trial in trials:
        database.add(space, KEY, trial)
    found = list(database.trials(space, KEY).values())
    assert found[:2] == trials[:2]
    assert (found[2].candidate, found[2].error, found[2].seconds) == (
        trials[2].candidate,
        "it hung",
        math.inf,
    )
    assert database.reference_seconds(KEY) == 1.25e-3


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_a_last_line_cut_short_costs_that_trial_only(tmp_path, space, trials, cut):
    database = Database(tmp_path / "trials.jsonl")
    for trial in trials[:2]:
        database.add(space, KEY, trial)
    whole = database.path.read_bytes()
    database.path.write_bytes(whole[:-cut])
    kept = 2 if cut == 1 else 1  # without its newline the line is whole all the same
    assert list(database.trials(space, KEY).values()) == trials[:kept]
    database.add(space, KEY, trials[2])  # and does not run into the next one
    assert len(database.trials(space, KEY)) == kept + 1


def test_other_keys_and_garbage_are_passed_over(tmp_path, space, trials):
    database = Database(tmp_path / "trials.jsonl")
    for other in (
        Key("small", "other", "0", "0"),
        Key("small", "none", "1", "0"),
        Key("small", "none", "0", "1"),
    ):
        database.add(space, other, trials[0])
    with database.path.open("ab") as file:
        file.write(b'\xff\xfe\n[1, 2]\nnull\n"text"\n')
        file.write(
            json.dumps({"name": "small", "device": "none", "jax": "0", "task": "0", "sketch": "x"}).encode()
        )
    assert database.trials(space, KEY) == {}
    database.add(space, KEY, trials[0])
    assert list(database.trials(space, KEY).values()) == [trials[0]]


def test_trials_of_values_that_are_gone_are_passed_over_and_domains_may_grow(tmp_path):
    def space_of(*values):
        return Space({"only": Sketch((Param("tile", values),), lambda values: None)})

    small, database = space_of(2, 4), Database(tmp_path / "trials.jsonl")
    for point in small.every():
        database.add(small, KEY, Trial(point, 1e-3 * small.values(point)["tile"], 1, 1, 1, 6))
    grown = space_of(1, 2, 4, 8)
    found = database.trials(grown, KEY).values()
    assert [(grown.values(t.candidate)["tile"], t.seconds) for t in found] == [(2, 2e-3), (4, 4e-3)]
    assert len(database.trials(space_of(4, 16), KEY)) == 1


def test_the_latest_of_several_counts(tmp_path, space, trials):
    database = Database(tmp_path / "trials.jsonl")
    database.add(space, KEY, trials[0])
    again = Trial(trials[0].candidate, 9e-4, 0.7, 0.6, 0.8, 40)
    database.add(space, KEY, again)
    assert list(database.trials(space, KEY).values()) == [again]


def test_a_path_that_cannot_be_written_is_an_error_with_its_name(tmp_path, space, trials):
    (tmp_path / "file").write_text("")
    database = Database(tmp_path / "file" / "trials.jsonl")
    with pytest.raises(TuneError, match=r"cannot write the tuning database .*trials\.jsonl"):
        database.add(space, KEY, trials[0])
    with pytest.raises(TuneError, match="cannot read the tuning database"):
        Database(tmp_path).trials(space, KEY)


def test_the_key_names_machine_jax_and_task():
    import jax

    key = key_of(misbehaving())
    assert key.name == "misbehaving"
    assert key.jax == jax.__version__
    assert key == key_of(misbehaving())
    assert len(key.device) > 4
