"""wrap_apply(): a network whose forward pass is an operation."""

from __future__ import annotations

from typing import TypeVar

from rlscope_jax.annotate._methods import with_operations
from rlscope_jax.annotate._operation import operation

Network = TypeVar("Network")


def wrap_apply(network: Network, name: str = "inference") -> Network:
    """Make a network's forward pass an operation.

    Args:
        network: what has `apply` (a flax linen module, a haiku `Transformed`, a Brax `FeedForwardNetwork`),
            or the apply function itself. A module stays usable for `init` and `apply`, not as a submodule.
        name: the operation.

    Raises:
        TypeError: it has no `apply` and is no function. A module that holds its parameters (equinox, flax
            nnx) is one of those: decorate its `__call__`.
        ValueError: the name cannot be an operation's.
    """
    if not hasattr(network, "apply") and callable(network):
        return operation(name)(network)
    return with_operations(network, {"apply": name}, "decorate its __call__ with @operation instead")
