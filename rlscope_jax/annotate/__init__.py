"""TAG: give the operations of an RL program their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlscope_jax.annotate._apply import wrap_apply as wrap_apply
    from rlscope_jax.annotate._env import wrap_env as wrap_env
    from rlscope_jax.annotate._loss import wrap_loss as wrap_loss
    from rlscope_jax.annotate._operation import operation as operation
    from rlscope_jax.annotate._optimizer import wrap_optimizer as wrap_optimizer

_HOME = {
    "operation": "_operation",
    "wrap_apply": "_apply",
    "wrap_env": "_env",
    "wrap_loss": "_loss",
    "wrap_optimizer": "_optimizer",
}

__all__ = ["operation", "wrap_apply", "wrap_env", "wrap_loss", "wrap_optimizer"]


def __getattr__(name: str) -> object:
    # On first use: `auto` is imported before the program imports jax, and must not do so in its place.
    if name in _HOME:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
