"""The examples give the same table whether their decorators stand above or below `jax.jit`."""

import sys
from collections import Counter
from pathlib import Path

import jax
import pytest

from rlscope_jax import operation, profile

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# The functions of an update, and which of their arguments are no arrays.
PIECES = {"collect": (0, 1, 2), "estimate_advantages": (0, 1), "update": (0, 1, 2)}


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.slow) for name in ("gymnax", "brax")])
def environment(request, monkeypatch):
    """The environment of an example, whose modules can be imported."""
    for package in (request.param, "flax", "optax"):
        pytest.importorskip(package, reason="pip install 'rlscope-jax[examples]'")
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.syspath_prepend(EXAMPLES / f"{request.param}_ppo")
    if request.param == "gymnax":
        from cartpole import CartPole as Environment
    else:
        from pendulum import Pendulum as Environment
    yield Environment()
    for name in [name for name in sys.modules if name.split(".")[0] in ("ppo", "cartpole", "pendulum")]:
        del sys.modules[name]


def table(logdir, train_step, state):
    """(path, direction) -> device ops of two warm updates, and the dispatches of each path."""
    for _ in range(2):
        state, metrics = train_step(state)
    with profile(logdir) as profiler:
        for _ in range(2):
            state, metrics = train_step(state)
            profiler.step(metrics)
    ops, dispatches = Counter(), Counter()
    for row in profiler.report().to_dict()["operations"]:
        # Below jit nothing names the copies around the whole program; above it the call does.
        path = "train" if row["path"] == "(unattributed)" else row["path"]
        ops[path, row["direction"]] += row["device"]["ops"]
        dispatches[path] += row["host"]["dispatches"]
    return ops, dispatches


@pytest.mark.filterwarnings("ignore:Accessing .* directly from:DeprecationWarning")  # brax, of mujoco
def test_the_tables_are_the_same(environment, tmp_path, monkeypatch):
    import ppo.train_step as example
    from ppo.config import PPOConfig

    config = PPOConfig(num_envs=4, rollout_length=4, num_epochs=2, num_minibatches=2, hidden_sizes=(8,))
    state = example.initial_state(config, environment, seed=0)

    def train_step():
        return example.make_train_step(config, environment).__wrapped__  # as it is before its jit

    below = table(tmp_path / "below", jax.jit(operation("train")(train_step())), state)
    for name, static in PIECES.items():
        decorated = getattr(example, name)  # operation(...) over the function; now over a jit of it
        path = {"collect": "rollout", "estimate_advantages": "gae", "update": "update"}[name]
        jitted = jax.jit(decorated.__wrapped__, static_argnums=static)
        monkeypatch.setattr(example, name, operation(path)(jitted))
    above = table(tmp_path / "above", operation("train")(jax.jit(train_step())), state)
    (ops_above, dispatches_above), (ops_below, dispatches_below) = above, below
    assert dispatches_above == dispatches_below
    assert dispatches_above["train"] == 2
    assert ops_above.keys() == ops_below.keys()
    assert {("train/gae", None), ("train/rollout/env_step", None), ("train/update/loss", "backward")} <= set(
        ops_above
    )
    assert sum(ops_above.values()) == sum(ops_below.values())
    # XLA's own copies inherit from their neighbours, which an inner jit may put in another order.
    moved = sum(abs(ops_above[row] - ops_below[row]) for row in ops_above) / 2
    assert moved <= 0.01 * sum(ops_above.values())
