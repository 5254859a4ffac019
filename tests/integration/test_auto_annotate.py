"""Names given from outside to the libraries themselves, as PyPI has them."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from rlscope_jax import auto_annotate, load, profile
from rlscope_jax.annotate.auto import _annotate
from rlscope_jax.annotate.auto._library import Library, Patch

ROOT = Path(__file__).resolve().parents[2]


def compiled(function, *arguments):
    return jax.jit(function).lower(*arguments).compile().as_text()


def test_gymnax_environments_step_and_reset():
    gymnax = pytest.importorskip("gymnax")
    environment, parameters = gymnax.make("CartPole-v1")
    before = type(environment).step
    with auto_annotate("gymnax"):

        def play(key):
            observed, state = environment.reset(key, parameters)
            return environment.step(key, state, jnp.int32(1), parameters)[0] + observed

        text = compiled(play, jax.random.key(0))
    assert "rls=env_step/" in text
    assert "rls=env_reset/" in text
    assert type(environment).step is before
    assert "rls=" not in compiled(lambda key: environment.reset(key, parameters)[0], jax.random.key(0))


def test_optimizers_and_networks():
    optax, linen = pytest.importorskip("optax"), pytest.importorskip("flax.linen")
    adam, apply = optax.adam, linen.Module.apply
    with auto_annotate("optax", "flax"):
        network, optimizer = linen.Dense(4), optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))
        x = jnp.ones((2, 3))
        parameters = network.init(jax.random.key(0), x)
        state = optimizer.init(parameters)

        def update(parameters, state):
            gradient = jax.grad(lambda p: network.apply(p, x).sum())(parameters)
            return optimizer.update(gradient, state, parameters)

        text = compiled(update, parameters, state)
    assert "rls=optimizer" in text
    assert "rls=network" in text
    assert (optax.adam, linen.Module.apply) == (adam, apply)


def test_gymnasium_environments_on_the_host():
    gymnasium = pytest.importorskip("gymnasium")
    from gymnasium.wrappers.common import OrderEnforcing

    before = OrderEnforcing.step
    with auto_annotate("gymnasium"):
        environment = gymnasium.make("CartPole-v1")
        environment.reset(seed=0)
        assert len(environment.step(0)) == 5
        assert OrderEnforcing.step is not before
    assert OrderEnforcing.step is before


@pytest.mark.parametrize("mode", ["sync", "vector_entry_point"])
def test_vectorized_environments_on_the_host(mode, tmp_path):
    """`make_vec` makes CartPole of a class of its own unless told otherwise."""
    gymnasium = pytest.importorskip("gymnasium")
    with auto_annotate("gymnasium"):
        environments = gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode=mode)
        environments.reset(seed=0)
        with profile(tmp_path):
            for _ in range(5):
                assert len(environments.step(environments.action_space.sample())) == 5
    rows = {row["path"]: row for row in load(tmp_path).to_dict()["operations"]}
    assert rows["env_step"]["host"]["self"]["raw"] > 0
    assert "env_step/env_step" not in rows


def run(folder, text):
    path = folder / "user.py"
    path.write_text(textwrap.dedent(text))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    return subprocess.run(
        [sys.executable, path], env=environment, capture_output=True, text=True, check=False
    )


def test_a_library_imported_later_is_annotated_then(tmp_path):
    pytest.importorskip("brax")
    done = run(
        tmp_path,
        """
        import sys
        from rlscope_jax import auto_annotate

        undo = auto_annotate()
        assert not {"jax", "brax", "gymnax", "optax", "flax", "gymnasium"} & sys.modules.keys()
        from brax.training import acting, replay_buffers
        from brax.training.agents.ppo import losses
        from brax.training.agents.sac import losses as sac_losses
        from brax.training.acme import running_statistics
        from brax.envs.wrappers import training
        import jax

        named = (acting.generate_unroll, losses.compute_gae, training.EpisodeWrapper.step)
        assert all(hasattr(function, "__wrapped__") for function in named)
        jax.device_put_replicated
        undo.close()
        assert not any(hasattr(f, "__wrapped__") for f in (acting.generate_unroll, losses.compute_gae))
        """,
    )
    assert done.returncode == 0, done.stderr
    assert "rlscope_jax.auto_annotate" not in done.stderr


def test_what_does_not_fit_is_told_and_left_alone(monkeypatch):
    odd = Library("numpy", "0.1", "0.2", (Patch("numpy", "no.such.thing", "x"), Patch("numpy", "abs", "y")))
    monkeypatch.setitem(_annotate.LIBRARIES, "numpy", odd)
    with pytest.warns(RuntimeWarning) as warned, auto_annotate("numpy"):
        pass
    told = [str(warning.message) for warning in warned]
    assert any("none of the versions looked at (0.1 to before 0.2)" in text for text in told)
    assert any("numpy.no.such.thing stays without a name" in text for text in told)


def test_an_unknown_library_is_refused():
    with pytest.raises(ValueError, match="known are brax, flax"):
        auto_annotate("torch")


def test_a_library_that_comes_before_jax_waits_for_it(tmp_path):
    pytest.importorskip("gymnasium")
    done = run(
        tmp_path,
        """
        import sys
        from rlscope_jax import auto_annotate

        auto_annotate()
        from gymnasium.wrappers.common import OrderEnforcing
        assert "jax" not in sys.modules
        import jax
        assert hasattr(OrderEnforcing.step, "__wrapped__")
        """,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["first in first out", "last in first out"])
def test_names_are_taken_away_in_any_order(order):
    linen = pytest.importorskip("flax.linen")
    before = linen.Module.apply
    undo = [auto_annotate("flax"), auto_annotate("flax")]
    named = linen.Module.apply
    assert named is not before
    assert named.__wrapped__ is before  # once, not twice
    undo[order[0]].close()
    assert linen.Module.apply is named
    undo[order[1]].close()
    assert linen.Module.apply is before


def test_what_brax_misses_goes_when_the_last_leaves():
    pytest.importorskip("brax")
    import brax.training.acting  # noqa: F401

    missing = not hasattr(jax, "device_put_replicated")
    first, second = auto_annotate("brax"), auto_annotate("brax")
    first.close()
    assert hasattr(jax, "device_put_replicated")
    second.close()
    assert hasattr(jax, "device_put_replicated") is not missing


def test_rejax_algorithms():
    ppo = pytest.importorskip("rejax").PPO
    before = ppo.calculate_gae
    with auto_annotate("rejax"):
        assert ppo.calculate_gae is not before
        named = {name for name in dir(ppo) if hasattr(getattr(ppo, name), "__wrapped__")}
        assert named >= {"collect_trajectories", "calculate_gae", "update", "update_actor", "update_critic"}
    assert ppo.calculate_gae is before
