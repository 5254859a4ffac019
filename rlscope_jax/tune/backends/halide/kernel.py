"""A scheduled Halide pipeline: compiled in memory and called with arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

LANES = 8
"""float32 per vector: AVX2. (On AVX-512 LLVM may join two.)"""


def load_halide() -> Any:
    """The `halide` module.

    Raises:
        MissingPackageError: it is not installed.
    """
    from rlscope_jax.tune.errors import need

    return need("halide", "halide")


@dataclass
class Pipeline:
    """A scheduled pipeline, not compiled yet.

    Args:
        inputs: its `halide.ImageParam`s, in the order of the task's arguments.
        input_shapes: their shapes, as NumPy has them (the first axis is the slowest).
        output: the `halide.Func` it computes.
        shape: of the result.
    """

    inputs: Sequence[Any]
    input_shapes: Sequence[Sequence[int]]
    output: Any
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        extents = self.shape[::-1]  # Halide counts axes from the fastest
        _fix(self.output.output_buffer(), extents)

    def jit(self) -> Kernel:
        """Compile in memory; raises HalideError where the schedule makes no sense."""
        self.output.compile_jit()
        return Kernel(self)


class Kernel:
    """A pipeline compiled in memory. Call it with the task's arrays: float32, of the right shapes."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._halide = load_halide()
        self._pipeline = pipeline
        self._bound: tuple[Any, ...] = ()

    def __call__(self, *args: Any) -> np.ndarray:
        if len(args) != len(self._bound) or any(a is not b for a, b in zip(args, self._bound, strict=True)):
            # Halide wants arrays that it could write, which jax's are not; and it does not keep them alive.
            self._arrays = [np.require(arg, np.float32, ["C", "W"]) for arg in args]
            for param, array in zip(self._pipeline.inputs, self._arrays, strict=True):
                param.set(self._halide.Buffer(array))
            self._result = np.full(self._pipeline.shape, np.nan, np.float32)  # what is not written shows
            self._buffer = self._halide.Buffer(self._result)
            self._bound = args
        self._pipeline.output.realize(self._buffer)
        return self._result


def image_param(name: str, shape: Sequence[int]) -> Any:
    """A float32 input of a fixed shape (NumPy's order of axes), contiguous."""
    halide = load_halide()
    param = halide.ImageParam(halide.Float(32), len(shape), name)
    _fix(param, tuple(shape)[::-1])
    return param


def _fix(buffer: Any, extents: Sequence[int]) -> None:
    stride = 1
    for axis, extent in enumerate(extents):
        buffer.dim(axis).set_bounds(0, extent).set_stride(stride)
        stride *= extent
