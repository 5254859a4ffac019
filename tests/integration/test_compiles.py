"""What jax compiles while we listen: how often, in which step, the time of each phase, and why again."""

import jax
import jax.numpy as jnp
import jsonschema
import pytest

from rlscope_jax import load, profile
from rlscope_jax.breakdown.report import report_schema
from rlscope_jax.capture._compiles import CompileLog
from rlscope_jax.reporters.compiles import compile_lines


@pytest.fixture
def log():
    log = CompileLog()
    log.start()
    yield log
    log.stop()


def of(log, function):
    [found] = [one for one in log.functions() if one["function"] == function]
    return found


def reasons(log, function):
    return [(one["kind"], one["reason"]) for one in of(log, function)["compiled"]]


FIRST = (None, None)


def test_each_phase_has_its_time(log):
    def train_step(x):
        return jnp.sin(x) @ x

    jax.jit(train_step)(jnp.ones((3, 3)))
    one = of(log, "train_step")
    assert one["count"] == 1
    assert one["eager"] is False
    assert one["where"] == f"{__file__}:{train_step.__code__.co_firstlineno}"
    assert min(one["trace_ns"], one["lower_ns"], one["backend_ns"]) > 0
    for phase in ("trace_ns", "lower_ns", "backend_ns"):
        assert one[phase] == sum(compiled[phase] for compiled in one["compiled"])


def test_what_runs_outside_of_jit_is_told_apart(log):
    jnp.ones((3, 5)).block_until_ready()
    jax.jit(lambda x: x)(1.0)
    assert {one["eager"] for one in log.functions() if one["function"].startswith("<lambda")} == {False}
    assert all(one["eager"] for one in log.functions() if not one["function"].startswith("<lambda"))


def test_a_shape_and_a_dtype_that_change(log):
    def step(batch, scale):
        return batch * scale

    step_jitted = jax.jit(step)
    for batch in (jnp.ones(4), jnp.ones(5), jnp.ones(5, jnp.int32)):
        step_jitted(batch, jnp.float32(2))
    assert reasons(log, "step") == [
        FIRST, ("shapes", "batch: f32[5], before f32[4]"), ("shapes", "batch: i32[5], before f32[5]"),
    ]  # fmt: skip


def test_the_closest_of_all_earlier_times_is_compared(log):
    def step(batch, state):
        return batch.sum() + state

    jitted = jax.jit(step)
    for batch, state in ((4, 1), (5, 2), (4, 2)):  # the last differs from each by one
        jitted(jnp.ones(batch), jnp.ones(state))
    assert reasons(log, "step")[-1] == ("shapes", "batch: f32[4], before f32[5]")


def test_a_weak_type_that_turns_strong(log):
    def step(state):
        return {"time": jnp.float32(1) + state["time"]}

    jitted = jax.jit(step)
    jitted(jitted({"time": 0.0}))
    assert reasons(log, "step") == [
        FIRST, ("weak types", "state['time']: strongly typed, before weakly"),
    ]  # fmt: skip


def test_a_new_function_object(log):
    def make():
        def step(x):
            return x + 1

        return step

    for _ in range(3):
        jax.jit(make())(jnp.ones(3))
    assert [kind for kind, _ in reasons(log, "step")] == [None] + 2 * ["new function object"]


def test_a_static_argument(log):
    def step(x, repeats):
        return x * repeats

    jitted = jax.jit(step, static_argnums=1)
    jitted(jnp.ones(3), 2)
    jitted(jnp.ones(3), 3)
    [first, (kind, reason)] = reasons(log, "step")
    assert (first, kind) == (FIRST, "unknown")
    assert "static argument" in reason


def test_another_number_of_arrays(log):
    def step(state):
        return sum(state)

    jitted = jax.jit(step)
    jitted([jnp.ones(3)])
    jitted([jnp.ones(3)] * 2)
    assert reasons(log, "step")[1] == ("structure", "it is given 2 arrays, before 1")


def test_a_pmapped_function_has_its_own_name_and_its_second_compilation_a_reason(log):
    """Brax's trainers compile their epoch twice: the first state comes from outside of the mesh."""

    def training_epoch(state):
        return [x + x.sum() for x in state]

    epoch = jax.pmap(training_epoch, axis_name="i")
    state = [jnp.ones((1, 3))] * 4
    for _ in range(3):
        state = epoch(state)
    one = of(log, "training_epoch")
    assert one["count"] == 2
    assert one["where"].startswith(__file__)
    assert one["compiled"][1]["kind"] == "shardings"
    assert " and 1 more: " in one["compiled"][1]["reason"]


def test_ahead_of_time(log):
    def step(x):
        return x * 3

    jax.jit(step).lower(jnp.ones(3)).compile()
    one = of(log, "step")
    assert one["count"] == 1
    assert min(one["trace_ns"], one["lower_ns"], one["backend_ns"]) > 0


def test_nothing_is_noted_after_the_end(log):
    log.stop()
    jax.jit(lambda x: x * 5)(jnp.ones(7))
    assert log.functions() == []


def test_the_report_tells_of_steps(tmp_path):
    def step(batch):
        return batch.sum()

    jitted = jax.jit(step)
    batches = [jnp.ones(8 + number // 2) for number in range(4)]
    with profile(tmp_path) as profiler:
        for batch in batches:
            profiler.step(jitted(batch))
    data = profiler.report().to_dict()
    jsonschema.validate(data, report_schema())
    assert data["compiles"]["covers"] == "run"
    [one] = [one for one in data["compiles"]["functions"] if one["function"] == "step"]
    assert [compiled["step"] for compiled in one["compiled"]] == [0, 2]
    assert any("again: batch: f32[9], before f32[8] (step 2)" in line for line in compile_lines(data))


def test_a_profile_of_others_tells_of_its_window(tmp_path):
    def step(x):
        return jnp.tanh(x @ x)

    with jax.profiler.trace(tmp_path):
        jax.jit(step)(jnp.ones((4, 4))).block_until_ready()
    data = load(tmp_path).to_dict()
    jsonschema.validate(data, report_schema())
    assert data["compiles"]["covers"] == "window"
    [one] = [one for one in data["compiles"]["functions"] if one["function"] == "step"]
    assert one["count"] == 1
    [program] = [program for program in data["programs"] if program["function"] == "step"]
    phases = {name: phase["raw"] for name, phase in program["compile_phases"].items()}
    assert min(phases.values()) > 0
    assert sum(phases.values()) == pytest.approx(program["compile"]["raw"], abs=3)


@pytest.mark.parametrize(
    "written", [3, [3], [{"function": "f"}], [{"function": "f", "count": -1, "compiled": [1]}], {}, "x"]
)
def test_a_spoilt_list_is_passed_over(written):
    from rlscope_jax.breakdown.compiles import compiles_section

    section = compiles_section({"compiles": written}, [])
    assert section["functions"] == []


def test_the_finding_tells_the_reason(tmp_path):
    def update(state):
        for _ in range(40):
            state = {"time": jnp.sin(jnp.float32(1) + state["time"])}
        return state

    jitted = jax.jit(update)
    with profile(tmp_path) as profiler:
        state = {"time": 0.0}
        for _ in range(4):
            state = jitted(state)
            profiler.step(state)
    [finding] = [one for one in profiler.report().to_dict()["findings"] if one["code"] == "recompiles"]
    assert finding["evidence"]["reasons"] == ["state['time']: strongly typed, before weakly"]
    assert "state['time']: strongly typed, before weakly" in finding["message"]
    assert finding["hint"].startswith("start from strongly typed arrays")
