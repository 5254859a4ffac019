"""A training program without a single annotation: its time goes to the functions of the user's own code."""

import jax
import pytest

from plain_ppo import make_train
from rlscope_jax import load, profile

FUNCTIONS = {
    "train",
    "train/_update_step",
    "train/_update_step/_env_step",
    "train/_update_step/_calculate_gae",
    "train/_update_step/_calculate_gae/_get_advantages",
    "train/_update_step/_update_epoch",
    "train/_update_step/_update_epoch/_update_minbatch",
    "train/_update_step/_update_epoch/_update_minbatch/_loss_fn",
}
LIBRARY = {"jax", "_src", "scan", "while", "body", "closed_call", "value_and_grad", "split", "categorical"}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """The rows of one training run, by path and direction."""
    logdir = tmp_path_factory.mktemp("ppo")
    train = jax.jit(make_train())
    jax.block_until_ready(train(jax.random.key(0)))
    with profile(logdir) as profiler:
        profiler.step(train(jax.random.key(1)))
    return load(logdir).to_dict()["operations"]


def device_time(rows, *paths):
    """Device self time at these paths and below, in ns; of the whole program without any."""
    return sum(
        row["device"]["self"]["raw"]
        for row in rows
        if not paths or any(row["path"] == path or row["path"].startswith(f"{path}/") for path in paths)
    )


def test_at_least_95_percent_is_named_by_functions(rows):
    found = [row for row in rows if row["kind"] == "function"]
    by_function = sum(
        row["device"]["self"]["raw"]
        * sum(row["evidence"].get(kind, 0) for kind in ("function", "inherited", "split"))
        for row in found
    )
    assert by_function >= 0.95 * device_time(rows)
    assert sum(row["evidence"].get("function", 0) > 0.5 for row in found) >= len(FUNCTIONS) / 2
    assert device_time(rows, "train") >= 0.95 * device_time(rows)


def test_rows_carry_the_names_of_the_code(rows):
    named = {row["path"] for row in rows if row["kind"] == "function"}
    assert named >= FUNCTIONS


def test_gae_is_not_lost(rows):
    assert device_time(rows, "train/_update_step/_calculate_gae") > 0


def test_time_stays_in_the_loop_that_ran_it(rows):
    """`env_reset` and jax's random numbers are traced before the loops, and run within `_env_step` after.

    What `train` does once, outside its ten updates, is about 1 % of the device time; a reader that trusts the
    frames of the first call site gives it 4 to 30 %.
    """
    total, update = device_time(rows), device_time(rows, "train/_update_step")
    assert update >= 0.95 * total
    assert total - update <= 0.03 * total
    assert device_time(rows, "train/_update_step/_env_step") > 0.3 * total
    assert device_time(rows, "train/_update_step/_update_epoch") > 0.05 * total


def test_no_function_is_its_own_ancestor(rows):
    """The frames of a loop's body hold its callers again: `train/_update_step/_update_step/_env_step`."""
    named = [row["path"].split("/") for row in rows if row["kind"] == "function"]
    assert named
    assert not [path for path in named if len(set(path)) < len(path)]


def test_the_loss_runs_forward_and_backward(rows):
    loss = "train/_update_step/_update_epoch/_update_minbatch/_loss_fn"
    directions = {row["direction"] for row in rows if row["path"].startswith(loss)}
    assert directions >= {"forward", "backward"}


def test_no_row_is_named_after_a_library(rows):
    named = [row["path"] for row in rows if row["kind"] == "function"]
    assert named
    parts = {part for path in named for part in path.split("/")}
    assert not parts & LIBRARY
    assert not [part for part in parts if part.endswith(".py") or "<locals>" in part]


def test_functions_of_one_name_in_two_files_are_two_operations(tmp_path, monkeypatch):
    """As `step` of two agents of one project, whether in one program or in two."""
    for name, body in (("ppo", "jnp.sin(x @ x)"), ("sac", "jnp.sort(x @ x)")):
        step, only = f"def step(x):\n    return {body}\n", f"def only_{name}(x):\n    return jnp.sort(-x)\n"
        text = f"import jax.numpy as jnp\n\n{step}\n{only}"
        (tmp_path / f"{name}_agent.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    import ppo_agent
    import sac_agent

    def train(x):
        return ppo_agent.step(x) + sac_agent.step(x) + ppo_agent.only_ppo(x)

    program, alone = jax.jit(train), jax.jit(sac_agent.step)

    def only_ppo(x):  # calls the program and is no part of it
        return program(x), alone(x)

    x = jax.numpy.ones((64, 64))
    jax.block_until_ready(only_ppo(x))
    with profile(tmp_path / "log") as profiler:
        profiler.step(only_ppo(x))
    data = load(tmp_path / "log").to_dict()
    named = {row["path"] for row in data["operations"] if row["kind"] == "function"}
    assert {"train/step (ppo_agent.py)", "train/step (sac_agent.py)", "step (sac_agent.py)"} <= named
    assert {"train/step", "step"} & named == set()
    assert "train/only_ppo" in named
    assert "step (sac_agent.py)" in {program["function"] for program in data["programs"]}
