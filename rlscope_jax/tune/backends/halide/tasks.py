"""Tasks that every RL program knows: the convolutions of a Nature-CNN, a policy's layer, a square product."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from rlscope_jax.tune.backends.halide import conv as convolution
from rlscope_jax.tune.backends.halide import matmul as product
from rlscope_jax.tune.task import TuneTask


def nature_conv1(batch: int = 32) -> TuneTask:
    """Frames [batch, 84, 84, 4] by 32 filters of 8 x 8, stride 4, with relu: [batch, 20, 20, 32]."""
    return conv_task("nature_conv1", convolution.Conv(batch, 84, 4, 8, 32, 4))


def nature_conv2(batch: int = 32) -> TuneTask:
    """[batch, 20, 20, 32] by 64 filters of 4 x 4, stride 2, with relu: [batch, 9, 9, 64]."""
    return conv_task("nature_conv2", convolution.Conv(batch, 20, 32, 4, 64, 2))


def gemm512() -> TuneTask:
    """[512, 512] times [512, 512]."""
    return matmul_task("gemm512", product.Matmul(512, 512, 512))


def policy_layer(batch: int = 2048, width: int = 64) -> TuneTask:
    """A dense layer with bias and relu: [batch, width] to [batch, width]."""
    return matmul_task("policy_layer", product.Matmul(batch, width, width, bias_relu=True))


TASKS: dict[str, Callable[[], TuneTask]] = {
    "nature_conv1": nature_conv1,
    "nature_conv2": nature_conv2,
    "gemm512": gemm512,
    "policy_layer": policy_layer,
}


def conv_task(name: str, conv: convolution.Conv) -> TuneTask:
    """A convolution without padding, with relu, as a task."""
    rng = np.random.default_rng(0)
    image = rng.standard_normal((conv.batch, conv.size, conv.size, conv.channels), np.float32)
    scale = np.float32((conv.kernel**2 * conv.channels) ** -0.5)
    weights = rng.standard_normal((conv.kernel, conv.kernel, conv.channels, conv.filters), np.float32) * scale
    return TuneTask(name, (image, weights), partial(_conv, stride=conv.stride), convolution.sketches(conv))


def matmul_task(name: str, matmul: product.Matmul) -> TuneTask:
    """A matrix product, with bias and relu if the shape says so, as a task."""
    rng = np.random.default_rng(0)
    left = rng.standard_normal((matmul.rows, matmul.inner), np.float32)
    right = rng.standard_normal((matmul.inner, matmul.columns), np.float32) * np.float32(matmul.inner**-0.5)
    if not matmul.bias_relu:
        return TuneTask(name, (left, right), _matmul, product.sketches(matmul))
    bias = rng.standard_normal(matmul.columns, np.float32)
    return TuneTask(name, (left, right, bias), _dense, product.sketches(matmul))


def _conv(image, weights, stride):
    from jax import lax, nn

    layout = ("NHWC", "HWIO", "NHWC")
    return nn.relu(
        lax.conv_general_dilated(image, weights, (stride, stride), "VALID", dimension_numbers=layout)
    )


def _matmul(left, right):
    return left @ right


def _dense(left, right, bias):
    from jax import nn

    return nn.relu(left @ right + bias)
