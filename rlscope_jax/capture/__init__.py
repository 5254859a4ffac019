"""RECORD: a window of a training run, written where TensorBoard and `rlscope-jax report` find it."""

from rlscope_jax.capture._profile import profile as profile
from rlscope_jax.capture._schedule import Phase as Phase
from rlscope_jax.capture._schedule import Schedule as Schedule

__all__ = ["Phase", "Schedule", "profile"]
