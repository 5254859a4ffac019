"""profile(): what it writes, and that it never breaks a training loop."""

import json

import jax
import jax.numpy as jnp
import pytest

from rlscope_jax import Schedule, _jax, load, profile, sessions


@jax.jit
def train_step(x):
    return jnp.tanh(x @ x)


def train(logdir, steps, schedule=None):
    x = jnp.ones((64, 64)) * 0.01
    with profile(logdir, schedule) as profiler:
        for _ in range(steps):
            x = train_step(x)
            profiler.step(x)
    return profiler


def test_a_schedule_leaves_one_session_a_cycle(tmp_path):
    profiler = train(tmp_path, 12, Schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2))
    assert [path.parent.name for path in profiler.sessions] == [
        session.name for session in sessions(tmp_path)
    ]
    windows = [load(tmp_path, session.name).to_dict()["window"] for session in sessions(tmp_path)]
    assert [(window["first_step"], window["last_step"], window["steps"]) for window in windows] == [
        (3, 4, 2), (7, 8, 2),
    ]  # fmt: skip


def test_without_a_schedule_the_whole_block_is_one_session(tmp_path):
    train(tmp_path, 3)
    report = load(tmp_path).to_dict()
    assert (report["window"]["steps"], report["counts"]["dispatches"]) == (3, 3)
    assert report["health"]["verdict"] == "ok"


def test_only_whole_steps_count(tmp_path):
    with profile(tmp_path) as profiler:
        y = train_step(jnp.ones((8, 8)))
        profiler.step(y)
        train_step(y).block_until_ready()  # after the last step
    assert load(tmp_path).to_dict()["window"]["steps"] == 1


def test_work_whose_result_is_dropped_is_waited_for(tmp_path):
    x = jnp.ones((700, 700)) * 0.01
    long = jax.jit(lambda x: jax.lax.fori_loop(0, 30, lambda _, y: jnp.tanh(y @ x), x))
    long(x).block_until_ready()
    with profile(tmp_path) as profiler:
        profiler.step(long(x))
    report = load(tmp_path).to_dict()
    assert report["health"]["verdict"] == "ok"
    assert report["counts"]["device_ops"] > 30


def test_the_sidecar_describes_the_window_and_nothing_else_is_written(tmp_path):
    train(tmp_path, 2)
    files = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    [session] = sessions(tmp_path)
    assert files == [
        f"plugins/profile/{session.name}/{session.files[0].name}",
        f"plugins/rlscope/{session.name}.json",
    ]
    sidecar = json.loads((tmp_path / files[1]).read_text())
    assert sidecar["window"]["stop_unix_ns"] > sidecar["window"]["start_unix_ns"]


def test_a_second_profiler_lets_training_go_on(tmp_path):
    with jax.profiler.trace(str(tmp_path / "first")), pytest.warns(RuntimeWarning, match="already running"):
        profiler = train(tmp_path / "second", 3)
    assert profiler.sessions == []
    assert len(sessions(tmp_path / "first")) == 1


def test_an_exception_inside_the_window_is_the_users(tmp_path):
    with pytest.raises(ZeroDivisionError), profile(tmp_path) as profiler:
        profiler.step(train_step(jnp.ones((8, 8))))
        raise ZeroDivisionError
    assert load(tmp_path).to_dict()["window"]["steps"] == 1


def test_after_a_failure_the_next_window_works(tmp_path):
    with pytest.raises(KeyboardInterrupt), profile(tmp_path / "a"):
        raise KeyboardInterrupt
    train(tmp_path / "b", 2)
    assert load(tmp_path / "b").to_dict()["window"]["steps"] == 2


def test_an_endless_schedule_leaves_no_empty_session(tmp_path):
    profiler = train(tmp_path, 4, Schedule(active=2))
    windows = [load(tmp_path, session.name).to_dict()["window"] for session in sessions(tmp_path)]
    assert len(profiler.sessions) == 2
    assert [(window["first_step"], window["last_step"]) for window in windows] == [(0, 1), (2, 3)]


def test_a_change_of_directory_does_not_move_the_profile(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with profile("runs") as profiler:
        profiler.step(train_step(jnp.ones((8, 8))))
        monkeypatch.chdir(tmp_path / "elsewhere")
    assert len(sessions(tmp_path / "runs")) == 1


def test_an_interrupted_wait_keeps_the_window_and_stops_the_profiler(tmp_path, monkeypatch):
    from rlscope_jax import _jax

    def interrupted(value):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), profile(tmp_path) as profiler:
        profiler.step(train_step(jnp.ones((8, 8))))
        monkeypatch.setattr(_jax, "wait_for", interrupted)
    assert not _jax.TraceMe.is_enabled()
    assert len(sessions(tmp_path)) == 1


def test_a_step_after_the_block_is_only_a_warning(tmp_path):
    profiler = train(tmp_path, 1)
    with pytest.warns(RuntimeWarning, match="outside the profile's block"):
        profiler.step()
    assert len(profiler.sessions) == 1


def test_step_without_a_value_waits_for_what_is_alive(tmp_path):
    x = jnp.ones((300, 300)) * 0.01
    long = jax.jit(lambda x: jax.lax.fori_loop(0, 30, lambda _, y: jnp.tanh(y @ x), x))
    long(x).block_until_ready()
    with profile(tmp_path) as profiler:
        y = long(x)
        profiler.step()
    report = profiler.report().to_dict()
    assert report["health"]["verdict"] == "ok"
    assert report["counts"]["device_ops"] > 30
    assert y.is_ready()


def test_a_report_is_of_the_newest_window(tmp_path):
    profiler = train(tmp_path, 4, Schedule(active=2))
    assert profiler.report().to_dict()["window"]["first_step"] == 2
    assert profiler.report().session.name == profiler.sessions[-1].parent.name


def test_a_full_window_ends_early_and_says_so(tmp_path):
    """The warmup tells how many events a step has; of the six active steps only some have room."""
    x = jnp.ones((8, 8)) * 0.01
    many = jax.jit(lambda x: jax.lax.fori_loop(0, 300, lambda _, y: jnp.sort(jnp.tanh(y @ x)), x))
    many(x).block_until_ready()
    profiler = profile(tmp_path, Schedule(warmup=2, active=6, repeat=1), max_events=6_000)

    def loop():
        with profiler:
            for _ in range(9):
                profiler.step(many(x))

    with pytest.warns(RuntimeWarning, match=r"recording stopped after step .*, and max_events is 6,000"):
        loop()
    [path] = profiler.sessions
    report = profiler.report().to_dict()
    assert report["window"]["first_step"] == 2
    assert 1 <= report["window"]["steps"] < 6
    assert report["session"]["files"][0]["events"] < 6_000
    [problem] = report["health"]["problems"]
    assert problem["code"] == "truncated"
    assert "not after step 7" in problem["message"]
    assert path.is_file()


@pytest.mark.parametrize("wrong", [0, -1])
def test_a_bound_that_allows_nothing_is_refused(tmp_path, wrong):
    with pytest.raises(ValueError, match="use None for no limit"):
        profile(tmp_path, max_events=wrong)


def test_what_was_called_before_the_block_is_not_recorded_in_it(tmp_path):
    x = jnp.ones((300, 300)) * 0.01
    long = jax.jit(lambda x: jax.lax.fori_loop(0, 30, lambda _, y: jnp.tanh(y @ x), x))
    long(x).block_until_ready()
    waiting = [long(x) for _ in range(3)]
    with profile(tmp_path) as profiler:
        profiler.step(long(x))
    [program] = profiler.report().to_dict()["programs"]
    assert (program["runs"], program["dispatches"]) == (1, 1)
    assert all(array.is_ready() for array in waiting)


def test_steps_that_nobody_records_are_timed_beside_the_window(tmp_path):
    profiler = train(tmp_path, 24, Schedule(wait=8, active=2, repeat=2))
    [first, second] = [session.sidecar["anchors"]["steps_ns"] for session in sessions(tmp_path)]
    # Of eight steps the first is warm-up; a process' first window is preceded by a capture thrown away.
    assert len(first) in (6, 7)
    assert len(second) == 7
    assert all(step > 0 for step in first + second)
    assert len(profiler.sessions) == 2
    [between, last] = [session.sidecar["anchors"]["after_ns"] for session in sessions(tmp_path)]
    assert between == second  # they lie after the one and before the other
    assert len(last) == 3  # of four, the first is warm-up


def test_a_process_first_capture_is_thrown_away(tmp_path, monkeypatch):
    monkeypatch.setattr(profile, "_has_captured", False)
    stops = []
    stop = _jax.Recorder.stop
    monkeypatch.setattr(_jax.Recorder, "stop", lambda self: stops.append(1) or stop(self))
    profiler = train(tmp_path, 12, Schedule(wait=3, active=1, repeat=2))
    assert (len(stops), len(profiler.sessions)) == (3, 2)
    assert load(tmp_path).to_dict()["window"]["steps"] == 1


def test_without_steps_to_spare_nothing_is_thrown_away(tmp_path, monkeypatch):
    monkeypatch.setattr(profile, "_has_captured", False)
    profiler = train(tmp_path, 2, Schedule(active=2, repeat=1))
    assert len(profiler.sessions) == 1
