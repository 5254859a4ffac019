"""Seven more kinds of trouble people report, each beside a healthy twin: tests/cases."""

from pathlib import Path

import pytest

from case_table import Case, each, finds_first, holds, record, report_of, says_the_same

SCRIPTS = Path(__file__).resolve().parent.parent / "cases"
COMPILING = "operations[].host.categories.compile.raw / totals.wall.raw > 0.7"
IN_SHAPES = "stands in the program's shapes; only a finding tells sizes"

CASES = {
    "annotation_inside_jit/trouble": Case(
        {
            "runs": "findings[code=annotation_inside_jit].evidence.runs",
            "compiles": "counts.compiles",
            "times_entered": "findings[code=annotation_inside_jit].evidence.times_entered",
        },
        expect=("operations[path=policy].device.ops == 0", "programs[function=act].runs == truth.runs"),
        first="annotation_inside_jit",
    ),
    "annotation_inside_jit/healthy": Case(
        {"runs": "programs[function=act].runs", "compiles": "counts.compiles"},
        expect=("operations[path=policy].device.ops >= truth.runs",),
        unseen={"times_entered": "a scope is entered while tracing, of which it leaves no event"},
    ),
    "callback_slow_dispatch/trouble": Case(
        {
            "calls": "programs[function=env_step].dispatches",
            "callbacks": "findings[code=callback_slow_dispatch].evidence.callbacks",
            "calls_through_python": "findings[code=callback_slow_dispatch].evidence.calls",
        },
        expect=(
            "counts.dispatches == truth.calls",
            "operations[path=env_step].host.callbacks == truth.callbacks",
        ),
        first="callback_slow_dispatch",
    ),
    "callback_slow_dispatch/healthy": Case(
        {"calls": "programs[function=env_step].dispatches", "callbacks": "counts.callbacks"},
        expect=("truth.calls_through_python == 0",),
        unseen={"calls_through_python": "only a finding tells how a call was dispatched"},
    ),
    "debug_callbacks/trouble": Case(
        {
            "runs": "programs[function=train].runs",
            "callbacks": "operations[path=log].host.callbacks",
            "calls_from_callbacks": "programs[function=mean].dispatches",
        },
        expect=(
            "operations[path=log].host.categories.callback.raw / totals.device_busy.raw > 0.5",
            "operations[path=log].host.dispatches == truth.calls_from_callbacks",
            "findings[code=debug_callbacks].evidence.callbacks == truth.callbacks",
            "findings[code=debug_callbacks].evidence.calls_from_callbacks == truth.calls_from_callbacks",
        ),
        first="debug_callbacks",
    ),
    "debug_callbacks/healthy": Case(
        {
            "runs": "programs[function=train].runs",
            "callbacks": "counts.callbacks",
            "calls_from_callbacks": "programs[function=mean].dispatches",
        }
    ),
    "replay_copy/trouble": Case(
        {
            "adds": "findings[code=large_copies].evidence.copies",
            "buffer_bytes": "findings[code=large_copies].evidence.buffer_bytes",
            "row_bytes": "findings[code=large_copies].evidence.row_bytes",
        },
        expect=(
            "operations[path=replay_add].device.categories.copy.raw / totals.device_self.raw > 0.9",
            "operations[path=replay_add].device.self.raw / totals.device_self.raw > 0.99",
            "programs[function=add].runs == truth.adds",
        ),
        first="large_copies",
    ),
    "replay_copy/healthy": Case(
        {"adds": "programs[function=add].runs"},
        expect=("operations[].device.categories.copy.raw == 0",),
        unseen={"buffer_bytes": IN_SHAPES, "row_bytes": IN_SHAPES},
    ),
    "shape_recompile/trouble": Case(
        {"steps": "window.steps", "compiles": "counts.compiles"},
        expect=(
            "programs[function=update] == truth.compiles",
            "programs[function=update].compiles == truth.compiles",
            "programs[function=update].runs == truth.steps",
            COMPILING,
            "findings[code=recompiles].evidence.compiles == truth.compiles",
            "findings[code=recompiles].evidence.shapes == truth.compiles",
            "findings[code=recompiles].evidence.calls == truth.steps",
        ),
        first="recompiles",
    ),
    "shape_recompile/healthy": Case(
        {"steps": "window.steps", "compiles": "counts.compiles"},
        expect=("programs[function=update] == 1", "programs[function=update].runs == truth.steps"),
    ),
    "sharding_recompile/trouble": Case(
        {"epochs": "window.steps", "compiles": "counts.compiles"},
        expect=(
            "counts.dispatches == truth.epochs",
            "programs[function=training_epoch].runs == truth.epochs",
            "programs[function=training_epoch].compiles == truth.compiles",
            "findings[code=recompiles].evidence.compiles == truth.compiles",
            "findings[code=recompiles].evidence.steps == 1",  # steps 0 and 1, added up
        ),
        first="recompiles",
    ),
    "sharding_recompile/healthy": Case(
        {"epochs": "window.steps", "compiles": "counts.compiles"},
        expect=("counts.dispatches == truth.epochs",),
    ),
    "unrolled_rollout/trouble": Case(
        {"runs": "programs[function=unrolled].runs", "compiles": "counts.compiles"},
        expect=(COMPILING, "findings[code=compile_dominates].evidence.copies > 30"),  # 40, some shared
        first="compile_dominates",
    ),
    "unrolled_rollout/healthy": Case(
        {"runs": "programs[function=scanned].runs", "compiles": "counts.compiles"},
        expect=("operations[path=env_step].device.ops >= truth.runs",),
    ),
}


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """The reports of a script's two profiles, recorded when first asked for."""
    known = {}

    def get(name):
        script = name.split("/")[0]
        if name not in known:
            folder = tmp_path_factory.mktemp(script)
            for twin, truth in record(SCRIPTS / f"{script}.py", folder).items():
                known[f"{script}/{twin}"] = report_of(folder / twin, truth)
        return known[name]

    return get


def test_every_script_has_its_entries():
    scripts = {path.stem for path in SCRIPTS.glob("*.py")}
    assert {f"{script}/{twin}" for script in scripts for twin in ("trouble", "healthy")} == CASES.keys()


@pytest.mark.parametrize("name", CASES)
def test_every_key_of_truth_is_accounted_for(reports, name):
    case = CASES[name]
    assert {*case.counts, *case.times, *case.unseen} == reports(name)["truth"].keys()


@pytest.mark.parametrize(("name", "key"), each(CASES, "counts"))
def test_counts_are_those_of_truth(reports, name, key):
    says_the_same(reports(name), key, CASES[name].counts[key])


@pytest.mark.parametrize(("name", "comparison"), each(CASES, "expect"))
def test_what_is_expected_holds(reports, name, comparison):
    holds(reports(name), comparison)


@pytest.mark.parametrize("name", CASES)
def test_the_trouble_is_told_first_and_its_twin_has_none(reports, name):
    finds_first(reports(name), CASES[name].first)
    if name.endswith("/healthy"):
        trouble = CASES[name.replace("healthy", "trouble")].first
        assert trouble not in [finding["code"] for finding in reports(name)["findings"]]
