"""gymnasium: steps and resets on the host, of what `gymnasium.make` and `make_vec` return."""

from __future__ import annotations

from rlscope_jax.annotate.auto._library import Library, Patch

_COMMON = "gymnasium.wrappers.common"

LIBRARY = Library(
    "gymnasium",
    "0.29",
    "2",
    (
        Patch(_COMMON, "OrderEnforcing.step", "env_step"),  # around every environment that `make` returns
        Patch(_COMMON, "OrderEnforcing.reset", "env_reset"),
        Patch("gymnasium.vector.sync_vector_env", "SyncVectorEnv.step", "env_step"),
        Patch("gymnasium.vector.sync_vector_env", "SyncVectorEnv.reset", "env_reset"),
        Patch("gymnasium.vector.async_vector_env", "AsyncVectorEnv.step", "env_step"),
        Patch("gymnasium.vector.async_vector_env", "AsyncVectorEnv.reset", "env_reset"),
    ),
)
