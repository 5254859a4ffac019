"""Trials on disk survive kills, strangers and changed spaces."""

import json
import math
import os
from pathlib import Path

import pytest

from rlscope_jax.tune import Param, Sketch, Space
from rlscope_jax.tune import database as database_module
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


@pytest.mark.parametrize("kind", ["device", "pipe", "folder"])
def test_what_is_no_regular_file_is_neither_read_nor_written(tmp_path, space, trials, kind):
    path = Path(os.devnull) if kind == "device" else tmp_path / kind
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    with pytest.raises(TuneError, match=f"cannot read the tuning database {path}: it is no regular file"):
        Database(path).rows()
    with pytest.raises(TuneError, match=f"cannot write the tuning database {path}: it is no regular file"):
        Database(path).add(space, KEY, trials[0])


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    found = Database(tmp_path / "trials.jsonl")
    found.add_reference(KEY, 1e-3)
    monkeypatch.setattr(database_module, "MOST_BYTES", 10)
    with pytest.raises(TuneError, match=r"trials\.jsonl has 0 MB, too much for a tuning database"):
        Database(found.path).rows()


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, math.inf, 10**400, "1", None, True, [1.0]])
def test_a_reference_without_a_time_is_passed_over(tmp_path, seconds):
    database = Database(tmp_path / "trials.jsonl")
    database.add_reference(KEY, seconds)
    assert database.reference_seconds(KEY) is None
    database.add_reference(KEY, 1e-3)
    assert database.reference_seconds(KEY) == 1e-3


@pytest.mark.parametrize(
    "wrong",
    [
        {"rounds": math.inf},
        {"seconds": 10**400},
        {"seconds": None},
        {"ratio": "x"},
        {"values": [1]},
        {"sketch": ["a"]},
        {"against": 3},
    ],
)
def test_a_trial_that_is_not_whole_is_passed_over(tmp_path, space, trials, wrong):
    database = Database(tmp_path / "trials.jsonl")
    database._append(vars(KEY) | trials[0].to_json(space) | wrong)
    assert database.trials(space, KEY) == {}


def test_the_file_is_read_again_only_when_another_one_wrote(tmp_path, space, trials, monkeypatch):
    reads, read = [], Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda path, **more: reads.append(path) or read(path, **more))
    mine, other = Database(tmp_path / "trials.jsonl"), Database(tmp_path / "trials.jsonl")
    other.add_reference(KEY, 1e-3)
    for trial in trials:
        assert mine.reference_seconds(KEY) == 1e-3
        mine.add(space, KEY, trial)
        assert mine.trials(space, KEY)[trial.candidate].error == trial.error
    assert len(reads) == 1
    other.add_winner(space, KEY, trials[0].candidate, None)
    mine.add_weight(KEY, 1.0, "step")  # what the other one wrote is not lost by that
    assert mine.winner(space, KEY) == trials[0].candidate
    assert len(reads) == 2
    assert mine.rows() == Database(mine.path).rows()
    mine.path.unlink()
    assert mine.rows() == []
