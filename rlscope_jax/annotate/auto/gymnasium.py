"""gymnasium: steps and resets on the host, of what `gymnasium.make` and `make_vec` return."""

from __future__ import annotations

import functools
from typing import Any

from rlscope_jax.annotate.auto._library import Library, Patch, call


def _vectorized(original: Any, name: str) -> Any:
    """`make_vec` may return an environment of the task's own class, whose steps no base class sees."""

    @functools.wraps(original)
    def make_vec(*arguments: Any, **more: Any) -> Any:
        environment = original(*arguments, **more)
        if not hasattr(environment.unwrapped.step, "__wrapped__"):
            environment.step = call(environment.step, name)
            environment.reset = call(environment.reset, "env_reset")
        return environment

    return make_vec


_COMMON = "gymnasium.wrappers.common"

LIBRARY = Library(
    "gymnasium",
    "0.29",
    "2",
    (
        Patch(_COMMON, "OrderEnforcing.step", "env_step"),  # around every environment that `make` returns
        Patch(_COMMON, "OrderEnforcing.reset", "env_reset"),
        Patch("gymnasium", "make_vec", "env_step", _vectorized),
        Patch("gymnasium.vector.sync_vector_env", "SyncVectorEnv.step", "env_step"),
        Patch("gymnasium.vector.sync_vector_env", "SyncVectorEnv.reset", "env_reset"),
        Patch("gymnasium.vector.async_vector_env", "AsyncVectorEnv.step", "env_step"),
        Patch("gymnasium.vector.async_vector_env", "AsyncVectorEnv.reset", "env_reset"),
    ),
)
