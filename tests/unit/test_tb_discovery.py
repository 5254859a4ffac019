"""What is found under TensorBoard's log directories, and what is said of what is not."""

import json
import os
import threading
import time

import pytest

from rlscope_jax.tb_plugin import discovery
from rlscope_jax.tb_plugin.discovery import Discovery, look, roots_of
from rlscope_jax.tune.searches import RECORD_NAME


def profile(logdir, session="s", host="vm"):
    path = logdir / "plugins/profile" / session / f"{host}.xplane.pb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x")
    return path


def sidecar(logdir, session, **content):
    path = logdir / "plugins/rlscope" / f"{session}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("logdir", "spec", "roots"),
    [
        ("/a", None, [("", "/a")]),
        ("", "", []),
        (None, None, []),
        ("", "x:/a,y:/b", [("x", "/a"), ("y", "/b")]),
        ("", "/a,y:/b", [("", "/a"), ("y", "/b")]),
        ("", "gs://bucket/a,x:gs://bucket/b", [("", "gs://bucket/a"), ("x", "gs://bucket/b")]),
    ],
)
def test_log_directories_as_tensorboard_is_told_them(logdir, spec, roots):
    assert roots_of(logdir, spec) == roots


def test_recordings_are_named_as_tensorboard_names_runs(tmp_path):
    profile(tmp_path, "first")
    profile(tmp_path / "a/b", "second")
    profile(tmp_path / "a/b", "second", "other")
    found = look([("", str(tmp_path))]).recordings
    assert set(found) == {(".", "first"), ("a/b", "second")}
    assert found["a/b", "second"].to_dict()["files"] == 2
    assert set(look([("x", str(tmp_path))]).recordings) == {("x", "first"), ("x/a/b", "second")}


def test_what_others_keep_beside_profiles_is_no_recording(tmp_path):
    folder = profile(tmp_path).parent
    for name in ("vm.hlo_proto.pb", "ALL_HOSTS.op_stats_v2.pb", ".cached_tools.json", "vm.trace.json.gz"):
        (folder / name).write_bytes(b"x")
    assert look([("", str(tmp_path))]).recordings[".", "s"].to_dict()["files"] == 1


def test_the_windows_of_a_run_are_one_recording_too(tmp_path):
    for number in range(3):
        path = profile(tmp_path, f"w{number}")
        os.utime(path, (1000 + number, 1000 + number))
        sidecar(tmp_path, f"w{number}", part_of="train.py 2026")
    found = look([("", str(tmp_path))]).recordings
    assert set(found) == {(".", "train.py 2026"), (".", "w0"), (".", "w1"), (".", "w2")}
    assert [part.name for part in found[".", "train.py 2026"].parts] == ["w0", "w1", "w2"]


def test_a_description_without_a_profile_is_told(tmp_path):
    sidecar(tmp_path, "gone")
    found = look([("", str(tmp_path))])
    assert not found.recordings
    assert [os.path.basename(path) for path in found.lost] == ["gone.json"]


def test_tuning_records_are_found_with_profiles_or_without(tmp_path):
    profile(tmp_path / "both")
    for run in ("both", "alone", "alone/deeper"):
        path = tmp_path / run / RECORD_NAME
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    (tmp_path / "folder" / RECORD_NAME).mkdir(parents=True)
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / RECORD_NAME).symlink_to("nowhere")
    found = look([("", str(tmp_path))])
    assert set(found.tunings) == {"both", "alone", "alone/deeper"}
    assert found.tunings["alone"].to_dict()["bytes"] == 2
    assert set(found.recordings) == {("both", "s")}
    assert [os.path.basename(one["path"]) for one in found.unreadable] == [RECORD_NAME]
    two = [("", str(tmp_path / "both")), ("", str(tmp_path / "alone")), ("x", str(tmp_path / "alone"))]
    assert set(look(two).tunings) == {".", str(tmp_path / "alone"), "deeper", "x", "x/deeper"}


def test_links_in_circles_end(tmp_path):
    profile(tmp_path / "run")
    (tmp_path / "run/again").symlink_to(tmp_path)
    assert set(look([("", str(tmp_path))]).recordings) == {("run", "s")}


def test_a_directory_that_cannot_be_read_costs_only_itself(tmp_path, monkeypatch):
    profile(tmp_path / "good")
    (tmp_path / "locked").mkdir()
    scandir = os.scandir

    def locked(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(discovery.os, "scandir", locked)
    found = look([("", str(tmp_path))])
    assert set(found.recordings) == {("good", "s")}
    assert found.unreadable == [{"path": str(tmp_path / "locked"), "reason": "Permission denied"}]


def test_looking_is_bounded(tmp_path, monkeypatch):
    for number in range(30):
        (tmp_path / f"d{number:02}").mkdir()
    monkeypatch.setattr(discovery, "_MOST_DIRECTORIES", 10)
    found = look([("", str(tmp_path))])
    assert found.truncated
    assert found.looked_in[0]["directories"] == 10


@pytest.mark.parametrize(
    ("root", "said"), [("gs://b/x", "another machine"), ("/nowhere/at all", "does not exist")]
)
def test_a_root_that_cannot_be_looked_in_says_why(root, said):
    assert said in look([("", root)]).looked_in[0]["problem"]


def test_a_slow_look_keeps_nobody_waiting(monkeypatch, tmp_path):
    release = threading.Event()
    profile(tmp_path)

    def slow(roots):
        release.wait(30)
        return look(roots)

    monkeypatch.setattr(discovery, "look", slow)
    monkeypatch.setattr(discovery, "_PATIENCE", 0.0)
    waiting = Discovery([("", str(tmp_path))])
    assert not waiting.found().recordings
    assert waiting.looking
    release.set()
    assert waiting._first_done.wait(30)
    assert set(waiting.found().recordings) == {(".", "s")}


def test_it_looks_again_only_after_a_rest(monkeypatch, tmp_path):
    looks = []
    monkeypatch.setattr(discovery, "look", lambda roots: looks.append(1) or look(roots))
    waiting = Discovery([("", str(tmp_path))])
    for _ in range(5):
        waiting.found()
    assert waiting._first_done.wait(30)
    waiting.found()
    assert len(looks) == 1
    waiting.refresh()
    waiting.found()
    until = time.monotonic() + 30
    while len(looks) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    assert len(looks) == 2


def test_a_link_to_itself_costs_its_neighbours_nothing(tmp_path):
    profile(tmp_path / "run")
    (tmp_path / "endless").symlink_to(tmp_path / "endless")
    (tmp_path / "run/plugins/profile/s/endless").symlink_to("endless")
    found = look([("", str(tmp_path))])
    assert set(found.recordings) == {("run", "s")}
    assert found.unreadable == []


def test_files_where_directories_should_be(tmp_path):
    profile(tmp_path / "good")
    for name in ("plugins", "other/plugins/profile", "third/plugins/profile/s"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a file")
    assert set(look([("", str(tmp_path))]).recordings) == {("good", "s")}


def test_a_name_that_is_no_utf8_can_be_sent(tmp_path):
    """Only by its bytes can it be opened; what is shown of it is text."""
    profile(tmp_path / os.fsdecode(b"run\xff"))
    ((run, _), found), *_ = look([("", str(tmp_path))]).recordings.items()
    assert run == "run\ufffd"
    json.dumps(found.to_dict()).encode()
    assert run.encode()
    assert found.parts[0].files[0].is_file()


def test_log_directories_without_names_keep_their_runs_apart(tmp_path):
    for name in ("a", "b"):
        profile(tmp_path / name)
    found = look([("", str(tmp_path / "a")), ("", str(tmp_path / "b"))]).recordings
    assert set(found) == {(".", "s"), (str(tmp_path / "b"), "s")}


def test_asked_again_while_it_looks_it_looks_once_more(monkeypatch, tmp_path):
    """What is new may lie where this look has been already."""
    begun, release = threading.Semaphore(0), threading.Semaphore(0)

    def slow(roots):
        found = look(roots)
        begun.release()
        release.acquire()
        return found

    monkeypatch.setattr(discovery, "look", slow)
    monkeypatch.setattr(discovery, "_PATIENCE", 0.0)
    waiting = Discovery([("", str(tmp_path))])
    waiting.found()
    begun.acquire()
    profile(tmp_path)
    assert not waiting.refresh().recordings
    release.release()
    assert begun.acquire(timeout=30)
    assert waiting.looking
    release.release()
    assert waiting._rested.wait(30)
    assert set(waiting.found().recordings) == {(".", "s")}


def test_after_a_refresh_what_is_new_is_there(tmp_path):
    waiting = Discovery([("", str(tmp_path))])
    waiting.found()
    assert waiting._rested.wait(30)
    profile(tmp_path)
    waiting.refresh()
    assert waiting._rested.wait(30)
    assert set(waiting.found().recordings) == {(".", "s")}
