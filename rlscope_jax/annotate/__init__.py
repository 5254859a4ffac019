"""TAG: give the operations of an RL program their names."""

from rlscope_jax.annotate._apply import wrap_apply as wrap_apply
from rlscope_jax.annotate._env import wrap_env as wrap_env
from rlscope_jax.annotate._loss import wrap_loss as wrap_loss
from rlscope_jax.annotate._operation import operation as operation
from rlscope_jax.annotate._optimizer import wrap_optimizer as wrap_optimizer

__all__ = ["operation", "wrap_apply", "wrap_env", "wrap_loss", "wrap_optimizer"]
