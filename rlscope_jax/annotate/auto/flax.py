"""flax: applying a network, and applying gradients to a train state."""

from __future__ import annotations

from rlscope_jax.annotate.auto._library import Library, Patch

LIBRARY = Library(
    "flax",
    "0.8",
    "0.14",
    (
        Patch("flax.linen.module", "Module.apply", "network"),
        Patch("flax.training.train_state", "TrainState.apply_gradients", "optimizer"),
    ),
)
