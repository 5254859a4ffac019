"""What a record says of its searches: each search's own curve, whoever wrote what into the same file."""

import io
import json
import math
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from rlscope_jax.reporters.searches import render
from rlscope_jax.tune.beside import BesideProfile
from rlscope_jax.tune.database import Database, Key
from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.searches import RECORD_NAME, tuning_of
from rlscope_jax.tune.timing import Paired
from rlscope_jax.tune.trial import Trial
from tuning_record import REFERENCE, space_of, write_record, write_search

KEY = Key("conv", "a machine", "0.10.2", "00ff")
OTHER = Key("dense", "a machine", "0.10.2", "00aa")


@pytest.fixture
def database(tmp_path):
    return Database(tmp_path / "record.jsonl")


def task_of(database):
    (task,) = tuning_of(database.rows())["tasks"]
    return task


def best_of(trials):
    """Where the best time fell, worked out the long way."""
    times = [trial.seconds for trial in trials]
    return [[n + 1, t] for n, t in enumerate(times) if t < min(times[:n], default=math.inf)]


def test_each_search_has_its_own_curve_though_trials_are_written_once(database):
    first = write_search(database, KEY, "random", seed=0, trials=20)
    second = write_search(database, KEY, "harl", seed=1)
    assert sum("sketch" in row for row in database.rows()) < 44  # some of the second's were known
    task = task_of(database)
    assert [(one["algorithm"], one["seed"], one["trials"]) for one in task["searches"]] == [
        ("random", 0, 20),
        ("harl", 1, 24),
    ]
    for told, trials in zip(task["searches"], (first, second), strict=True):
        assert told["best"] == best_of(trials)
        assert told["failed"] == sum(trial.error is not None for trial in trials)
        assert told["whole"]
    assert task["searches"][0]["rounds"] == [8, 16, 20]
    for arm, chosen in task["searches"][0]["arms"].items():
        sketches = [trial.candidate.sketch for trial in first]
        assert chosen == [part.count(arm) for part in (sketches[:8], sketches[8:16], sketches[16:])]
    assert task["searches"][0]["entropy"] == [None, None, None]
    assert task["searches"][1]["entropy"][0] is None
    assert task["searches"][1]["entropy"][1] == pytest.approx(3 * 0.9**8)


def test_a_search_that_was_killed_and_run_again_is_one(database):
    write_search(database, KEY, "random", trials=10)
    database.add(space_of(), KEY, Trial(next(iter(space_of().every())), 1e-9, 1, 1, 1, 6))  # its last line
    again = write_search(database, KEY, "random", trials=24)
    (told,) = task_of(database)["searches"]
    assert (told["trials"], told["best"]) == (24, best_of(again))
    write_search(database, KEY, "random", seed=5)
    assert len(task_of(database)["searches"]) == 2


def test_two_searches_at_once_are_told_apart(database, tmp_path):
    parts = []
    for algorithm in ("random", "tpe"):
        path = tmp_path / algorithm
        write_search(Database(path), KEY, algorithm, seed=2)
        parts.append([line for line in path.read_text().splitlines() if '"arms"' in line])
    lines = [line for pair in zip(*parts, strict=True) for line in pair]
    database.path.write_text(
        "\n".join([*lines, json.dumps(vars(KEY) | {"sketch": "s", "values": {}, "error": "hung"})])
    )
    told = task_of(database)["searches"]
    assert [(one["algorithm"], len(one["rounds"])) for one in told] == [("random", 3), ("tpe", 4)]
    assert told[0]["best"] == told[1]["best"]


def test_what_an_interrupt_left_of_a_batch_counts(database):
    write_search(database, KEY, "random", trials=8)
    unseen = next(p for p in space_of().every() if p not in database.trials(space_of(), KEY))
    database.add(space_of(), KEY, Trial(unseen, 1e-6, 0.1, 0.1, 0.1, 6))
    (told,) = task_of(database)["searches"]
    assert (told["trials"], told["best"][-1], told["rounds"]) == (9, [9, 1e-6], [8, 9])
    database.add_winner(space_of(), KEY, None, None)
    database.add(space_of(), KEY, Trial(unseen, 1e-7, 0.1, 0.1, 0.1, 6))  # of a next search, its first batch
    assert [(one["algorithm"], one["trials"]) for one in task_of(database)["searches"]] == [
        ("random", 9),
        (None, 1),
    ]


def test_records_of_before_are_read(database):
    """Rounds said only which arms; the new trials stand before each, those known before nowhere."""
    points = list(space_of().every())
    for number, known in enumerate((0, 2)):
        batch = points[4 * number : 4 * number + 4 - known]
        for place, point in enumerate(batch):
            database.add(space_of(), KEY, Trial(point, 1e-3 / (1 + place + 10 * number), 1, 1, 1, 6))
        database._append(vars(KEY) | {"algorithm": "harl", "arms": ["tiles"] * 4, "entropy": 1.5})
    (told,) = task_of(database)["searches"]
    assert (told["algorithm"], told["trials"], told["rounds"]) == ("harl", 8, [4, 8])
    assert told["best"] == [
        [1, 1e-3],
        [2, 1e-3 / 2],
        [3, 1e-3 / 3],
        [4, 1e-3 / 4],
        [7, 1e-3 / 11],
        [8, 1e-3 / 12],
    ]
    assert (told["whole"], told["failed"], told["arms"]) == (False, None, {"tiles": [4, 4]})


def test_trials_without_rounds_are_a_search_of_nobody(database):
    for place, point in enumerate(list(space_of().every())[:3]):
        database.add(space_of(), KEY, Trial(point, 1e-3 * (3 - place), 1, 1, 1, 6))
    (told,) = task_of(database)["searches"]
    assert (told["algorithm"], told["best"]) == (None, [[1, 3e-3], [2, 2e-3], [3, 1e-3]])


def test_failures_are_counted_by_reason(database):
    for number, point in enumerate(list(space_of().every())[:30]):
        error = "it hung" if number < 12 else f"reason {number}\nand more"
        database.add(space_of(), KEY, Trial(point, error=error))
        database.add(space_of(), KEY, Trial(point, error=error))  # by another program: the same candidate
    task = task_of(database)
    assert (task["trials"], task["failed"], task["best"]) == (30, 30, None)
    assert task["failures"][:2] == [["it hung", 12], ["reason 12", 1]]
    assert sum(count for _, count in task["failures"]) + task["other_failures"] == 30


def test_the_winner_its_interval_and_what_it_saves(database):
    write_record(database.path)
    task = task_of(database)
    assert task["reference_seconds"] == REFERENCE
    assert task["against"] == [0.5, 0.45, 0.55]
    assert task["saving"] == pytest.approx([0.005, 0.0045, 0.0055])
    assert task["winner"] == {key: task["best"][key] for key in ("sketch", "values")}
    key = Key(*(task[part] for part in ("name", "device", "jax", "task")))
    database.add_winner(space_of(), key, None, Paired(1.1, 1.0, 1.2, 1, 1, 6))
    task = task_of(database)
    assert (task["decided"], task["winner"], task["saving"]) == (True, None, [0.0, 0.0, 0.0])


def test_the_heaviest_task_is_first(database):
    write_search(database, KEY, "random")
    write_search(database, OTHER, "random")
    assert [task["name"] for task in tuning_of(database.rows())["tasks"]] == ["conv", "dense"]
    database.add_weight(OTHER, 0.25, "window")
    tasks = tuning_of(database.rows())["tasks"]
    assert [(task["name"], task["weight"], task["saving"]) for task in tasks] == [
        ("dense", 0.25, None),
        ("conv", None, None),
    ]


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["tiles", "\ud800", ""])
    | st.just(10**400),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["sketch", "ratio", "rows"]), inner, max_size=2)
    ),
    max_leaves=4,
)
FIELDS = ["sketch", "values", "seconds", "error", "arms", "times", "before", "algorithm", "seed", "entropy"]
FIELDS += ["winner", "against_reference", "reference_seconds", "weight", "per"]


@settings(max_examples=40)
@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=6), max_size=6), ANYTHING)
def test_whatever_lines_hold_they_are_told_or_passed_over(rows, name):
    good = vars(KEY) | {"sketch": "tiles", "values": {"rows": 1}, "seconds": 1e-3}
    told = tuning_of([*(vars(KEY) | row for row in rows), {**vars(KEY), "name": name}, good])
    json.dumps(told, allow_nan=False).encode()
    render(told, Console(file=io.StringIO()))
    assert any(task["best"] for task in told["tasks"])


def test_lines_that_are_no_trials_are_passed_over(database):
    write_search(database, KEY, "random", trials=8)
    before = tuning_of(database.rows())
    with database.path.open("ab") as file:
        file.write(
            b'\xff\n[1]\n{"name": ["conv"]}\n' + b"[" * 100_000 + b"\n" + json.dumps(vars(KEY)).encode()[:-1]
        )
    assert tuning_of(database.rows()) == before
    assert tuning_of([]) == {"schema": "rlscope_jax.tuning/1", "tasks": []}


def test_beside_a_profile_is_what_the_record_says_of_its_tasks(database, tmp_path):
    write_search(database, KEY, "random", trials=8)
    write_search(database, OTHER, "random", trials=8)
    beside = Database(tmp_path / "run" / RECORD_NAME)
    for seed in (3, 4):
        both = BesideProfile(database.path, tmp_path / "run", [KEY])
        write_search(both, KEY, "tpe", seed)
    assert beside.rows() == [row for row in database.rows() if row["name"] == KEY.name]
    assert len(task_of(beside)["searches"]) == 3


def test_a_profile_beside_which_nothing_can_be_written_costs_a_warning(database, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(RuntimeWarning, match="the TensorBoard tab will not show this search: cannot"):
        both = BesideProfile(database.path, tmp_path / "file", [KEY])
    write_search(both, KEY, "random", trials=8)
    assert task_of(database)["trials"] == 8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BesideProfile(database.path, database.path.parent, [KEY])  # another file of that directory
    (tmp_path / RECORD_NAME).unlink()
    (tmp_path / RECORD_NAME).mkdir()
    with pytest.warns(RuntimeWarning, match="cannot read"):
        BesideProfile(database.path, tmp_path, [KEY])
    with pytest.raises(TuneError):
        BesideProfile(tmp_path, tmp_path / "run", [KEY])


def test_a_record_that_lies_beside_the_profile_is_written_once(tmp_path):
    both = BesideProfile(tmp_path / RECORD_NAME, tmp_path, [KEY])
    write_search(both, KEY, "random", trials=8)
    assert sum("arms" in row for row in both.rows()) == 1
