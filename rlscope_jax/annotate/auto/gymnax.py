"""gymnax: steps and resets of every environment, through the base class that all of them call."""

from __future__ import annotations

from rlscope_jax.annotate.auto._library import Library, Patch

_ENVIRONMENT = "gymnax.environments.environment"

LIBRARY = Library(
    "gymnax",
    "0.0.6",
    "1.1",
    (
        Patch(_ENVIRONMENT, "Environment.step", "env_step"),
        Patch(_ENVIRONMENT, "Environment.reset", "env_reset"),
    ),
)
