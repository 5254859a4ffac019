"""wrap_loss(): a loss whose forward and backward pass are told apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from rlscope_jax.annotate._operation import operation

Loss = TypeVar("Loss", bound=Callable[..., Any])


def wrap_loss(loss: Loss, name: str = "loss") -> Loss:
    """Make a loss function an operation: `jax.value_and_grad(wrap_loss(loss))`.

    Wrap the loss, not its gradient: only what is differentiated shows forward and backward apart.

    Args:
        loss: the function that is differentiated.
        name: the operation.

    Raises:
        TypeError: it cannot be called.
        ValueError: the name cannot be an operation's.
    """
    return operation(name)(loss)
