"""Block sizes of Pallas kernels.

A kernel's sketch has its block sizes as parameters. Where there is no GPU or TPU there is only Pallas's
interpreter: a candidate can be checked there, but it is not timed, for the interpreter's time follows the
number of blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from rlscope_jax.tune.space import Param, Sketch, Values


def interpreted() -> str | None:
    """Why times of Pallas kernels mean nothing here; None where Pallas compiles for the default device."""
    platform = jax.default_backend()
    return None if platform in ("gpu", "tpu") else f"Pallas kernels are interpreted on {platform}"


def matmul(rows: int, inner: int, columns: int) -> dict[str, Sketch]:
    """[rows, inner] times [inner, columns], float32.

    blocks: one program a block of the result, which reads all of the sum. blocked_sum: the sum comes in
        blocks too.
    """
    sizes = (16, 32, 64, 128, 256)
    block_rows = Param("block_rows", tuple(n for n in sizes if rows % n == 0), "tile")
    block_columns = Param("block_columns", tuple(n for n in sizes if columns % n == 0), "tile")
    block_sum = Param("block_sum", tuple(n for n in sizes if inner % n == 0), "tile")
    return {
        "blocks": _sketch(_blocks, (block_rows, block_columns)),
        "blocked_sum": _sketch(_blocked_sum, (block_rows, block_columns, block_sum)),
    }


def _sketch(function: Callable[..., Any], params: tuple[Param, ...]) -> Sketch:
    return Sketch(
        params, build=partial(_build, function), export=partial(_export, function), untimed=interpreted
    )


def _build(function: Callable[..., Any], values: Values) -> Callable[..., Any]:
    return jax.jit(_export(function, values))


def _export(function: Callable[..., Any], values: Values) -> Callable[..., Any]:
    return partial(function, interpret=interpreted() is not None, **values)


def _blocks(left: Any, right: Any, block_rows: int, block_columns: int, interpret: bool) -> jax.Array:
    def kernel(a: Any, b: Any, out: Any) -> None:
        out[...] = jnp.dot(a[...], b[...], preferred_element_type=jnp.float32)

    return _product(kernel, left, right, block_rows, block_columns, interpret)


def _blocked_sum(
    left: Any, right: Any, block_rows: int, block_columns: int, block_sum: int, interpret: bool
) -> jax.Array:
    from jax.experimental import pallas as pl

    def kernel(a: Any, b: Any, out: Any) -> None:
        def add(k: Any, total: Any) -> Any:
            part = pl.dslice(k * block_sum, block_sum)
            return total + jnp.dot(a[:, part], b[part, :], preferred_element_type=jnp.float32)

        zero = jnp.zeros((block_rows, block_columns), jnp.float32)
        out[...] = jax.lax.fori_loop(0, left.shape[1] // block_sum, add, zero)

    return _product(kernel, left, right, block_rows, block_columns, interpret)


def _product(
    kernel: Callable[..., None], left: Any, right: Any, block_rows: int, block_columns: int, interpret: bool
) -> jax.Array:
    """Run a kernel for every block of the product: on whole rows of one side and columns of the other."""
    from jax.experimental import pallas as pl

    rows, inner, columns = left.shape[0], left.shape[1], right.shape[1]
    return pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((rows, columns), jnp.float32),
        grid=(rows // block_rows, columns // block_columns),
        in_specs=[
            pl.BlockSpec((block_rows, inner), lambda i, j: (i, 0)),
            pl.BlockSpec((inner, block_columns), lambda i, j: (0, j)),
        ],
        out_specs=pl.BlockSpec((block_rows, block_columns), lambda i, j: (i, j)),
        interpret=interpret,
    )(left, right)
