"""Several tasks: weights from a profile, one budget, the record, and the winner in a program."""

import dataclasses
import json
import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.compilation_cache.compilation_cache import reset_cache

from rlscope_jax.__main__ import main
from rlscope_jax.tune import Param, Sketch, TuneTask, session
from rlscope_jax.tune.allocate import TaskSearch, share_trials
from rlscope_jax.tune.database import Database, key_of
from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.load import load_task
from rlscope_jax.tune.searchers import make_searcher
from rlscope_jax.tune.searches import tuning_of
from rlscope_jax.tune.session import tune_tasks
from rlscope_jax.tune.table import TableMeasurer
from rlscope_jax.tune.timing import Paired
from rlscope_jax.tune.trial import Trial
from rlscope_jax.tune.use import tuned
from rlscope_jax.tune.weights import seconds_per_step, tasks_from_report
from rlscope_jax.tune.worker import Worker
from tune_tasks import double, small_table


def plus(values):
    return lambda x: x * 2 + values["more"]


def task(name="twice", weight=1.0):
    sketch = Sketch((Param("more", (0, 1)),), plus)
    return TuneTask(name, (np.arange(4, dtype=np.float32),), double, {"only": sketch}, weight)


def figure(raw, corrected=None):
    return {"raw": raw, "corrected": corrected, "interval": None}


def row(path, device_only, overlap, direction=None):
    wall = {"device_only": device_only, "overlap": overlap}
    return {"path": path, "kind": "mark", "direction": direction, "wall": wall}


REPORT = {
    "window": {"steps": 4},
    "operations": [
        row("rollout/twice", figure(3e9, 2e9), figure(1e9)),
        row("rollout/twice/inner", figure(1e9, 1e9), figure(0, 0)),
        row("update/twice", figure(8e9), figure(0), "backward"),
        row("update/thrice", figure(4e9), figure(None), "forward"),
        row("not_twice", figure(9e9), figure(0)),
    ],
}


def test_weights_are_corrected_seconds_per_step_raw_where_they_must_be():
    assert seconds_per_step(REPORT, "twice") == pytest.approx((2 + 1 + 1) / 4)
    assert seconds_per_step(REPORT, "update/thrice") == pytest.approx(1)
    found = tasks_from_report(REPORT, [task("absent"), task("thrice"), task("rollout/twice")])
    assert [(one.name, one.weight) for one in found] == [("thrice", 1.0), ("rollout/twice", 1.0)]
    with pytest.raises(TuneError, match=r"\(absent\); its operations are not_twice, rollout/twice"):
        tasks_from_report(REPORT, [task("absent")])


def searches(*weights):
    table = small_table()
    made = []
    for number, weight in enumerate(weights):
        one = TuneTask(f"task{number}", (), double, table.space.sketches, weight)
        searcher = make_searcher("random", table.space, number)
        made.append(TaskSearch(one, searcher, TableMeasurer(table), 5e-3))
    return made


def test_trials_go_where_they_save_most_and_end_with_the_spaces():
    made = searches(0.01, 10.0)
    share_trials(made, 64, batch=4)
    assert len(made[0].trials) + len(made[1].trials) == 64
    assert all(one.trials for one in made)
    assert made[1].cost < 10.0
    made = searches(1.0, 1.0)
    share_trials(made, 1000)
    assert [len(one.trials) for one in made] == [len(small_table().candidates)] * 2


def test_a_failure_never_counts_as_better_than_the_reference():
    (one,) = searches(1.0)
    one.trials.append(Trial(small_table().candidates[0], error="hung"))
    assert one.ratio == 1.0


def test_an_interrupt_keeps_what_was_measured():
    class Interrupted(TableMeasurer):
        left = 3

        def measure(self, candidates):
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
            return super().measure(candidates)

    (one,) = searches(1.0)
    one.measurer = Interrupted(small_table())
    with pytest.raises(KeyboardInterrupt):
        share_trials([one], 16)
    assert len(one.trials) == 3


def test_the_winner_is_used_where_the_key_and_the_arguments_match(tmp_path):
    made, path = task(), tmp_path / "record.jsonl"
    winner = made.space.candidate("only", {"more": 1})  # wrong on purpose, so that it can be told apart
    against = Paired(0.5, 0.4, 0.6, 1.0, 2.0, 15)
    Database(path).add_winner(made.space, key_of(made), winner, against)
    assert Database(path).verdict(key_of(made)) == against
    run = tuned(lambda: made, record=path)(double)
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(run(x), x * 2 + 1)
    np.testing.assert_array_equal(run(np.arange(3, dtype=np.float32)), [0, 2, 4])  # another shape
    np.testing.assert_array_equal(run(np.arange(4)), [0, 2, 4, 6])  # another type
    other = tuned(task("other"), record=path)(double)  # another key
    np.testing.assert_array_equal(other(x), x * 2)
    Database(path).add_winner(made.space, key_of(made), None, None)
    np.testing.assert_array_equal(tuned(made, record=path)(double)(x), x * 2)
    np.testing.assert_array_equal(tuned(made, record=tmp_path / "none.jsonl")(double)(x), x * 2)


def test_a_trace_may_be_the_first_to_call(tmp_path):
    made, path = task(), tmp_path / "record.jsonl"
    Database(path).add_winner(made.space, key_of(made), made.space.candidate("only", {"more": 1}), None)

    def make():  # arrays made while a program is traced would be tracers
        return dataclasses.replace(made, args=(jnp.arange(4.0),))

    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(jax.jit(tuned(make, record=path)(double))(x), x * 2 + 1)


def test_what_cannot_be_loaded_or_built_never_stops_the_program(tmp_path):
    def broken():
        raise OSError("the disk is full")

    made, path = task(), tmp_path / "record.jsonl"
    sketch = dataclasses.replace(made.sketches["only"], export=lambda values: broken())
    failing = dataclasses.replace(made, sketches={"only": sketch})
    Database(path).add_winner(
        failing.space, key_of(failing), failing.space.sample(np.random.default_rng(0)), None
    )
    x = np.arange(4, dtype=np.float32)
    for bad in (failing, broken):
        run = tuned(bad, record=path)(double)
        with pytest.warns(RuntimeWarning, match="double: the reference is used: OSError: the disk is full"):
            np.testing.assert_array_equal(run(x), x * 2)
        np.testing.assert_array_equal(run(x), x * 2)  # and says so once
    Database(path).add_winner(made.space, key_of(made), made.space.candidate("only", {"more": 1}), None)
    assert tuned(made, record=path)(double)("ab") == "abab"  # no array at all


def search_here(tasks, database, trials, seed=0, **more):
    return tune_tasks(tasks, database, trials, "random", seed, **more)


def alike():
    """Sixteen points that all do the same."""
    sketch = Sketch((Param("number", tuple(range(16))),), lambda values: jax.jit(lambda x: x * 2))
    return TuneTask("alike", (np.arange(4, dtype=np.float32),), double, {"only": sketch})


def test_an_interrupt_ends_the_search_and_a_later_search_goes_on(tmp_path):
    class Enough:
        batches = 0

        def __call__(self, searches, found):
            self.batches += 1
            if self.batches == 1:
                raise KeyboardInterrupt

    made, database = alike(), Database(tmp_path / "record.jsonl")
    (first,) = search_here([made], database, 16, on_trials=Enough())
    assert len(first.search.trials) == 8
    best = min(first.search.trials, key=lambda trial: trial.seconds).candidate
    assert database.winner(made.space, key_of(made)) == first.verdict.winner
    assert best in first.verdict.finalists

    def lines(kind):
        return [row for row in database.rows() if kind in row]

    assert (len(lines("sketch")), len(lines("arms")), len(lines("winner"))) == (8, 1, 1)
    (second,) = search_here([made], database, 16)
    assert second.search.trials[:8] == first.search.trials
    # The second one notes the round that it repeats, so that its curve is whole; they are shown as one.
    assert (len(lines("sketch")), len(lines("arms")), len(lines("winner"))) == (16, 3, 2)
    (shown,) = tuning_of(database.rows())["tasks"]
    assert [one["trials"] for one in shown["searches"]] == [16]
    # A small search elsewhere does not forget the best of the large one.
    (third,) = search_here([made], database, 1, seed=5)
    assert third.verdict.finalists == second.verdict.finalists


TASKS = """
import sys
from functools import partial
import numpy as np
from rlscope_jax.tune import Param, Sketch, TuneTask, session

def double(x):
    return x * 2

def build(values):
    if values["how"] == "wrong":
        return lambda x: x * 3
    return double

def task(reference=double, **more):
    sketch = Sketch((Param("how", ("right", "wrong")),), build, **more)
    return TuneTask("twice", (np.arange(4, dtype=np.float32),), reference, {"only": sketch})

def tasks():
    return [task()]

def same():
    return [task(), task()]

def leaves():
    sys.exit("bye")

def empty():
    return TuneTask("empty", (), double, {})

def invalid():
    return task(valid=lambda values: False)

def lawless():
    return task(valid=lambda values: values["none"])

def wordless():
    return task(lambda x: sys.exit("no result today"))

def stepless():
    return task(lambda x: np.sort(x))
"""


def test_the_command_records_and_reports(tmp_path, capsys):
    file, record = tmp_path / "cli_tasks.py", tmp_path / "record.jsonl"
    file.write_text(TASKS)
    arguments = ["tune", f"{file}:tasks", "--algorithm", "random", "--trials", "4", "--in-process"]
    assert main([*arguments, "--record", str(record)]) == 0
    rows = [json.loads(line) for line in record.read_text().splitlines()]
    assert sum("sketch" in row for row in rows) == 2  # the whole space
    assert sum("error" in row for row in rows) == 1
    assert sum("winner" in row for row in rows) == 1
    capsys.readouterr()
    assert main(["tune", "report", "--record", str(record)]) == 0
    shown = capsys.readouterr().out
    assert "twice" in shown
    assert "only: 2" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], "write FILE.py:NAME"),
        (["absent.py:tasks"], "no file absent.py"),
        (["no_such_module:tasks"], "cannot be loaded"),
        (["json:dumps"], "TypeError"),
        (["json:decoder"], "is no task"),
        (["tune_tasks:small_table"], "is no task"),
        (["tune_tasks:misbehaving", "--algorithm", "annealing", "--in-process"], "annealing"),
        (["tune_tasks:misbehaving", "--from", "nowhere"], "nowhere"),
        (["report"], "holds no trials"),
        (["FILE:same"], "several tasks of the name 'twice'"),
        (["FILE:leaves"], "SystemExit: bye"),
        (["FILE:empty"], "task 'empty': sketches must be"),
        (["FILE:invalid"], "task 'twice': 10,000 random points of each sketch, and none is valid"),
        (["FILE:lawless"], "task 'twice': sketch 'only': `valid` raised KeyError"),
        (["FILE:wordless"], "task 'twice': the reference raises SystemExit: no result today"),
        (["FILE:stepless"], "task 'twice': the reference raises TracerArrayConversionError"),
    ],
)
def test_bad_input_is_said_in_a_line(arguments, words, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("RLSCOPE_JAX_TUNE", str(tmp_path / "record.jsonl"))
    if arguments[0].startswith("FILE"):
        file = tmp_path / "bad tasks ü.py"
        file.write_text(TASKS)
        arguments = [arguments[0].replace("FILE", str(file)), "--algorithm", "random", "--in-process"]
    assert main(["tune", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error


@pytest.mark.parametrize("seed", ["-1", "4294967296", "x"])
def test_a_seed_that_no_generator_takes_is_refused(seed, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["tune", "report", f"--seed={seed}"])
    assert ended.value.code == 2
    assert "argument --seed: " in capsys.readouterr().err


def test_an_interrupt_of_the_comparison_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "decide", interrupted)
    file, record = tmp_path / "ended_tasks.py", tmp_path / "record.jsonl"
    file.write_text(TASKS)
    arguments = ["--algorithm", "random", "--trials", "4", "--in-process", "--record", str(record)]
    assert main(["tune", f"{file}:tasks", *arguments]) == 130
    told = capsys.readouterr().err
    assert f"the trials are in {record}: the same command resumes from there" in told
    assert sum("sketch" in row for row in Database(record).rows()) == 2


def test_what_searches_compile_is_kept_unless_the_user_has_it_kept(tmp_path, monkeypatch):
    import platformdirs

    from rlscope_jax.commands import tune

    names = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
    before = [getattr(jax.config, name) for name in names]
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name: tmp_path / name)
    try:
        for mine, then in (("mine", ("mine", 3.0)), (None, (str(tmp_path / "rlscope-jax/compiled"), 1.0))):
            jax.config.update(names[0], mine)
            jax.config.update(names[1], 3.0)
            tune._keep_compiled()
            assert tuple(getattr(jax.config, name) for name in names) == then
        jax.config.update(names[1], 0.0)
        jax.jit(lambda x: x * 3 + 1)(np.ones(3)).block_until_ready()
        assert any((tmp_path / "rlscope-jax/compiled").iterdir())
    finally:
        for name, value in zip(names, before, strict=True):
            jax.config.update(name, value)
        reset_cache()


def test_a_machine_without_a_device_is_said(tmp_path, monkeypatch):
    def nothing():
        raise RuntimeError("no such backend")

    monkeypatch.setattr(jax, "devices", nothing)
    with pytest.raises(TuneError, match="jax finds no device: RuntimeError: no such backend"):
        search_here([alike()], Database(tmp_path / "record.jsonl"), 1)


def test_a_file_of_tasks_may_be_named_like_a_module_and_go_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beside.py").write_text(TASKS)
    (tmp_path / "json.py").write_text("import os, beside\nos.chdir('/')\ntasks = beside.tasks")
    (tmp_path / "random.py").write_text("this stands where Python looks for its own module")
    monkeypatch.setattr(sys, "path", [*sys.path])
    for _ in range(2):
        assert load_task("json.py:tasks", "twice").name == "twice"
    assert sys.modules["json"] is json
    with Worker(partial(load_task, "json.py:tasks", "twice")) as worker:
        assert worker.reference_seconds() > 0
