"""The two convolutions that a rollout spends its time in, as tasks for `rlscope-jax tune tasks.py:tasks`."""

from rlscope_jax.tune.backends.halide.tasks import nature_conv1, nature_conv2

ENVS = 32


def conv1():
    """Frames [32, 84, 84, 4] to [32, 20, 20, 32], with relu."""
    return nature_conv1(ENVS)


def conv2():
    """[32, 20, 20, 32] to [32, 9, 9, 64], with relu."""
    return nature_conv2(ENVS)


def tasks():
    """Both."""
    return [conv1(), conv2()]
