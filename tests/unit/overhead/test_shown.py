"""What a person is told of a correction, and which steps and processes it is of."""

import io
import json

import pytest
from rich.console import Console

from rlscope_jax import load
from rlscope_jax.names import STEP_NAME
from rlscope_jax.overhead import recorded
from rlscope_jax.overhead.constants import Constant, Constants
from rlscope_jax.reporters.overhead import half_width, is_known, is_resolved, overhead_lines
from rlscope_jax.reporters.terminal import render
from xspace_builder import NS, US, CpuTrace, Op, Session, module_of

NOTHING = Constant(0.0, 0.0, 0.0)
CONSTANTS = Constants(Constant(3.0, 2.4, 3.6), 0.0, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)
SCOPES = {
    "dot.1": "jit(f)/jvp(rls=policy)/dot",
    "dot.2": "jit(f)/transpose(jvp(rls=policy))/dot",
    "sort.3": "jit(f)/rls=env_step/sort",
    "add.4": "jit(f)/rls=noise/add",
}
OPS = [
    Op("dot.1", 10 * US, tail=2 * US),
    Op("dot.2", 10 * US, tail=3 * US),
    Op("sort.3", 90 * US, tail=US),
    Op("add.4", 3 * US + 100 * NS, tail=US),
]


def built(host="vm", steps=True):
    trace = CpuTrace(Session(hostname=host))
    run = trace.run(module_of("jit_f", 3, OPS, SCOPES), OPS, 10 * US, worker=trace.worker())
    if steps:
        trace.step(4, 0, run.end + 10 * US, STEP_NAME)
    return trace


@pytest.fixture
def calibrated(monkeypatch):
    monkeypatch.setattr(
        recorded, "stored_constants", lambda trace, sidecar: CONSTANTS if trace.host != "other" else None
    )


def shown(report, **options):
    out = io.StringIO()
    render(report, Console(file=out, width=110, highlight=False), **options)
    return out.getvalue()


def described(folder, **content):
    """What our own capture writes beside a session `s`."""
    folder.joinpath("plugins", "rlscope").mkdir(parents=True)
    folder.joinpath("plugins", "rlscope", "s.json").write_text(json.dumps({"page_faults": 0, **content}))


def test_what_was_taken_is_told_by_operation_with_its_directions_together(tmp_path, calibrated):
    built().write(tmp_path, "s")
    described(tmp_path)
    lines = overhead_lines(load(tmp_path).to_dict(), "corrected")
    assert lines[0].startswith("profiling made steps")
    assert lines[1] == "most of it from policy 0.01 ms, env_step 0.00 ms, noise 0.00 ms"


def test_without_steps_none_are_spoken_of(tmp_path, calibrated):
    built(steps=False).write(tmp_path, "s")
    described(tmp_path)
    assert "made the window" in overhead_lines(load(tmp_path).to_dict(), "corrected")[0]


def test_what_is_less_sure_than_large_is_not_shown_as_a_number(tmp_path, calibrated):
    built().write(tmp_path, "s")
    described(tmp_path)
    report = load(tmp_path)
    [noise] = [row for row in report.to_dict()["operations"] if row["path"] == "noise"]
    assert noise["device"]["self"] == {"raw": 3100, "corrected": 100, "interval": [0, 700]}
    assert half_width(noise) == 600
    assert not is_resolved(noise)
    [line] = [line for line in shown(report).splitlines() if line.lstrip().startswith("noise")]
    assert line.split()[1:6] == ["?", "?", "0.60", "3.10", "?"]
    [line] = [line for line in shown(report, raw=True).splitlines() if line.lstrip().startswith("noise")]
    assert line.split()[1] == "3.10"


def one_step(folder, ops):
    """A window of our own capture: one step that is one run of these ops."""
    trace = CpuTrace()
    run = trace.run(module_of("jit_f", 3, ops, SCOPES), ops, 0, worker=trace.worker())
    trace.step(4, run.start, run.end - run.start, STEP_NAME)
    trace.write(folder, "s")
    described(folder)


def test_a_step_that_nothing_is_left_of_is_said(tmp_path, monkeypatch):
    tenfold = Constants(Constant(40.0, 30.0, 50.0), *list(vars(CONSTANTS).values())[1:])
    monkeypatch.setattr(recorded, "stored_constants", lambda trace, sidecar: tenfold)
    one_step(tmp_path, [Op("dot.1", 100 * US, tail=2 * US), Op("dot.2", 100 * US, tail=2500 * NS)])
    assert "1 steps of ≤ 65.00 us" in shown(load(tmp_path))


def test_no_more_is_removed_than_there_is(tmp_path, monkeypatch):
    unsure = Constants(Constant(3.0, 0.1, 90.0), *list(vars(CONSTANTS).values())[1:])
    monkeypatch.setattr(recorded, "stored_constants", lambda trace, sidecar: unsure)
    one_step(tmp_path, [Op("dot.1", 9 * US, tail=2 * US), Op("dot.2", 9 * US, tail=2 * US)])
    data = load(tmp_path).to_dict()
    low, high = data["overhead"]["removed"]["interval"]
    assert low == 0
    assert high == data["totals"]["wall"]["raw"]


@pytest.mark.parametrize(
    ("figure", "known"),
    [
        ({"raw": 9, "corrected": 5, "interval": [0, 10]}, True),
        ({"raw": 9, "corrected": 5, "interval": [0, 11]}, False),
        ({"raw": 9, "corrected": 0, "interval": [0, 0]}, True),
        ({"raw": None, "corrected": None, "interval": None}, True),
    ],
)
def test_a_figure_is_known_where_its_interval_is_no_wider(figure, known):
    assert is_known(figure, "corrected") is known
    assert is_known(figure, "raw")


def test_our_own_steps_are_the_steps_whatever_a_user_marks_around_them(tmp_path, calibrated):
    trace = built()
    trace.step(0, 0, 400 * US, "epoch")
    trace.write(tmp_path, "s")
    described(tmp_path, window={"first_step": 4, "last_step": 4}, anchors={"steps_ns": [120_000] * 9})
    data = load(tmp_path).to_dict()
    assert (data["window"]["steps"], data["window"]["first_step"]) == (1, 4)
    assert data["overhead"]["correction"] == "anchored"
    assert data["steps"]["wall"]["median"]["corrected"] == pytest.approx(120_000, abs=2)


def test_processes_are_corrected_together_or_not_at_all(tmp_path, calibrated):
    folder = built().write(tmp_path, "s").parent
    (folder / "other.xplane.pb").write_bytes(built("other").to_bytes())
    described(tmp_path)
    data = load(tmp_path).to_dict()
    assert data["overhead"]["correction"] == "none"
    assert data["overhead"]["reason"].startswith("other: this machine is not calibrated")
    figures = [row["device"]["self"] for row in data["operations"]] + list(data["totals"].values())
    assert {figure["corrected"] for figure in figures} == {None}
