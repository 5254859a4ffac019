"""From recorded programs of known structure to the report."""

import jax
import jax.numpy as jnp
import jsonschema
import numpy as np
import pytest

from rlscope_jax import load, operation, profile
from rlscope_jax.breakdown.report import report_schema

CELLS = ("device_only", "overlap", "host_only", "idle")


def closes(report):
    """Assert that every sum of the report closes; to the picosecond inside, to 1 ns a cell in JSON."""
    for process in report.processes:
        begin, end = process.trace.window
        assert sum(row.wall for row in process.table.rows) == end - begin
        assert sum(row.device_self for row in process.table.rows) == process.table.cells.device_self.sum()
    data = report.to_dict()
    jsonschema.validate(data, report_schema())
    rows, totals = data["operations"], data["totals"]
    assert abs(sum(totals[cell]["raw"] for cell in CELLS) - totals["wall"]["raw"]) <= len(CELLS)
    cells = [row["wall"][cell]["raw"] for row in rows for cell in CELLS]
    assert abs(sum(cells) - totals["wall"]["raw"]) <= len(cells)
    device = sum(row["device"]["self"]["raw"] for row in rows)
    assert abs(device - (totals["device_self"]["raw"] or 0)) <= len(rows)
    return data


def rows_of(data):
    return {(row["path"], row["direction"]): row for row in data["operations"]}


@jax.jit
def marked(x):
    with operation("rollout"):
        x = jax.lax.scan(lambda c, _: (operation("env_step")(jnp.sin)(c) @ c, None), x, None, length=20)[0]
    with operation("update/loss"):
        return jnp.sort(x, axis=-1)


@jax.jit
def scoped(x):
    with jax.named_scope("rollout"):

        def body(carry, _):
            with jax.named_scope("env_step"):
                stepped = jnp.sin(carry)
            return stepped @ carry, None

        x = jax.lax.scan(body, x, None, length=20)[0]
    with jax.named_scope("update"), jax.named_scope("loss"):
        return jnp.sort(x, axis=-1)


X = jnp.ones((64, 64)) * 0.01


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    for function in (marked, scoped):
        function(X).block_until_ready()


def record_ours(logdir, function):
    with profile(logdir) as profiler:
        for _ in range(3):
            profiler.step(function(X))


def record_with_jax(logdir, function):
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    with jax.profiler.trace(str(logdir), profiler_options=options):
        for step in range(3):
            with jax.profiler.StepTraceAnnotation("train", step_num=step):
                function(X).block_until_ready()


@pytest.mark.parametrize("record", [record_ours, record_with_jax])
@pytest.mark.parametrize(("function", "kind"), [(marked, "mark"), (scoped, "scope")])
def test_the_same_report_whoever_records_and_however_it_is_named(tmp_path, record, function, kind):
    record(tmp_path, function)
    data = closes(load(tmp_path))
    rows = rows_of(data)
    named = {path for path, _ in rows if not path.startswith("(")}
    assert named == {"rollout", "rollout/env_step", "update", "update/loss"}
    assert {rows[path, None]["kind"] for path in named} == {kind}
    assert (data["counts"]["dispatches"], data["window"]["steps"]) == (3, 3)
    assert rows["rollout/env_step", None]["device"]["ops"] == 3 * 20
    assert rows["rollout", None]["device"]["total"]["raw"] == pytest.approx(
        sum(row["device"]["self"]["raw"] for (path, _), row in rows.items() if path.startswith("rollout")),
        abs=5,
    )


def test_above_and_below_jit_join(tmp_path):
    inner = operation("loss")(lambda x: jnp.tanh(x @ x).sum())
    above = operation("update")(jax.jit(jax.grad(inner)))
    below = jax.jit(operation("update")(jax.grad(inner)))
    paths = {}
    for name, function in (("above", above), ("below", below)):
        function(X).block_until_ready()
        with profile(tmp_path / name) as profiler:
            for _ in range(4):
                profiler.step(function(X))
        rows = rows_of(closes(load(tmp_path / name)))
        paths[name] = {key for key, row in rows.items() if row["device"]["ops"]}
        # The call is charged to the operation that made it, or to the program's single root operation.
        assert rows["update", None]["host"]["dispatches"] == 4
        assert rows["update", None]["host"]["categories"]["dispatch"]["raw"] > 0
    assert ("update/loss", "backward") in paths["above"] & paths["below"]
    assert paths["above"] == paths["below"]


def test_device_work_belongs_to_the_operation_that_dispatched_it(tmp_path):
    heavy = jax.jit(lambda x: jax.lax.fori_loop(0, 40, lambda _, y: jnp.tanh(y @ x), x).sum())
    x = jnp.ones((400, 400)) * 0.001
    float(heavy(x))
    with profile(tmp_path):
        for _ in range(3):
            with operation("update"):
                loss = heavy(x)
            with operation("metrics"):
                float(loss)
    rows = rows_of(closes(load(tmp_path)))
    assert rows["metrics", None]["device"]["self"]["raw"] == 0
    assert rows["metrics", None]["host"]["syncs"] == 3
    waited = rows["metrics", None]["host"]["categories"]["wait"]["raw"]
    assert waited > 0.5 * rows["update", None]["device"]["self"]["raw"]
    assert rows["update", None]["evidence"] == {"host": 1.0}


def test_compiles_are_counted_and_timed_as_compile(tmp_path):
    with profile(tmp_path), operation("update"):
        for size in (3, 4, 5):
            jax.jit(lambda x: jnp.cos(x) @ x)(np.ones((size, size), np.float32)).block_until_ready()
    rows = rows_of(closes(load(tmp_path)))
    row = rows["update", None]["host"]
    assert row["compiles"] == 3
    assert row["categories"]["compile"]["raw"] > row["categories"]["dispatch"]["raw"]


def test_callbacks_belong_to_their_custom_call(tmp_path):
    shape = jax.ShapeDtypeStruct((4,), jnp.float32)

    @jax.jit
    def rollout(x):
        def body(carry, _):
            with operation("env_step"):
                return jax.pure_callback(lambda a: np.asarray(a), shape, carry), None

        return jax.lax.scan(body, x, None, length=5)[0]

    x = jnp.ones(4)
    rollout(x).block_until_ready()
    with profile(tmp_path) as profiler:
        profiler.step(rollout(x))
    data = closes(load(tmp_path))
    row = rows_of(data)["env_step", None]
    assert row["host"]["callbacks"] == data["counts"]["callbacks"] == 5
    assert row["host"]["categories"]["callback"]["raw"] > 0
    assert row["device"]["categories"]["host_call"]["raw"] > 0


def test_a_users_annotations_are_operations(tmp_path):
    with profile(tmp_path):
        for _ in range(2):
            with jax.profiler.TraceAnnotation("collect"):
                marked(X).block_until_ready()
    rows = rows_of(closes(load(tmp_path)))
    assert rows["collect", None]["kind"] == "annotation"
    assert rows["collect/rollout/env_step", None]["kind"] == "mark"


@pytest.mark.parametrize(
    "name",
    [
        "jax0.4.38_ppo_loop",
        "jax0.6.2_ppo_loop",
        "jax0.8.1_ppo_loop",
        "jax0.10.2_ppo_loop",
        "jax0.10.2_ppo_scan",
    ],
)
def test_profiles_of_every_jax_close(shared, name):
    data = closes(load(shared / "traces/cpu_ours" / f"{name}.xplane.pb"))
    codes = {problem["code"] for problem in data["health"]["problems"]}
    assert ("no_device_ops" in codes) == (name == "jax0.6.2_ppo_loop")
    assert data["totals"]["device_self"]["raw"] is None or name != "jax0.6.2_ppo_loop"
    assert data["window"]["steps"] == 3


def test_the_terminal_table_fits_and_closes(shared, capsys):
    from rlscope_jax.__main__ import main

    assert main(["report", "--raw", str(shared / "traces/cpu_ours/jax0.10.2_ppo_scan.xplane.pb")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 110
    assert any(line.startswith("total") and "100.0" in line for line in lines)
    assert any("with below" in line for line in lines)
