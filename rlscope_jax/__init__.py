"""Tag the operations of a JAX RL program, record a window, see where the time of each goes.

Importing this package loads neither numba, TensorBoard nor a web stack: a training process pays only
for what it uses. Reading profiles (`load`, `sessions`) never imports jax.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlscope_jax.errors import RlscopeError as RlscopeError

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rlscope_jax.annotate import operation as operation
    from rlscope_jax.annotate import wrap_apply as wrap_apply
    from rlscope_jax.annotate import wrap_env as wrap_env
    from rlscope_jax.annotate import wrap_loss as wrap_loss
    from rlscope_jax.annotate import wrap_optimizer as wrap_optimizer
    from rlscope_jax.annotate.auto import auto_annotate as auto_annotate
    from rlscope_jax.breakdown.report import Report as Report
    from rlscope_jax.capture import Schedule as Schedule
    from rlscope_jax.capture import profile as profile
    from rlscope_jax.facade import load as load
    from rlscope_jax.xla_events.sessions import sessions as sessions

_HOME = {
    "operation": "rlscope_jax.annotate",
    "wrap_env": "rlscope_jax.annotate",
    "wrap_optimizer": "rlscope_jax.annotate",
    "wrap_apply": "rlscope_jax.annotate",
    "wrap_loss": "rlscope_jax.annotate",
    "auto_annotate": "rlscope_jax.annotate.auto",
    "profile": "rlscope_jax.capture",
    "Schedule": "rlscope_jax.capture",
    "load": "rlscope_jax.facade",
    "sessions": "rlscope_jax.xla_events.sessions",
    "Report": "rlscope_jax.breakdown.report",
}

__all__ = [
    "Report", "RlscopeError", "Schedule", "__version__", "auto_annotate", "load", "operation", "profile",
    "sessions", "wrap_apply", "wrap_env", "wrap_loss", "wrap_optimizer",
]  # fmt: skip


def __getattr__(name: str) -> object:
    # Public names load on first use (PEP 562), so that readers never import jax and trainers never numba.
    if name in _HOME:
        from importlib import import_module

        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
