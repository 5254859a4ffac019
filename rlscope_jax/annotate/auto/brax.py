"""Brax: names for its trainers' parts, and a function they call that jax has dropped. Never imports brax."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from rlscope_jax.annotate.auto._library import Library, Patch

if TYPE_CHECKING:
    import jax


def restore_device_put_replicated() -> ExitStack:
    """Give `jax.device_put_replicated` back, which brax 0.14's `train` functions call and jax 0.10 removed.

    Does nothing on a jax that still has it.

    Returns:
        A context manager that takes the function away again when it is left, or when its `close()` is
        called; ignore it to keep the function for the rest of the program.
    """
    import jax

    from rlscope_jax import _jax

    global _restored
    undo = ExitStack()
    if _restored or not hasattr(jax, "device_put_replicated"):
        if not _restored:
            setattr(jax, "device_put_replicated", _jax.device_put_replicated or replicate)  # noqa: B010
        _restored += 1
        undo.callback(_take_away)
    return undo


_restored = 0  # how many want it


def _take_away() -> None:
    global _restored
    import jax

    _restored -= 1
    if not _restored:
        delattr(jax, "device_put_replicated")


def replicate(value: Any, devices: Sequence[jax.Device]) -> Any:
    """`jax.device_put_replicated` in public API: each array on each device, along a new leading axis.

    Args:
        value: arrays and scalars, in any pytree.
        devices: where to put a copy.
    """
    import jax
    import numpy as np

    # The axis keeps jax's own name for it, so that both functions give one and the same sharding.
    mesh = jax.sharding.Mesh(np.array(devices), ("_device_put_replicated",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(mesh.axis_names))
    return jax.tree.map(lambda leaf: jax.device_put(jax.numpy.stack([leaf] * len(devices)), sharding), value)


def _losses(original: Any, name: str) -> Any:
    """SAC's `make_losses` returns its three losses."""
    from rlscope_jax.annotate._operation import operation

    def make_losses(*arguments: Any, **more: Any) -> Any:
        losses = original(*arguments, **more)
        return tuple(
            operation(part)(loss)
            for part, loss in zip(("alpha_loss", "critic_loss", "actor_loss"), losses, strict=True)
        )

    return make_losses


_TRAINING = "brax.training"
_WRAPPERS = "brax.envs.wrappers.training"

LIBRARY = Library(
    "brax",
    "0.12",
    "0.15",
    (
        Patch(f"{_TRAINING}.acting", "generate_unroll", "rollout"),
        Patch(f"{_TRAINING}.acting", "Evaluator.run_evaluation", "evaluate"),
        Patch(_WRAPPERS, "EpisodeWrapper.step", "env_step"),
        Patch(_WRAPPERS, "EpisodeWrapper.reset", "env_reset"),
        Patch(f"{_TRAINING}.agents.ppo.losses", "compute_gae", "gae"),
        Patch(f"{_TRAINING}.agents.ppo.losses", "compute_ppo_loss", "loss"),
        Patch(f"{_TRAINING}.agents.sac.losses", "make_losses", "losses", _losses),
        Patch(f"{_TRAINING}.acme.running_statistics", "update", "obs_statistics"),
        Patch(f"{_TRAINING}.acme.running_statistics", "normalize", "obs_normalize"),
        Patch(f"{_TRAINING}.replay_buffers", "QueueBase.insert_internal", "replay_insert"),
        Patch(f"{_TRAINING}.replay_buffers", "UniformSamplingQueue.sample_internal", "replay_sample"),
    ),
    restore_device_put_replicated,
)
