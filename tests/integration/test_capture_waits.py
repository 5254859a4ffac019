"""Inside a window every way of waiting for the device shows as one wait; afterwards jax is as it was."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rlscope_jax import _jax, load, operation, profile

WAYS = {
    "block_until_ready as a method": lambda y: y.block_until_ready(),
    "block_until_ready as a function": lambda y: jax.block_until_ready(y),  # looked up in the window
    "block_until_ready on a list": lambda y: jax.block_until_ready([y, y]),
    "np.asarray": np.asarray,
    "item": lambda y: y.item(),
    "float": float,
    "device_get": jax.device_get,
}
PATCHED = [(_jax.ArrayImpl, "block_until_ready"), (_jax.ArrayImpl, "item"), (jax, "block_until_ready")]


@pytest.fixture(scope="module")
def work():
    x = jnp.ones((200, 200)) * 0.01
    program = jax.jit(lambda x: jax.lax.fori_loop(0, 20, lambda _, y: jnp.tanh(y @ x), x).sum())
    program(x).block_until_ready()
    return lambda: program(x)


@pytest.fixture(scope="module")
def rows(work, tmp_path_factory):
    """The report's rows of one window in which every way was used once, each in an operation of its own."""
    logdir = tmp_path_factory.mktemp("waits")
    with profile(logdir) as profiler:
        for number, way in enumerate(WAYS.values()):
            y = work()
            with operation(f"way {number}"):
                way(y)
        profiler.step()
    return {row["path"]: row for row in load(logdir).to_dict()["operations"]}


@pytest.mark.parametrize("way", WAYS)
def test_each_leaves_one_wait(rows, way):
    row = rows[f"way {list(WAYS).index(way)}"]
    assert row["host"]["syncs"] == 1
    # How long it waits is another matter: on a busy machine the work may be done before the thread asks.
    assert row["host"]["categories"]["wait"]["raw"] > 0


def test_afterwards_everything_is_as_before(work, tmp_path):
    before = [vars(owner)[name] for owner, name in PATCHED]
    with profile(tmp_path) as profiler:
        assert all(vars(owner)[name] is not old for (owner, name), old in zip(PATCHED, before, strict=True))
        profiler.step(work())
    assert all(vars(owner)[name] is old for (owner, name), old in zip(PATCHED, before, strict=True))


def test_what_others_put_there_meanwhile_stays(work, tmp_path, monkeypatch):
    monkeypatch.setattr(jax, "block_until_ready", jax.block_until_ready)  # put back after this test
    theirs = lambda x: x  # noqa: E731
    with profile(tmp_path) as profiler:
        profiler.step(work())
        jax.block_until_ready = theirs
    assert jax.block_until_ready is theirs


def test_values_and_errors_pass_through(work, tmp_path):
    y = work()
    deleted = y + 1
    deleted.delete()
    with profile(tmp_path) as profiler:
        assert y.block_until_ready() is y
        assert jax.block_until_ready({"a": [y, 1]}) == {"a": [y, 1]}
        assert y.item() == float(y)
        with pytest.raises(RuntimeError, match="deleted"):
            deleted.block_until_ready()
        profiler.step()
