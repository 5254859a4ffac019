"""From a recorded program to corrected figures: what they add up to, never how long anything took."""

import json
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import jsonschema
import pytest

from rlscope_jax import Schedule, load, operation, profile
from rlscope_jax.__main__ import main
from rlscope_jax._jax import Recorder
from rlscope_jax.breakdown.report import report_schema
from rlscope_jax.overhead.constants import Constant, Constants
from rlscope_jax.overhead.recorded import stored_constants
from rlscope_jax.overhead.repeats import overhead_of
from rlscope_jax.overhead.store import save, store_path
from rlscope_jax.overhead.suite import run_inline

CELLS = ("device_only", "overlap", "host_only", "idle")
COST = Constant(100.0, 80.0, 120.0)
CONSTANTS = Constants(Constant(3.0, 2.7, 3.3), 5.0, COST, COST, COST, COST, COST, COST)


@jax.jit
def train_step(x):
    def body(x, _):
        with operation("env_step"):
            x = jnp.sort(x, axis=-1)
        with operation("policy"):
            return jnp.tanh(x @ x * 0.1), None

    return jax.lax.scan(body, x, None, length=100)[0]


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    x = jnp.ones((8, 8)) * 0.01
    with profile(folder, Schedule(skip_first=1, wait=9, active=3, repeat=1)) as profiler:
        for _ in range(13):
            profiler.step(train_step(x).block_until_ready())
    return folder


@pytest.fixture
def calibrated(logdir, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    trace = load(logdir).processes[0].trace
    save(store_path(trace.host, trace.environment["jaxlib"], "cpu"), CONSTANTS, "now")
    assert stored_constants(trace, {}) == CONSTANTS
    return logdir


def figures(value):
    """Every figure within a report."""
    if isinstance(value, dict):
        if set(value) == {"raw", "corrected", "interval"}:
            yield value
        for inner in value.values():
            yield from figures(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from figures(inner)


def test_corrected_figures_add_up(calibrated):
    data = load(calibrated).to_dict()
    jsonschema.validate(data, report_schema())
    assert data["overhead"]["correction"] in ("calibrated", "anchored")
    totals, rows = data["totals"], data["operations"]
    wall = totals["wall"]["corrected"]
    assert abs(sum(totals[cell]["corrected"] for cell in CELLS) - wall) <= len(CELLS)
    cells = [row["wall"][cell]["corrected"] for row in rows for cell in CELLS]
    assert abs(sum(cells) - wall) <= len(cells)
    self_times = sum(row["device"]["self"]["corrected"] for row in rows)
    assert abs(self_times - totals["device_self"]["corrected"]) <= len(rows)
    assert abs(totals["wall"]["raw"] - wall - data["overhead"]["removed"]["ns"]) <= 2
    for each in figures(data):
        if each["corrected"] is not None:
            low, high = each["interval"]
            assert 0 <= low <= each["corrected"] <= high


def test_less_is_left_of_every_operation_and_of_the_steps(calibrated, monkeypatch):
    data = load(calibrated).to_dict()
    rows = {row["path"]: row["device"]["self"] for row in data["operations"]}
    for path in ("env_step", "policy"):
        assert 0 < rows[path]["corrected"] < rows[path]["raw"]
    median = data["steps"]["wall"]["median"]
    assert median["corrected"] < median["raw"]


def test_without_constants_or_anchors_nothing_is_corrected_and_the_reason_said(logdir, tmp_path):
    target = tmp_path / "copy.xplane.pb"
    target.write_bytes(next(logdir.rglob("*.xplane.pb")).read_bytes())
    data = load(target).to_dict()
    assert data["overhead"]["correction"] == "none"
    assert "rlscope-jax calibrate" in data["overhead"]["reason"]
    assert {each["corrected"] for each in figures(data)} == {None}


def test_the_description_tells_the_jaxlib_that_a_profile_does_not(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    save(store_path("there", "0.8.0", "cpu"), CONSTANTS, "2026-01-01T00:00:00+00:00")
    trace = SimpleNamespace(host="there", environment={"jaxlib": None, "platform": "cpu"})
    assert stored_constants(trace, {"jaxlib": "0.8.0"}) == CONSTANTS
    assert stored_constants(trace, {"jaxlib": 8}) is None
    assert stored_constants(trace, {}) is None


def test_the_terminal_shows_both_or_only_raw(calibrated, capsys):
    assert main(["report", str(calibrated)]) == 0
    both = capsys.readouterr().out
    assert "±" in both
    assert "times as long" in both
    assert max(map(len, both.splitlines()[1:])) <= 110
    assert main(["report", str(calibrated), "--raw"]) == 0
    assert "±" not in capsys.readouterr().out


@pytest.mark.slow
def test_calibrating_stores_what_reports_then_use(logdir, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["calibrate", "--json"]) == 0
    constants = json.loads(capsys.readouterr().out)
    assert constants["tail_ratio"]["low"] < constants["tail_ratio"]["value"] < constants["tail_ratio"]["high"]
    assert load(logdir).to_dict()["overhead"]["constants"] == constants


def test_a_cache_that_cannot_be_written_is_said(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("rlscope_jax.overhead.calibrate.calibrate", _must_not_measure)
    assert main(["calibrate"]) == 2
    assert "XDG_CACHE_HOME" in capsys.readouterr().err


@pytest.mark.parametrize(("ratio", "code", "said"), [(3.1, 0, "still fits"), (5.0, 1, "no longer fits")])
def test_checking_compares_with_what_is_stored(tmp_path, monkeypatch, capsys, ratio, code, said):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("rlscope_jax.overhead.calibrate.calibrate", lambda progress: (CONSTANTS, []))
    assert main(["calibrate"]) == 0
    now = Constants.from_dict(
        {**CONSTANTS.to_dict(), "tail_ratio": {"value": ratio, "low": ratio, "high": ratio}}
    )
    monkeypatch.setattr("rlscope_jax.overhead.calibrate.calibrate", lambda progress: (now, []))
    assert main(["calibrate", "--check"]) == code
    assert said in capsys.readouterr().out
    assert main(["calibrate", "--check", "--json"]) == code
    assert json.loads(capsys.readouterr().out)["fits"] is (code == 0)


def _must_not_measure(progress):
    raise AssertionError("it measured for nothing")


def test_checking_without_anything_stored_measures_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("rlscope_jax.overhead.calibrate.calibrate", _must_not_measure)
    assert main(["calibrate", "--check"]) == 1
    assert "nothing is stored" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RuntimeError("Unable to initialize backend 'cuda': no device\nmore"), "'cuda': no device; see"),
        (AssertionError(), "AssertionError; see: rlscope-jax doctor"),
    ],
)
def test_a_backend_that_is_not_there_is_said(monkeypatch, capsys, error, said):
    def fails():
        raise error

    monkeypatch.setattr(jax, "default_backend", fails)
    assert main(["calibrate"]) == 2
    assert said in capsys.readouterr().err


def test_the_programs_that_tell_what_a_step_costs_are_not_waited_for():
    for run, x in run_inline():
        run(x).block_until_ready()
        recorder = Recorder()
        for _ in range(10):
            run(x).block_until_ready()
        overhead = overhead_of(recorder.stop())
        assert overhead.device.count.sum() >= 20
        # Handed to another thread and waited for, a step would cost that on top.
        assert len(overhead.waits) == 0
