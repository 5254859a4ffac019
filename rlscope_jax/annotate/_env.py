"""wrap_env(): an environment whose steps and resets are operations."""

from __future__ import annotations

from typing import Any, TypeVar

from rlscope_jax.annotate._methods import with_operations

Env = TypeVar("Env")


def wrap_env(env: Env, step: str = "env_step", reset: str = "env_reset") -> Env:
    """Make an environment's steps and resets operations; everything else is forwarded.

    Whatever the signatures: gymnax before and after 1.0 (`step_env` and `reset_env` too), Brax and MuJoCo
    playground, gymnasium and its vector environments on the host. What gymnax does in a `step` that ends an
    episode, its reset included, counts as the step. `isinstance`, copy, deepcopy, pickle, `jax.vmap` and
    further wrappers work as on the environment itself.

    Args:
        env: an environment, not its class.
        step: the operation of a step.
        reset: the operation of a reset.

    Raises:
        TypeError: it has neither `step` nor `reset`, or it is a pytree of arrays.
        ValueError: a name cannot be an operation's.
    """
    names: Any = {"step": step, "reset": reset, "step_env": step, "reset_env": reset}
    return with_operations(env, names, "pass an environment object, or decorate its methods with @operation")
