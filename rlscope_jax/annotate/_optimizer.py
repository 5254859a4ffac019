"""wrap_optimizer(): an optimizer whose update is an operation."""

from __future__ import annotations

from typing import TypeVar

from rlscope_jax.annotate._methods import with_operations

Optimizer = TypeVar("Optimizer")


def wrap_optimizer(optimizer: Optimizer, name: str = "optimizer") -> Optimizer:
    """Make an optimizer's `update` an operation.

    For optax: a `GradientTransformation` stays one and can be chained. `optax.apply_updates` is a function
    of its own, outside.

    Args:
        optimizer: what has `init` and `update`.
        name: the operation.

    Raises:
        TypeError: it has no `update`.
        ValueError: the name cannot be an operation's.
    """
    return with_operations(
        optimizer, {"update": name}, "pass an optimizer such as optax.adam(1e-3), or decorate its update"
    )
