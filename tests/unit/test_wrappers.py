"""wrap_env, wrap_optimizer, wrap_apply, wrap_loss: names where they belong, everything else untouched."""

import copy
import pickle
from typing import NamedTuple

import jax
import jax.numpy as jnp
import pytest

from rlscope_jax import wrap_apply, wrap_env, wrap_loss, wrap_optimizer
from rlscope_jax.names import parse_op_name


def placed(function, *arguments):
    """{(path, direction)} of every marked instruction of the compiled program."""
    text = jax.jit(function).lower(*arguments).compile().as_text()
    names = [piece.split('"')[0] for piece in text.split('op_name="')[1:]]
    return {(name.path, name.direction) for name in map(parse_op_name, names) if name.marked}


class Pole:
    """gymnax's signatures; `values` is 5 before 1.0 and 6 since."""

    def __init__(self, values=6):
        self.values = values

    @property
    def default_params(self):
        return {"gravity": 9.8}

    def reset(self, key, params=None):
        state = jax.random.normal(key, (2,))
        return jnp.sin(state), state

    def step(self, key, state, action, params=None):
        return self.step_env(key, state, action, params or self.default_params)

    def step_env(self, key, state, action, params):
        state = jnp.cos(state * params["gravity"]) + action + jax.random.normal(key, (2,))
        reward = jnp.tanh(state.sum())
        return (jnp.sin(state), state, reward, *[state[0] > 0] * (self.values - 4), {})

    def __eq__(self, other):
        return type(other) is Pole and other.values == self.values

    def __hash__(self):
        return hash(self.values)


class Physics:
    """Brax's signatures: the state is all there is."""

    observation_size = 2

    def reset(self, rng):
        return jax.random.normal(rng, (2,))

    def step(self, state, action):
        return jnp.cos(state) * action


class Host:
    """gymnasium's: stateful, on the host, a context manager."""

    def __init__(self):
        self.time = 0

    def reset(self, *, seed=None, options=None):
        self.time = 0
        return 0.0, {"seed": seed}

    def step(self, action):
        self.time += 1
        return float(self.time), 1.0, False, False, {"action": action}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.closed = True


KEY = jax.random.key(0)


@pytest.mark.parametrize("values", [5, 6])
def test_both_signatures_of_gymnax(values):
    env = wrap_env(Pole(values))
    _, state = env.reset(KEY, env.default_params)
    assert len(env.step(KEY, state, 1.0, env.default_params)) == values
    assert len(env.step(KEY, state, action=1.0)) == values
    assert placed(lambda key, state: env.step(key, state, 1.0)[:3], KEY, state) == {("env_step", None)}
    assert placed(env.reset, KEY) == {("env_reset", None)}
    assert placed(lambda key, state: env.step_env(key, state, 1.0, {"gravity": 1.0})[:3], KEY, state) == {
        ("env_step", None)
    }


def test_brax_signatures_and_vmap():
    env = wrap_env(Physics(), step="physics/step")
    states = jax.vmap(env.reset)(jax.random.split(KEY, 3))
    assert jax.vmap(env.step, in_axes=(0, None))(states, 2.0).shape == (3, 2)
    assert placed(jax.vmap(env.step, in_axes=(0, None)), states, 2.0) == {("physics/step", None)}
    assert env.observation_size == 2


def test_a_host_environment_keeps_its_state():
    plain = Host()
    with wrap_env(plain) as env:
        assert env.reset(seed=3)[1] == {"seed": 3}
        assert env.step(1)[0] == 1.0
        assert plain.time == env.time == 1
        env.time = 5
        assert plain.time == 5
    assert plain.closed


COPIES = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_is_annotated_and_independent(how, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, Host.__module__, _module(Host=Host))
    env = wrap_env(Host())
    env.step(0)
    copied = COPIES[how](env)
    copied.step(0)
    assert (env.time, copied.time) == (1, 2)
    assert "operation rls=env_step" in repr(copied.step)


def _module(**content):
    import types

    module = types.ModuleType(Host.__module__)
    module.__dict__.update(content)
    return module


def test_it_is_what_it_was():
    env = wrap_env(Pole())
    assert isinstance(env, Pole)
    assert env == wrap_env(Pole())
    assert env != wrap_env(Pole(), step="other")
    assert hash(env) == hash(wrap_env(Pole()))
    assert "default_params" in dir(env)
    assert not callable(env)  # factories ask
    assert not hasattr(env, "missing")
    with pytest.raises(AttributeError, match="missing"):
        _ = env.missing


def test_it_can_be_a_static_argument():
    step = jax.jit(lambda env, key, state: env.step(key, state, 1.0)[2], static_argnums=0)
    state = jnp.ones(2)
    assert step(wrap_env(Pole()), KEY, state) == step(wrap_env(Pole()), KEY, state)
    assert step._cache_size() == 1


def test_wrapping_twice_names_it_twice():
    env = wrap_env(wrap_env(Physics()), step="outer")
    assert placed(env.step, jnp.ones(2), 1.0) == {("outer/env_step", None)}


def test_a_method_set_later_is_the_one_that_runs():
    env = wrap_env(Host())
    env.step(0)
    env.step = lambda action: "replaced"
    assert env.step(0) == "replaced"


@pytest.mark.parametrize("thing", [3, Host, "CartPole-v1"])
def test_no_environment_is_refused(thing):
    with pytest.raises(TypeError, match="environment object"):
        wrap_env(thing)


def test_a_pytree_is_refused():
    @jax.tree_util.register_pytree_node_class
    class Tree(Physics):
        def tree_flatten(self):
            return (jnp.ones(1),), None

        @classmethod
        def tree_unflatten(cls, *_):
            return cls()

    with pytest.raises(TypeError, match="is a pytree"):
        wrap_env(Tree())


def test_names_are_checked_at_once():
    with pytest.raises(ValueError, match="Use letters"):
        wrap_env(Physics(), step="a(b)").step(1, 2)


def test_an_optax_optimizer_stays_one():
    optax = pytest.importorskip("optax")
    optimizer = wrap_optimizer(optax.adam(0.1))
    assert isinstance(optimizer, optax.GradientTransformationExtraArgs)
    params = jnp.ones(3)

    def update(params, optimizer):
        chained = optax.chain(optax.clip(1.0), optimizer)
        updates, _ = chained.update(params, chained.init(params), params)
        return optax.apply_updates(params, updates)

    assert ("optimizer", None) in placed(lambda params: update(params, optimizer), params)
    assert jnp.allclose(update(params, optimizer), update(params, optax.adam(0.1)))
    assert optax.MultiSteps(optimizer, 2).init(params) is not None


def test_an_optimizer_with_methods():
    class Descent:
        def init(self, params):
            return ()

        def update(self, gradients, state, params=None):
            return jax.tree.map(lambda g: -0.1 * g, gradients), state

    assert placed(lambda g: wrap_optimizer(Descent(), "sgd").update(g, ())[0], jnp.ones(3)) == {("sgd", None)}


class Transformed(NamedTuple):
    init: object
    apply: object


def test_networks_of_every_kind():
    flax = pytest.importorskip("flax.linen")
    x = jnp.ones((2, 3))
    network = wrap_apply(flax.Dense(4), "policy")
    params = network.init(KEY, x)
    assert network.features == 4
    assert {path for path, _ in placed(network.apply, params, x)} == {"policy"}
    pair = wrap_apply(Transformed(lambda key: 1.0, lambda params, x: params * x), "value")
    assert isinstance(pair, Transformed)
    assert placed(pair.apply, 2.0, x) == {("value", None)}
    assert placed(wrap_apply(flax.Dense(4).apply, "actor"), params, x) == {("actor", None)}


def test_a_network_without_apply_is_refused():
    with pytest.raises(TypeError, match="decorate its __call__"):
        wrap_apply(3)


def test_a_loss_shows_both_directions():
    gradient = jax.value_and_grad(wrap_loss(lambda p, x: jnp.tanh(p @ x).sum()))
    assert placed(gradient, jnp.ones((3, 3)), jnp.ones((3, 3))) == {("loss", "forward"), ("loss", "backward")}


def test_the_real_gymnax():
    gymnax = pytest.importorskip("gymnax")
    plain, params = gymnax.make("CartPole-v1")
    env = wrap_env(plain)
    for copied in (env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        _, state = copied.reset(KEY, params)
        assert isinstance(copied, type(plain))
        after = copied.step(KEY, state, 1, params)
        assert len(after) == len(plain.step(KEY, state, 1, params))
    paths = placed(jax.vmap(env.step, in_axes=(0, 0, 0, None)), *jax.tree.map(
        lambda leaf: jnp.stack([leaf] * 2), (KEY, state, jnp.int32(1))), params)  # fmt: skip
    assert {path for path, _ in paths} == {"env_step"}


def test_the_real_brax():
    envs = pytest.importorskip("brax.envs")
    env = wrap_env(envs.get_environment("fast"))
    wrapped = envs.training.VmapWrapper(env)
    state = wrapped.reset(jax.random.split(KEY, 2))
    assert {path for path, _ in placed(wrapped.step, state, jnp.zeros((2, env.action_size)))} == {"env_step"}
    assert env.unwrapped.observation_size == env.observation_size


def test_the_real_gymnasium():
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.wrappers.TimeLimit(wrap_env(gymnasium.make("CartPole-v1").unwrapped), 3)
    env.reset(seed=0)
    assert [env.step(0)[3] for _ in range(3)] == [False, False, True]
    env.close()
