"""TAG: give the operations of an RL program their names."""

from rlscope_jax.annotate._operation import operation as operation

__all__ = ["operation"]
