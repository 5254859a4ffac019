"""Ten kinds of trouble people report: the scripts of ../shared/cases, and what the report must say."""

import pytest

from case_table import Case, each, finds_first, holds, record, report_of, says_the_same

COMPILING = "operations[].host.categories.compile.raw / totals.wall.raw > 0.8"

CASES = {
    "case_01_weak_type_recompile": Case(
        {"compiles_of_env_step": "programs[function=env_step].compiles"},
        expect=(
            "programs[function=env_step] == truth.compiles_of_env_step",  # the program, once per compile
            "programs[function=env_step].runs == 5",
            "window.steps == 5",
            COMPILING,
            "findings[code=recompiles].evidence.compiles == truth.compiles_of_env_step",
            "findings[code=recompiles].evidence.steps == 1",  # steps 0 and 1, added up
        ),
        first="recompiles",
        times=("ms_per_call",),
    ),
    "case_02_jit_in_loop": Case(
        {"steps": "window.steps", "expected_compiles_in_window": "counts.compiles"},
        expect=(
            "programs[function=update] == truth.steps",
            "programs[function=update].compiles == truth.steps",
            COMPILING,
            "findings[code=recompiles].evidence.compiles == truth.steps",
            "findings[code=recompiles].evidence.calls == truth.steps",
        ),
        first="recompiles",
        times=("ms_per_step_bad", "ms_per_step_if_cached"),
    ),
    "case_03_unjitted_env": Case(
        # A step of this loop is marked nowhere, but only its reward is a square.
        {
            "steps": "programs[function=integer_pow].runs",
            "program_launches_per_step_expected": "counts.dispatches / programs[function=integer_pow].runs",
        },
        expect=(
            "operations[path=rollout].host.dispatches == counts.dispatches",
            "operations[path=rollout].device.self.raw / operations[path=rollout].host.self.raw < 0.1",
            "operations[path=rollout].host.categories.dispatch.raw"
            " / operations[path=rollout].host.self.raw > 0.6",  # the rest is the Python tracer's
            "findings[code=not_jitted].evidence.entries == truth.steps",
            "findings[code=not_jitted].evidence.dispatches == counts.dispatches",
            "findings[code=not_jitted].evidence.dispatches_per_entry > 80",
        ),
        first="not_jitted",
        times=("ms_per_step_bad_profiled", "ms_per_step_jitted"),
    ),
    "case_04_dispatch_bound_loop": Case(
        {
            "steps": "programs[function=act].runs",
            "launches_expected": "counts.dispatches",
            "host_syncs_expected": "counts.syncs",
        },
        expect=(
            "operations[path=rollout_step].host.dispatches == truth.launches_expected",
            "operations[path=rollout_step].host.syncs == truth.host_syncs_expected",
            "totals.device_busy.raw / operations[path=rollout_step].host.self.raw < 0.15",
            "findings[code=dispatch_bound].evidence.dispatches == truth.launches_expected",
            "findings[code=dispatch_bound].evidence.syncs == truth.host_syncs_expected",
        ),
        first="dispatch_bound",
        times=("us_per_step_noprof", "us_per_step_profiled", "us_per_step_scan"),
    ),
    "case_05_io_callback_env": Case(
        {"callbacks": "counts.callbacks"},
        expect=(
            "operations[path=collect/rollout/env_step].host.callbacks == truth.callbacks",
            # The callback's op holds the Python function, and what jax does around it.
            "operations[path=collect/rollout/env_step].host.categories.callback.raw / totals.device_busy.raw"
            " > truth.python_in_callback_s / truth.wall_s",
            "operations[path=collect/rollout/env_step].wall.overlap.raw / totals.device_busy.raw > 0.8",
            "operations[path=collect/rollout/policy].device.self.raw / totals.device_busy.raw < 0.1",
            "findings[code=host_callback_bound].evidence.callbacks == truth.callbacks",
        ),
        first="host_callback_bound",
        times=("wall_s", "python_in_callback_s"),
    ),
    "case_07_autoreset_select": Case(
        {},
        expect=(
            "operations[path=rollout/auto_reset/env_reset].device.total.raw"
            " / operations[path=rollout].device.total.raw > 0.8",
            "operations[path=rollout].device.total.raw / totals.device_self.raw > 0.99",
            "counts.dispatches == 1",
            "findings[code=both_branches].evidence.share_of_program > 0.8",
            "findings[code=both_branches].evidence.conditionals == 0",
        ),
        first="both_branches",
        times=("ms_with_autoreset", "ms_without"),
        unseen={
            "env_steps": "the scan's length times the batch, which stands in shapes",
            "true_episode_ends": "is in the data",
        },
    ),
    "case_09_async_misattribution": Case(
        {},
        expect=(
            "operations[path=update].device.self.raw / totals.device_self.raw > 0.99",
            "operations[path=update].host.dispatches == 10",
            "operations[path=metrics].device.self.raw == 0",
            "operations[path=metrics].host.syncs == 10",
            "operations[path=metrics].host.categories.wait.raw"
            " / operations[path=metrics].host.self.raw > 0.95",
            "operations[path=metrics].host.categories.wait.raw / totals.wall.raw > 0.8",
            "operations[path=update].host.self.raw / operations[path=metrics].host.self.raw < 0.1",
            "window.steps == 10",
            "findings[code=blocked_on_device].evidence.syncs == 10",
            "findings[code=blocked_on_device].evidence.wait_ns / totals.wall.raw > 0.8",
            "findings[code=blocked_on_device].evidence.owner_device_ns"
            " / findings[code=blocked_on_device].evidence.device_ns > 0.99",
        ),
        first="blocked_on_device",
        times=("host_wall_ms", "wall_ms"),
    ),
    "case_11_gae_scan_tiny_body": Case(
        {},
        expect=(
            "operations[path=train/gae].device.ops < 20",  # none per iteration
            "counts.dispatches == 1",
            "findings == 0",
        ),
        times=("ms_sequential_noprof", "ms_associative_noprof"),
        unseen={
            "scan_iterations": "XLA:CPU makes the loop one call, without events of its iterations",
            "max_abs_diff": "is in the data",
        },
    ),
    "case_15_window_closed_early": Case(
        {"launches_in_window": "counts.dispatches"},
        expect=(
            "operations[path=update].host.dispatches == 1",
            "health.problems[code=window_closed_early] == 1",  # what is wrong with it is no finding
        ),
        times=("true_device_ms",),
    ),
    "case_16_event_flood": Case(
        {"iterations": "operations[path=env_step].device.ops", "xplane_mb": "session.files.bytes / 1e6"},
        expect=(
            "counts.device_ops / truth.iterations > 3",  # env_step, policy and store at least
            "session.files.events / counts.device_ops >= 2",  # each with its `end:`, so none is lost
            "health.problems[code=truncated] == 0",
            "findings[code=event_flood].evidence.device_ops == counts.device_ops",
        ),
        first="event_flood",
        times=("ms_clean", "ms_profiled", "slowdown", "stop_trace_s"),
    ),
}
"""Times are those of single calls around the same work: overhead's tests and benchmarks compare them."""

ARGUMENTS = {"case_16_event_flood": ["2000"]}
"""Iterations: a flood long enough to see, short enough to wait for."""


@pytest.fixture(scope="session")
def reports(shared, tmp_path_factory):
    """The report of each case, recorded when first asked for."""
    known = {}

    def get(name):
        if name not in known:
            folder = tmp_path_factory.mktemp(name)
            truth = record(shared / "cases" / f"{name}.py", folder, *ARGUMENTS.get(name, ()))
            known[name] = report_of(folder, {key: truth[key] for key in truth.keys() - {"case", "expect"}})
        return known[name]

    return get


def test_every_case_is_in_the_table(shared):
    assert {path.stem for path in (shared / "cases").glob("*.py")} == CASES.keys()


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
def test_the_trouble_is_told_first(reports, name):
    finds_first(reports(name), CASES[name].first)
