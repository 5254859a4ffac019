"""Readers in processes of their own: results kept beside the run, failures told in words."""

import gzip
import json
import os
import stat
import threading
import time
from pathlib import Path

import pytest

from rlscope_jax import load
from rlscope_jax.tb_plugin import results
from rlscope_jax.tb_plugin.discovery import look
from rlscope_jax.tb_plugin.read_profile import main as read_profile
from rlscope_jax.tb_plugin.results import Results
from xspace_builder import US, CpuTrace, Op, module_of


def small_trace(logdir, session="s"):
    trace, tree = CpuTrace(), [Op("dot.1", 5 * US)]
    trace.run(module_of("jit_f", 7, tree, {"dot.1": "jit(f)/rls=update/dot"}), tree, at=10 * US)
    return trace.write(logdir, session)


def recording(logdir, name="s"):
    return look([("", str(logdir))]).recordings[".", name]


def finished(kept, one, **options):
    until = time.monotonic() + 120
    while time.monotonic() < until:
        state = kept.of(one, "auto", **options)
        if state.state in ("ready", "failed"):
            return state
        time.sleep(0.05)
    raise AssertionError("the reader did not end")


@pytest.fixture
def kept():
    kept = Results()
    yield kept
    kept.close()


def test_a_report_is_read_once_and_kept_beside_the_run(tmp_path, kept):
    small_trace(tmp_path)
    state = finished(kept, recording(tmp_path))
    assert state.folder.parent == tmp_path / "plugins/rlscope/cache"
    assert json.loads(gzip.decompress(results.report_bytes(state.folder))) == load(tmp_path).to_dict()
    assert results.ops_of(state.folder, "0||update")["ops"][0]["name"] == "dot.1"
    written = state.folder.stat().st_mtime_ns
    assert Results().of(recording(tmp_path), "auto").state == "ready"
    assert state.folder.stat().st_mtime_ns == written
    assert set(look([("", str(tmp_path))]).recordings) == {(".", "s")}


def test_a_changed_file_is_read_anew_and_the_old_result_removed(tmp_path, kept):
    path = small_trace(tmp_path)
    first = finished(kept, recording(tmp_path)).folder
    os.utime(path, (1000, 1000))
    second = finished(kept, recording(tmp_path)).folder
    assert first != second
    assert [entry.name for entry in second.parent.iterdir()] == [second.name]


def test_groups_are_kept_side_by_side(tmp_path, kept):
    small_trace(tmp_path)
    finished(kept, recording(tmp_path))
    name, _ = results._cache_name(recording(tmp_path), "auto")
    assert name != results._cache_name(recording(tmp_path), "function")[0]


def test_a_damaged_profile_says_so_and_may_be_tried_again(tmp_path, kept):
    path = small_trace(tmp_path)
    sound = path.read_bytes()
    path.write_bytes(b"\xff" * 100)
    state = finished(kept, recording(tmp_path))
    assert state.state == "failed"
    assert "is no XLA profile" in state.error
    assert kept.of(recording(tmp_path), "auto").state == "failed"
    path.write_bytes(sound)
    assert finished(kept, recording(tmp_path), again=True).state == "ready"


def test_windows_of_a_run_are_added_up(tmp_path, kept):
    for number in range(2):
        path = small_trace(tmp_path, f"w{number}")
        os.utime(path, (1000 + number, 1000 + number))
        sidecar = tmp_path / "plugins/rlscope" / f"w{number}.json"
        sidecar.parent.mkdir(parents=True, exist_ok=True)
        sidecar.write_text(json.dumps({"part_of": "run"}))
    state = finished(kept, recording(tmp_path, "run"))
    shown = json.loads(gzip.decompress(results.report_bytes(state.folder)))
    assert shown["window"]["windows"] == 2
    assert shown["counts"]["device_ops"] == 2


def test_a_run_that_cannot_be_written_to_is_kept_elsewhere(tmp_path, kept, monkeypatch):
    small_trace(tmp_path)
    (tmp_path / "plugins/rlscope").write_text("a file in the way")
    state = finished(kept, recording(tmp_path))
    assert state.state == "ready"
    assert tmp_path not in state.folder.parents
    kept.close()
    assert not state.folder.exists()


def fake_reader(tmp_path, monkeypatch, script):
    """Let every reader be a shell script."""
    fake = tmp_path / "reader"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(results.sys, "executable", str(fake))


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("kill -9 $$", "signal 9 (the machine may have run out of memory)"),
        ("echo 'ImportError: no numba' >&2; exit 1", "code 1: ImportError: no numba"),
        ("echo not json; exit 3", "code 3: it said nothing"),
        ("""echo '{"error": "words"}'; exit 1""", "words"),
    ],
)
def test_a_reader_that_dies_is_told_in_words(tmp_path, kept, monkeypatch, script, said):
    small_trace(tmp_path)
    fake_reader(tmp_path, monkeypatch, script)
    assert said in finished(kept, recording(tmp_path)).error


def test_no_more_than_two_read_at_once_and_the_others_wait_their_turn(tmp_path, kept, monkeypatch):
    for name in "abcd":
        small_trace(tmp_path, name)
    found = [recording(tmp_path, name) for name in "abcd"]
    fake_reader(tmp_path, monkeypatch, f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; exit 1")
    states = [kept.of(one, "auto") for one in found]
    assert [state.state for state in states] == ["reading", "reading", "waiting", "waiting"]
    assert [state.ahead for state in states] == [0, 0, 1, 2]
    (tmp_path / "go").touch()
    assert {finished(kept, one).state for one in found} == {"failed"}


def test_the_reader_writes_all_or_nothing(tmp_path, capsys):
    """And tells how far it is."""
    small_trace(tmp_path)
    assert read_profile([str(tmp_path / "out"), "auto", str(tmp_path), "s"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert told[-1] == {"progress": 1.0, "stage": "writing"}
    assert (tmp_path / "out" / "report.json.gz").is_file()
    assert not list(tmp_path.glob("*.partial"))
    assert read_profile([str(tmp_path / "other"), "auto", str(tmp_path), "absent"]) == 1
    assert "no session 'absent'" in json.loads(capsys.readouterr().out)["error"]
    assert not Path(tmp_path / "other").exists()


def test_a_calibration_of_the_machine_is_taken_up(tmp_path, kept, monkeypatch):
    """Its constants go into the figures: what was read without them is read anew."""
    calibrations = tmp_path / "cache/calibration"
    monkeypatch.setattr(results, "store_path", lambda *_: calibrations / "one.json")
    small_trace(tmp_path / "run")
    before = finished(kept, recording(tmp_path / "run")).folder
    calibrations.mkdir(parents=True)
    (calibrations / "one.json").write_text("{}")
    assert finished(kept, recording(tmp_path / "run")).folder != before


def test_what_another_version_kept_is_read_anew_and_removed(tmp_path, kept, monkeypatch):
    small_trace(tmp_path)
    monkeypatch.setattr(results, "_source_digest", lambda: "another version")
    old = finished(kept, recording(tmp_path)).folder
    monkeypatch.undo()
    new = finished(kept, recording(tmp_path)).folder
    assert new != old
    assert [entry.name for entry in new.parent.iterdir()] == [new.name]


def test_what_an_ended_reader_left_behind_is_removed(tmp_path, kept):
    small_trace(tmp_path)
    folder = finished(kept, recording(tmp_path)).folder
    old, fresh = (folder.with_name(f"{folder.name}.{number}.partial") for number in (1, 2))
    for left in (old, fresh):
        left.mkdir()
    os.utime(old, (1000, 1000))
    kept.forget(folder)
    finished(kept, recording(tmp_path))
    assert not old.exists()
    assert fresh.exists()


def test_two_tensorboards_may_read_the_same(tmp_path, capsys):
    small_trace(tmp_path)
    arguments = [str(tmp_path / "out"), "auto", str(tmp_path), "s"]
    assert read_profile(arguments) == 0
    first = (tmp_path / "out" / "report.json.gz").stat()
    assert read_profile(arguments) == 0
    assert (tmp_path / "out" / "report.json.gz").stat().st_ino == first.st_ino
    assert not list(tmp_path.glob("*.partial"))


def test_a_directory_that_only_seems_writable_is_left_alone(tmp_path, kept, monkeypatch):
    small_trace(tmp_path)

    def refuse(dir):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(results.tempfile, "TemporaryFile", refuse)
    state = finished(kept, recording(tmp_path))
    assert state.state == "ready"
    assert tmp_path not in state.folder.parents


def test_what_others_kept_where_we_may_not_write_is_used(tmp_path, kept, monkeypatch):
    small_trace(tmp_path)
    folder = finished(kept, recording(tmp_path)).folder
    other = Results()
    other._unwritable.add(tmp_path)
    assert other.of(recording(tmp_path), "auto") == kept.of(recording(tmp_path), "auto")
    monkeypatch.setattr(results.shutil, "rmtree", lambda *_, **__: None)
    other.forget(folder)  # damaged, and to stay so
    state = other.of(recording(tmp_path), "auto")
    assert state.state == "reading"
    assert tmp_path not in state.folder.parents
    monkeypatch.undo()
    other.close()


@pytest.mark.parametrize("line", ["5", "[]", "null", '"x"'])
def test_json_that_is_no_news_disturbs_nothing(tmp_path, kept, monkeypatch, line):
    small_trace(tmp_path)
    fake_reader(tmp_path, monkeypatch, f"echo '{line}'; exit 3")
    assert "code 3" in finished(kept, recording(tmp_path)).error


def test_many_users_at_once_start_one_reader(tmp_path, kept, monkeypatch):
    small_trace(tmp_path)
    fake_reader(tmp_path, monkeypatch, f"echo x >> {tmp_path}/started; sleep 0.2; exit 1")
    one = recording(tmp_path)
    users = [threading.Thread(target=kept.of, args=(one, "auto")) for _ in range(8)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    finished(kept, one)
    assert (tmp_path / "started").read_text() == "x\n"
