"""Run Brax's own trainers on a jax that has dropped a function they call. Never imports brax."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import jax
import numpy as np

from rlscope_jax import _jax


def restore_device_put_replicated() -> ExitStack:
    """Give `jax.device_put_replicated` back, which brax 0.14's `train` functions call and jax 0.10 removed.

    Does nothing on a jax that still has it.

    Returns:
        A context manager that takes the function away again when it is left, or when its `close()` is
        called; ignore it to keep the function for the rest of the program.
    """
    undo = ExitStack()
    if not hasattr(jax, "device_put_replicated"):
        setattr(jax, "device_put_replicated", _jax.device_put_replicated or replicate)  # noqa: B010
        undo.callback(delattr, jax, "device_put_replicated")
    return undo


def replicate(value: Any, devices: Sequence[jax.Device]) -> Any:
    """`jax.device_put_replicated` in public API: each array on each device, along a new leading axis.

    Args:
        value: arrays and scalars, in any pytree.
        devices: where to put a copy.
    """
    # The axis keeps jax's own name for it, so that both functions give one and the same sharding.
    mesh = jax.sharding.Mesh(np.array(devices), ("_device_put_replicated",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(mesh.axis_names))
    return jax.tree.map(lambda leaf: jax.device_put(jax.numpy.stack([leaf] * len(devices)), sharding), value)
