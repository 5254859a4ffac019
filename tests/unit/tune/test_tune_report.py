"""`rlscope-jax tune report`: the terminal, JSON and a page say the same of a record."""

import io
import json
import math
import re

import pytest
from rich.console import Console

from rlscope_jax import load
from rlscope_jax.__main__ import main
from rlscope_jax.reporters import html, searches
from rlscope_jax.tune.database import Database, Key
from rlscope_jax.tune.searches import RECORD_NAME, tuning_of
from rlscope_jax.tune.timing import Paired
from tuning_record import space_of, write_record, write_search
from xspace_builder import US, CpuTrace, Op, module_of

HOSTILE = "</script><script>window.hacked=1</script>"
EMBEDDED = re.compile(r'id="rlscope-data">(.*?)</script>', re.DOTALL)


def write_profile(logdir):
    """A profile of the operation `twice`."""
    trace, tree = CpuTrace(), [Op("dot.1", 500 * US)]
    trace.run(module_of("jit_f", 7, tree, {"dot.1": "jit(f)/rls=twice/dot"}), tree, at=10 * US)
    trace.write(logdir, "s")


def shown(tuning):
    console = Console(width=400, record=True, file=io.StringIO())
    searches.render(tuning, console)
    return console.export_text()


def test_the_terminal_json_and_page_say_the_same(tmp_path, capsys):
    record = tmp_path / "record.jsonl"
    write_record(record, tasks=2, algorithms=("random", "harl"), text=HOSTILE)
    out = {kind: tmp_path / f"out.{kind}" for kind in ("json", "html")}
    arguments = ["tune", "report", "--record", str(record)]
    assert main([*arguments, "--json", str(out["json"]), "--html", str(out["html"])]) == 0
    assert "open it in a browser" in capsys.readouterr().out
    told = tuning_of(Database(record).rows())
    assert json.loads(out["json"].read_text()) == told
    page = out["html"].read_text()
    assert json.loads(EMBEDDED.search(page)[1])["tuning"] == told
    assert len(re.findall("<script", page)) == len(re.findall("</script", page)) == 2
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert text.replace("\n", "") == shown(told).replace("\n", "")
    for task in told["tasks"]:
        assert f"{task['name']} ({task['task']})" in text


def test_the_terminal_tells_of_each_search(tmp_path):
    record = Database(tmp_path / "record.jsonl")
    write_record(record.path, algorithms=("random", "harl"))
    told = tuning_of(record.rows())
    text = shown(told)
    (task,) = told["tasks"]
    for one in task["searches"]:
        seconds = one["best"][-1][1]
        assert f"{seconds * 1e3:.3f} ms after 24 trials, {4e-3 / seconds:.2f} times as fast" in text
        assert f"tiles: {sum(one['arms']['tiles'])}" in text
    assert text.count("entropy") == 1
    assert f"{task['failed']} of {task['trials']} candidates" in text
    assert "2.00 times as fast as the reference (1.82 to 2.22); saves 5.00 ms a step (4.50 to 5.50)" in text


@pytest.mark.parametrize("winner", [None, "undecided", "failed"])
def test_the_terminal_tells_of_searches_without_a_winner(tmp_path, winner):
    database, key = Database(tmp_path / "r"), Key("conv", "d", "0", "0")
    if winner == "failed":
        database._append(vars(key) | {"sketch": "s", "values": {}, "error": "it hung"})
    else:
        write_search(database, key, "random", 0)
        write_search(database, key, "random", 1)
    if winner is None:
        database.add_winner(space_of(), key, None, Paired(1.1, 1.0, 1.2, 1, 1, 6))
    text = shown(tuning_of(database.rows()))
    words = {None: "none: nothing beat the reference", "undecided": "not decided", "failed": "1 x it hung"}
    assert words[winner] in text
    assert ("random 1" in text) == (winner != "failed")


def test_tuning_from_a_profile_is_left_beside_it(tmp_path, capsys):
    """And the page of the profile's report holds it."""
    write_profile(tmp_path / "run")
    file, record = tmp_path / "beside_tasks.py", tmp_path / "record.jsonl"
    file.write_text(TASKS)
    arguments = ["--algorithm", "random", "--trials", "4", "--in-process", "--record", str(record)]
    assert main(["tune", f"{file}:tasks", "--from", str(tmp_path / "run"), *arguments]) == 0
    beside = tuning_of(Database(tmp_path / "run" / RECORD_NAME).rows())
    assert beside == tuning_of(Database(record).rows())
    (task,) = beside["tasks"]
    assert (task["name"], task["weight"], task["per"]) == ("twice", pytest.approx(500e-6), "window")
    assert (task["trials"], task["failed"], task["decided"]) == (2, 1, True)
    embedded = json.loads(EMBEDDED.search(html.to_page(load(tmp_path / "run")))[1])
    assert embedded["tuning"] == beside
    assert "rlscope_tune.jsonl: the TensorBoard tab shows it" in capsys.readouterr().out.replace("\n", "")
    assert (
        main(["tune", "report", "--from", str(tmp_path)]) == 0
    )  # as with `report`, a directory above will do
    assert "twice" in capsys.readouterr().out


TASKS = """
import numpy as np
from rlscope_jax.tune import Param, Sketch, TuneTask

def double(x):
    return x * 2

def tasks():
    build = lambda values: double if values["how"] == "right" else (lambda x: x * 3)
    sketch = Sketch((Param("how", ("right", "wrong")),), build)
    return TuneTask("twice", (np.arange(4, dtype=np.float32),), double, {"only": sketch})
"""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report", "--html", "no/where.html"], "--html no/where.html cannot be written"),
        (["report", "--json", "."], "--json . cannot be written"),
        (["report", "--record", "."], "cannot read"),
        (["report", "--record", "/dev/full"], "/dev/full: it is no regular file"),
        (["report", "--record", "absent"], "absent holds no trials"),
        (["report", "--from", "absent"], "absent/rlscope_tune.jsonl holds no trials"),
        (["tasks.py:TASKS", "--html", "x"], "--html and --json go with"),
    ],
)
def test_bad_input_is_said_in_a_line(arguments, words, tmp_path, capsys, monkeypatch):
    write_record(tmp_path / "record.jsonl")
    monkeypatch.setenv("RLSCOPE_JAX_TUNE", str(tmp_path / "record.jsonl"))
    monkeypatch.chdir(tmp_path)
    assert main(["tune", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error


FOREIGN = [
    {"name": ["a", "list"]},
    {"arms": 3},
    {"seconds": None, "sketch": "s", "values": {}},
    {"seconds": 1e-3, "rounds": math.inf, "sketch": "s", "values": {"n": math.nan}},
    {"error": None, "sketch": "[/]\x1b[2J", "values": {"[/b]": "[/i]\x07"}},
    {"arms": ["[/]"], "times": [math.inf], "before": 0, "algorithm": "[/]", "seed": 0},
    {"reference_seconds": 0.0},
    {"weight": math.inf},
    {"winner": 3, "against_reference": {"ratio": 0, "low": math.nan, "high": None}},
]


def test_foreign_lines_and_hostile_names_never_give_a_traceback(tmp_path, capsys):
    record, out = tmp_path / "record.jsonl", tmp_path / "out.json"
    key = {"name": "[red]x[/bold]\x1b]0;title\x07", "device": "d", "jax": "0", "task": "0"}
    record.write_text("".join(json.dumps(key | row) + "\n" for row in FOREIGN))
    arguments = ["tune", "report", "--record", str(record)]
    assert main([*arguments, "--json", str(out), "--html", str(tmp_path / "out.html")]) == 0
    (task,) = json.loads(out.read_text())["tasks"]
    assert (task["trials"], task["failed"], task["best"]["seconds"]) == (2, 1, 1e-3)
    capsys.readouterr()
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert "[red]x[/bold] ]0;title  (0) on d" in text
    assert not set(text) & set("\x1b\x07")


def test_a_damaged_file_beside_a_profile_costs_its_page_nothing(tmp_path):
    write_profile(tmp_path)
    (tmp_path / RECORD_NAME).mkdir()
    assert "tuning" not in json.loads(EMBEDDED.search(html.to_page(load(tmp_path)))[1])


def test_curves_are_as_wide_as_there_is_room():
    assert searches.curve([math.inf, 1.0, 0.5]) == " █▁"
    assert len(searches.curve(list(range(1000)))) == searches.WIDTH
    assert searches.curve([math.inf]) == ""
