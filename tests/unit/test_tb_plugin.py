"""The plugin's routes as TensorBoard calls them, and a loader that never takes TensorBoard down."""

import json
import os
import shutil
import subprocess
import sys
import time
from importlib.metadata import entry_points
from types import SimpleNamespace

import pytest

from rlscope_jax import load
from rlscope_jax.attribution.placement import GROUPINGS
from rlscope_jax.tune import database
from rlscope_jax.tune.database import Database
from rlscope_jax.tune.searches import RECORD_NAME, tuning_of
from tuning_record import write_record
from xspace_builder import US, CpuTrace, Op, module_of

pytest.importorskip("tensorboard", reason="TensorBoard is not installed")
from tensorboard.plugins import base_plugin
from werkzeug.test import Client

from rlscope_jax.tb_plugin import plugin as plugin_module
from rlscope_jax.tb_plugin import results
from rlscope_jax.tb_plugin.loader import RlscopeLoader
from rlscope_jax.tb_plugin.plugin import GROUPS, RlscopePlugin
from rlscope_jax.tb_plugin.read_profile import main as read_profile


def write_trace(logdir):
    trace, tree = CpuTrace(), [Op("dot.1", 5 * US)]
    trace.run(module_of("jit_f", 7, tree, {"dot.1": "jit(f)/rls=update/dot"}), tree, at=10 * US)
    return trace.write(logdir, "s")


def context(logdir="", spec=""):
    return base_plugin.TBContext(logdir=str(logdir), flags=SimpleNamespace(logdir_spec=spec))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A directory with one good recording and one damaged one."""
    folder = tmp_path_factory.mktemp("runs")
    write_trace(folder / "good")
    write_trace(folder / "bad").write_bytes(b"\xff" * 64)
    return folder


@pytest.fixture(scope="module")
def served(runs):
    """A plugin over them; ask it by route."""
    made = RlscopePlugin(context(runs))
    made._discovery.found()
    assert made._discovery._first_done.wait(30)
    yield made
    made._results.close()


def ask(made, route, method="GET", **query):
    application = made.get_plugin_apps()["/static/*" if route.startswith("/static/") else route]
    return Client(application).open(f"/data/plugin/rlscope{route}", query_string=query, method=method)


def answer(made, route, **query):
    """The JSON of a route, once its recording is read."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        response = ask(made, route, **query)
        content = json.loads(response.get_data())
        if response.status_code not in (202, 409):
            return response, content
        time.sleep(0.05)
    raise AssertionError("the recording was not read")


GOOD = {"run": "good", "name": "s"}


def test_the_entry_point_is_the_loader():
    (found,) = [one for one in entry_points(group="tensorboard_plugins") if one.name == "rlscope"]
    assert found.value == "rlscope_jax.tb_plugin.loader:RlscopeLoader"


def test_loading_the_loader_loads_nothing_heavy():
    code = (
        "import rlscope_jax.tb_plugin.loader, sys;"
        "print([name for name in ('jax', 'numba', 'numpy', 'rich', 'xprof') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_plugin_never_imports_numba_or_jax_into_tensorboard():
    code = (
        "import rlscope_jax.tb_plugin.plugin, sys;"
        "print([name for name in ('jax', 'numba', 'rich') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_plugin_that_cannot_be_made_is_left_out(monkeypatch, caplog):
    def broken(context):
        raise RuntimeError("a fault")

    monkeypatch.setattr(plugin_module, "RlscopePlugin", broken)
    assert RlscopeLoader().load(context()) is None
    assert "a fault" in caplog.text


@pytest.mark.parametrize("flags", [None, SimpleNamespace()])
def test_a_context_may_hold_nothing(flags):
    made = RlscopePlugin(base_plugin.TBContext(logdir=None, flags=flags))
    assert not made.is_active()
    _, content = answer(made, "/recordings")
    assert content["recordings"] == []


def test_it_is_active_where_something_was_recorded(tmp_path, served):
    assert served.is_active()
    assert not RlscopePlugin(context(tmp_path / "empty")).is_active()


def test_with_logdir_spec_runs_have_the_names_given(tmp_path):
    write_trace(tmp_path / "a")
    made = RlscopePlugin(context("", f"first:{tmp_path / 'a'}"))
    made._discovery.found()
    assert made._discovery._first_done.wait(30)
    assert answer(made, "/recordings")[1]["recordings"][0]["run"] == "first"


def test_the_report_is_that_of_the_command_line(runs, served):
    response, content = answer(served, "/report", **GOOD)
    assert response.status_code == 200
    assert content == load(runs / "good").to_dict()


def test_ops_and_timeline_are_of_the_same_recording(served):
    answer(served, "/report", **GOOD)
    _, listed = answer(served, "/ops", **GOOD, process=0, path="update")
    assert [op["name"] for op in listed["ops"]] == ["dot.1"]
    assert answer(served, "/ops", **GOOD, process="0", path="nothing")[1] == {
        "ops": [],
        "more": 0,
        "more_self": 0,
    }
    _, shown = answer(served, "/timeline", **GOOD, columns=200)
    assert [lane["side"] for lane in shown["lanes"]] == ["host", "device"]
    _, hit = answer(served, "/find", **GOOD, text="DOT")
    assert hit["found"]["end"] - hit["found"]["start"] == pytest.approx(5000)


def test_errors_are_words_and_one_bad_recording_spoils_no_other(served):
    response, content = answer(served, "/report", run="bad", name="s")
    assert response.status_code == 200
    assert "is no XLA profile" in content["error"]["message"]
    assert "rlscope-jax doctor" in content["error"]["hint"]
    assert answer(served, "/report", **GOOD)[1]["schema"]


@pytest.mark.parametrize(
    ("route", "query", "status", "said"),
    [
        ("/report", {"run": "../..", "name": "s"}, 404, "there is no recording"),
        ("/report", {}, 404, "there is no recording"),
        ("/report", {**GOOD, "group": "x"}, 400, "group must be one of"),
        ("/timeline", {**GOOD, "begin": "abc"}, 400, "begin must be a number"),
        ("/timeline", {**GOOD, "columns": "inf"}, 400, "columns must be a number"),
    ],
)
def test_what_cannot_be_answered_says_why(served, route, query, status, said):
    answer(served, "/report", **GOOD)
    response, content = answer(served, route, **query)
    assert response.status_code == status
    assert said in content["error"]["message"]


def test_only_reading_is_served(served):
    assert ask(served, "/recordings", method="POST").status_code == 405


@pytest.mark.parametrize(
    "path",
    [
        "../plugin.py",
        "../../errors.py",
        "..%2fplugin.py",
        "/etc/passwd",
        "",
        ".",
        "no.js",
        "../static/../loader.py",
        "%2e%2e/plugin.py",
        "..%252fplugin.py",
        "....//plugin.py",
        "index.js%00.png",
        "%5c..%5cplugin.py",
    ],
)
def test_static_files_end_at_their_folder(served, path):
    response = ask(served, f"/static/{path}")
    assert response.status_code == 404
    assert response.headers["Content-Type"] == "application/json"


def test_the_module_is_served_as_a_browser_wants_it(served):
    for route in ("/index.js", "/static/index.js"):
        response = ask(served, route)
        assert response.status_code == 200
        assert response.headers["Content-Type"].startswith("text/javascript")
        assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_an_unexpected_fault_is_told_too(served, monkeypatch):
    monkeypatch.setattr(served._discovery, "found", lambda: 1 / 0)
    response = ask(served, "/recordings")
    assert response.status_code == 500
    assert "ZeroDivisionError" in json.loads(response.get_data())["error"]["message"]


def test_groups_are_those_of_the_command_line():
    assert GROUPS == GROUPINGS


@pytest.fixture
def own(tmp_path):
    """A plugin over a directory of the test's own, and that directory."""
    plugins = []

    def start(**recordings):
        for name, write in recordings.items():
            write(tmp_path / name)
        plugins.append(RlscopePlugin(context(tmp_path)))
        plugins[0]._discovery.found()
        assert plugins[0]._discovery._rested.wait(30)
        return plugins[0], tmp_path

    yield start
    plugins[0]._results.close()


def test_a_window_recorded_meanwhile_is_there_after_a_reload(own):
    made, folder = own(first=write_trace)
    write_trace(folder / "second")
    answered = answer(made, "/recordings", refresh=1)[1]
    until = time.monotonic() + 30
    while answered["looking"] and time.monotonic() < until:  # as the page does
        time.sleep(0.05)
        answered = answer(made, "/recordings")[1]
    assert {one["run"] for one in answered["recordings"]} == {"first", "second"}


def test_a_recording_removed_meanwhile_is_not_made_again(own):
    made, folder = own(run=write_trace)
    shutil.rmtree(folder / "run")
    response, content = answer(made, "/report", run="run", name="s")
    assert response.status_code == 200
    assert content["error"]["message"] == "its files are gone"
    assert not (folder / "run").exists()


def kept_result(made, run):
    """The folder of a recording's results, read within this process."""
    one = made._discovery.found().recordings[run, "s"]
    name, key = results._cache_name(one, "auto")
    folder = made._results._writable(one.parts[0].logdir) / f"{name}-{key}"
    assert read_profile([str(folder), "auto", str(one.parts[0].files[0].parent), "s"]) == 0
    return folder


@pytest.mark.parametrize("damage", [b"", b"not gzip", b"\x1f\x8b\x08"], ids=["empty", "other", "cut short"])
@pytest.mark.parametrize(
    ("file", "route", "status"),
    [
        ("ops.json.gz", "/ops", 409),
        ("timeline0.json", "/timeline", 409),
        ("timeline0_start.npy", "/timeline", 409),
        ("report.json.gz", "/report", 202),
    ],
)
def test_a_result_damaged_on_disk_is_read_anew(own, file, route, status, damage):
    made, _ = own(run=write_trace)
    folder = kept_result(made, "run")
    assert ask(made, route, run="run", name="s").status_code == 200
    (folder / file).write_bytes(damage)
    made._timelines.clear()
    assert ask(made, route, run="run", name="s").status_code == status
    assert not folder.exists()


def test_a_window_that_is_none_is_told(served):
    answer(served, "/report", **GOOD)
    response, content = answer(served, "/timeline", **GOOD, window=1)
    assert response.status_code == 404
    assert "no window 1" in content["error"]["message"]


@pytest.mark.parametrize("run", ["a b", "ü", "a#b?c&d=%20", "<b>", "two\nlines", b"bad\xff"])
def test_any_name_of_a_run_can_be_asked_for(own, run):
    made, _ = own(**{os.fsdecode(run): write_trace})
    (listed,) = answer(made, "/recordings")[1]["recordings"]
    assert ask(made, "/report", run=listed["run"], name=listed["name"]).status_code == 202


@pytest.fixture
def tuned(tmp_path):
    """A plugin over a log directory that holds a tuning record and no profile; the record."""
    record = tmp_path / "runs/a" / RECORD_NAME
    write_record(record)
    made = RlscopePlugin(context(tmp_path / "runs"))
    made._discovery.found()
    assert made._discovery._first_done.wait(30)
    return made, record


def test_a_tuning_record_alone_is_something_to_show(tuned):
    made, record = tuned
    assert made.is_active()
    listed = answer(made, "/recordings")[1]
    assert listed["recordings"] == []
    assert [one["run"] for one in listed["tunings"]] == ["a"]
    assert answer(made, "/tuning", run="a")[1] == tuning_of(Database(record).rows())


def test_a_tuning_record_is_read_again_when_it_grows_and_only_then(tuned, monkeypatch):
    made, record = tuned
    before = answer(made, "/tuning", run="a")[1]
    with record.open("ab") as file:  # a line that is being written
        file.write(
            b'{"name": "conv9", "device": "d", "jax": "0", "task": "0", "sketch": "s", "values": {}, "seco'
        )
    assert answer(made, "/tuning", run="a")[1] == before
    with record.open("ab") as file:
        file.write(b'nds": 1.0}\n')
    assert len(answer(made, "/tuning", run="a")[1]["tasks"]) == 2
    monkeypatch.setattr(Database, "rows", None)
    assert len(answer(made, "/tuning", run="a")[1]["tasks"]) == 2


def test_tuning_records_that_cannot_be_shown_say_why(tuned, monkeypatch):
    made, record = tuned
    response, content = answer(made, "/tuning", run="b")
    assert (response.status_code, content["error"]["message"]) == (
        404,
        "there is no tuning record of run 'b'",
    )
    with monkeypatch.context() as patch:
        patch.setattr(database, "MOST_BYTES", 10)
        assert "too much for a tuning database" in answer(made, "/tuning", run="a")[1]["error"]["message"]
    record.unlink()
    assert "No such file" in answer(made, "/tuning", run="a")[1]["error"]["message"]
    record.mkdir()
    assert "cannot read" in answer(made, "/tuning", run="a")[1]["error"]["message"]
    record.rmdir()
    record.write_bytes(b"\x89PNG\r\n" + bytes(range(256)))
    assert answer(made, "/tuning", run="a")[1]["tasks"] == []
