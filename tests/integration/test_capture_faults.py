"""Whatever fails, training goes on, the cause is said once, and what can be saved is saved."""

import errno
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from rlscope_jax import Schedule, _jax, load, profile, sessions
from rlscope_jax.capture import _session
from rlscope_jax.errors import NoProfileError

REPOSITORY = Path(__file__).resolve().parents[2]
STEPS = Schedule(active=1)  # a window for each step

train_step = jax.jit(lambda x: jnp.tanh(x @ x))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """The user's cache directory, for this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def train(logdir, steps=2, schedule=None):
    """A loop that must reach its end; returns the profiler."""
    x, done = jnp.ones((8, 8)), 0
    with profile(logdir, schedule) as profiler:
        for _ in range(steps):
            x = train_step(x)
            profiler.step(x)
            done += 1
    assert done == steps
    return profiler


def test_the_profiler_does_not_start(tmp_path, monkeypatch):
    def refuse(_):
        raise RuntimeError("CUPTI is not there")

    monkeypatch.setattr(_jax, "ProfilerSession", refuse)
    with pytest.warns(RuntimeWarning, match=r"could not start the profiler: CUPTI is not there\.") as said:
        profiler = train(tmp_path / "run", 3, STEPS)
    assert len(said) == 1
    assert profiler.sessions == []
    with pytest.raises(NoProfileError, match="no window was recorded"):
        profiler.report()


def test_the_profiler_does_not_stop(tmp_path, monkeypatch):
    stop = _jax.Recorder.stop

    def fail(recorder):
        stop(recorder)
        raise RuntimeError("INTERNAL: out of buffers")

    monkeypatch.setattr(_jax.Recorder, "stop", fail)
    with pytest.warns(RuntimeWarning, match="steps 0 to 0 are lost: INTERNAL: out of buffers") as said:
        assert train(tmp_path / "run", 3, STEPS).sessions == []
    assert len(said) == 1
    monkeypatch.undo()
    assert len(train(tmp_path / "again").sessions) == 1


def full_disk(path, _content):
    """What Path.write_bytes does on a full disk: something, then an error."""
    with open(path, "wb") as file:
        file.write(b"\n")
    raise OSError(errno.ENOSPC, "No space left on device", str(path))


def test_the_disk_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.warns(RuntimeWarning, match="No space left on device") as said:
        assert train(tmp_path / "run", 3, STEPS).sessions == []
    assert len(said) == 1
    assert not [
        path for path in tmp_path.rglob("*") if path.is_file()
    ]  # no half profile for a reader to find
    assert not any((tmp_path / "run/plugins/profile").iterdir())


def test_the_disk_is_full_at_the_very_end(tmp_path, monkeypatch):
    write = Path.write_bytes
    monkeypatch.setattr(
        Path,
        "write_bytes",
        lambda path, content: (full_disk if "json" in path.name else write)(path, content),
    )
    with pytest.warns(RuntimeWarning, match="could not describe the profile of steps 0 to 1"):
        profiler = train(tmp_path / "run")
    assert load(profiler.sessions[0]).to_dict()["counts"]["dispatches"] == 2


def test_the_logdir_vanishes(tmp_path):
    x = jnp.ones((8, 8))
    with profile(tmp_path / "run", STEPS) as profiler:
        for _ in range(2):
            x = train_step(x)
            profiler.step(x)
            shutil.rmtree(tmp_path / "run")
        x = train_step(x)
        profiler.step(x)
    assert len(sessions(tmp_path / "run")) == 1


@pytest.mark.parametrize("blocked", ["run", "run/plugins", "run/plugins/profile"])
def test_a_logdir_that_cannot_be_written_is_replaced(tmp_path, cache, blocked):
    (tmp_path / blocked).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / blocked).write_text("in the way")
    with pytest.warns(RuntimeWarning, match="could not keep the profile of steps 0 to 0 in ") as said:
        profiler = train(tmp_path / "run", 2, STEPS)
    assert len(said) == 1
    assert str(cache) in str(said[0].message)
    assert all(path.is_relative_to(cache) for path in profiler.sessions)
    assert [profiler.report().to_dict()["window"][key] for key in ("first_step", "steps")] == [1, 1]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_logdir_is_replaced(tmp_path, cache):
    (tmp_path / "run").mkdir(mode=0o500)
    with pytest.warns(RuntimeWarning, match="Permission denied"):
        assert train(tmp_path / "run").sessions[0].is_relative_to(cache)


@pytest.mark.parametrize(
    "logdir", ["gs://bucket/run", "s3://bucket/run", Path("gs://bucket/run"), "file:///r"]
)
def test_remote_directories_are_refused_in_words(logdir):
    with pytest.raises(ValueError, match=r"remote directories cannot be written yet\. Record into a local"):
        profile(logdir)


def test_sessions_of_one_second_do_not_collide(tmp_path):
    names = [_session.write_profile(tmp_path, b"").parent.name for _ in range(20)]
    assert len(set(names)) == 20


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit])
def test_what_the_block_raises_goes_through_and_the_steps_before_are_kept(tmp_path, error):
    with pytest.raises(error), profile(tmp_path) as profiler:
        profiler.step(train_step(jnp.ones((8, 8))))
        raise error
    assert profiler.report().to_dict()["window"]["steps"] == 1
    assert not _jax.is_recording()


def test_an_interrupt_while_the_block_begins_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    before = _jax.cache_keeps_names()
    monkeypatch.setattr(_jax, "wait_for", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "run")
    assert not _jax.is_recording()
    assert _jax.cache_keeps_names() is before


def test_an_interrupt_while_writing_stops_training_and_leaves_no_half_file(tmp_path, monkeypatch):
    def interrupted(path, content):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "run")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not _jax.is_recording()


def test_a_failed_computation_is_only_waited_for(tmp_path, monkeypatch):
    """What the device then raises is the user's to see, where the user asks for the value."""

    def raising(_):
        raise RuntimeError("INTERNAL: the simulator crashed")

    monkeypatch.setattr(_jax, "wait_for", raising)
    with pytest.warns(
        RuntimeWarning, match=r"could not wait for the device .*: INTERNAL: the simulator"
    ) as said:
        profiler = train(tmp_path / "run", 3, STEPS)
    assert len(said) == 1
    assert len(profiler.sessions) == 3


def test_two_threads_end_steps(tmp_path):
    x = jnp.ones((8, 8))
    with profile(tmp_path, Schedule(active=5)) as profiler:

        def work():
            for _ in range(10):
                profiler.step(train_step(x))

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert profiler._step == 20
    assert len(profiler.sessions) == len(sessions(tmp_path)) == 4


def test_two_threads_record(tmp_path):
    first_open, second_done = threading.Event(), threading.Event()
    kept = {}

    def record():
        first_open.wait(60)
        with pytest.warns(RuntimeWarning, match="already running"):
            kept["second"] = train(tmp_path / "second").sessions
        second_done.set()

    thread = threading.Thread(target=record)
    thread.start()
    with profile(tmp_path / "first") as profiler:
        first_open.set()
        assert second_done.wait(60)
        profiler.step(train_step(jnp.ones((8, 8))))
    thread.join()
    assert (len(profiler.sessions), kept["second"]) == (1, [])


def test_a_profiler_server_is_no_hindrance(tmp_path):
    jax.profiler.start_server(0)
    try:
        assert len(train(tmp_path).sessions) == 1
    finally:
        jax.profiler.stop_server()


FORK = """
import os, sys, warnings
import jax, jax.numpy as jnp
from rlscope_jax import operation, profile, sessions

warnings.simplefilter("ignore")  # jax says at every fork that it is multithreaded
step = jax.jit(lambda x: x + 1)
with profile(sys.argv[1]) as profiler:
    profiler.step(step(jnp.ones(2)))
    child = os.fork()
    if child == 0:
        with operation("in the child"):
            profiler.step()
        profiler.__exit__(None, None, None)
        os._exit(7 if profiler.sessions else 0)
    assert os.waitpid(child, 0)[1] == 0
    profiler.step(step(jnp.ones(2)))
assert len(sessions(sys.argv[1])) == 1
assert profiler.report().to_dict()["window"]["steps"] == 2
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_leaves_the_recording_to_its_parent(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", FORK, tmp_path],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
