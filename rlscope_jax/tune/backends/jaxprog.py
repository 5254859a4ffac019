"""Variants of JAX programs: the same loop, map or gradient written in other ways. Needs nothing but jax.

Each function returns sketches for one kind of program; `TuneTask.sketches` may join several. All compute the
same up to the order of sums, which the task's tolerances allow for. To vary something that changes results
by design, such as the number of environments, give the task an `equal` that says what must hold all the
same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from rlscope_jax.tune.space import Param, Sketch, Values, anything

UNROLLS = (1, 2, 4, 8, 16, 32)


def program(
    function: Callable[..., Any],
    params: Sequence[Param],
    valid: Callable[[Values], bool] = anything,
) -> Sketch:
    """A function that takes its choices as keyword arguments, and is jitted with them."""
    return Sketch(
        tuple(params),
        build=partial(_jitted, function),
        valid=valid,
        export=partial(_bound, function),
    )


def scans(
    step: Callable[[Any, Any], tuple[Any, Any]], length: int, reverse: bool = False
) -> dict[str, Sketch]:
    """`lax.scan(step, init, xs)` as a function of (init, xs), of a known length.

    scan: with an unroll factor.
    chunked: a scan of scans; with `remat` the inner ones keep nothing for the backward pass.
    unrolled: a Python loop (up to 256 steps).
    """
    chunks = tuple(n for n in (4, 8, 16, 32, 64) if length % n == 0 and n < length)
    unroll = Param("unroll", tuple(n for n in UNROLLS if n <= length), "unroll")
    found = {"scan": program(partial(_scan, step, reverse), [unroll])}
    if chunks:
        params = [Param("chunk", chunks, "tile"), unroll, Param("remat", (False, True), "choice")]
        found["chunked"] = program(partial(_chunked, step, reverse), params, _unroll_fits_chunk)
    if length <= 256:
        found["unrolled"] = program(partial(_unrolled, step, reverse, length), [Param("one", (1,))])
    return found


def recurrences(length: int, reverse: bool = False) -> dict[str, Sketch]:
    """y[t] = decay[t] * y[t-1] + x[t] along the first axis, y[-1] = 0, as a function of (decay, x): a
    discounted return, an advantage, a trace. With `reverse` from the end.

    scan: step by step.
    associative: in a tree.
    chunked: a tree within chunks, step by step between them.
    """
    unroll = Param("unroll", tuple(n for n in UNROLLS if n <= length), "unroll")
    found = {
        "scan": program(partial(_recurrence_scan, reverse), [unroll]),
        "associative": program(partial(_recurrence_tree, reverse), [Param("one", (1,))]),
    }
    chunks = tuple(n for n in (4, 8, 16, 32, 64, 128) if length % n == 0 and n < length)
    if chunks:
        found["chunked"] = program(
            partial(_recurrence_chunked, reverse), [Param("chunk", chunks, "tile"), unroll]
        )
    return found


def maps(function: Callable[..., Any], size: int) -> dict[str, Sketch]:
    """`jax.vmap(function)` over `size` rows of every argument: environments, sequences, members of a
    population.

    vmap: with the rows first or last in memory.
    map: a loop over chunks of rows.
    """
    chunks = tuple(n for n in (1, 2, 4, 8, 16, 32, 64, 128, 256) if size % n == 0 and n < size)
    return {
        "vmap": program(partial(_vmap, function), [Param("layout", ("rows_first", "rows_last"), "choice")]),
        "map": program(partial(_map, function), [Param("chunk", chunks or (size,), "tile")]),
    }


def gradients(loss: Callable[[Any, Any], jax.Array], size: int) -> dict[str, Sketch]:
    """`jax.value_and_grad(loss)` as a function of (params, batch), where the loss is a mean over the batch's
    `size` rows: at once, or accumulated over equal parts; with or without keeping activations for the
    backward pass.
    """
    parts = tuple(n for n in (1, 2, 4, 8, 16, 32) if size % n == 0)
    params = [Param("parts", parts, "tile"), Param("remat", (False, True), "choice")]
    return {"gradient": program(partial(_gradient, loss), params)}


def dispatches(step: Callable[[Any], Any], steps: int) -> dict[str, Sketch]:
    """`steps` times `step(state)`: how many of them make one program that is dispatched again and again.

    A host loop, so not for use inside `jax.jit`, except with all steps in one program.
    """
    sizes = tuple(n for n in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024) if steps % n == 0 and n <= steps)
    params = [Param("steps_per_dispatch", sizes, "tile")]
    return {"dispatches": Sketch(tuple(params), build=partial(_dispatch, step, steps))}


def _jitted(function: Callable[..., Any], values: Values) -> Callable[..., Any]:
    return jax.jit(partial(function, **values))


def _bound(function: Callable[..., Any], values: Values) -> Callable[..., Any]:
    return partial(function, **values)


def _unroll_fits_chunk(values: Values) -> bool:
    return values["unroll"] <= values["chunk"]


def _scan(step: Any, reverse: bool, init: Any, xs: Any, unroll: int) -> Any:
    return lax.scan(step, init, xs, reverse=reverse, unroll=unroll)


def _chunked(step: Any, reverse: bool, init: Any, xs: Any, chunk: int, unroll: int, remat: bool) -> Any:
    def inner(carry: Any, part: Any) -> Any:
        return lax.scan(step, carry, part, reverse=reverse, unroll=unroll)

    parts = jax.tree.map(partial(_split, chunk), xs)
    carry, ys = lax.scan(jax.checkpoint(inner) if remat else inner, init, parts, reverse=reverse)
    return carry, jax.tree.map(_join, ys)


def _unrolled(step: Any, reverse: bool, length: int, init: Any, xs: Any, one: int) -> Any:
    carry, ys = init, [None] * length
    for t in reversed(range(length)) if reverse else range(length):
        carry, ys[t] = step(carry, jax.tree.map(lambda x, t=t: x[t], xs))
    return carry, jax.tree.map(lambda *values: jnp.stack(values), *ys)


def _recurrence_scan(reverse: bool, decay: jax.Array, x: jax.Array, unroll: int) -> jax.Array:
    def step(y: Any, inputs: Any) -> Any:
        y = inputs[0] * y + inputs[1]
        return y, y

    return lax.scan(step, jnp.zeros_like(x[0]), (decay, x), reverse=reverse, unroll=unroll)[1]


def _combine(earlier: Any, later: Any) -> Any:
    return earlier[0] * later[0], later[0] * earlier[1] + later[1]


def _recurrence_tree(reverse: bool, decay: jax.Array, x: jax.Array, one: int) -> jax.Array:
    return lax.associative_scan(_combine, (decay, x), reverse=reverse)[1]


def _recurrence_chunked(reverse: bool, decay: jax.Array, x: jax.Array, chunk: int, unroll: int) -> jax.Array:
    decay, x = _split(chunk, decay), _split(chunk, x)
    factors, sums = lax.associative_scan(_combine, (decay, x), reverse=reverse, axis=1)
    last = 0 if reverse else -1

    def step(y: Any, inputs: Any) -> Any:
        whole = inputs[0] * y + inputs[1]
        return whole[last], whole

    return _join(lax.scan(step, jnp.zeros_like(x[0, 0]), (factors, sums), reverse=reverse, unroll=unroll)[1])


def _vmap(function: Any, *args: Any, layout: str) -> Any:
    if layout == "rows_first":
        return jax.vmap(function)(*args)
    last = jax.tree.map(lambda x: jnp.moveaxis(x, 0, -1), args)
    found = jax.vmap(function, in_axes=-1, out_axes=-1)(*last)
    return jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), found)


def _map(function: Any, *args: Any, chunk: int) -> Any:
    return lax.map(lambda row: function(*row), args, batch_size=chunk)


def _gradient(loss: Any, params: Any, batch: Any, parts: int, remat: bool) -> Any:
    evaluate = jax.value_and_grad(jax.checkpoint(loss) if remat else loss)
    if parts == 1:
        return evaluate(params, batch)

    def add(total: Any, part: Any) -> Any:
        return jax.tree.map(jnp.add, total, evaluate(params, part)), None

    rows = jax.tree.leaves(batch)[0].shape[0]
    pieces = jax.tree.map(partial(_split, rows // parts), batch)
    start = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(evaluate, params, batch))
    total, _ = lax.scan(add, start, pieces)
    return jax.tree.map(lambda x: x / parts, total)


def _dispatch(step: Any, steps: int, values: Values) -> Callable[..., Any]:
    size = values["steps_per_dispatch"]
    several = jax.jit(lambda state: lax.fori_loop(0, size, lambda _, s: step(s), state))

    def run(state: Any) -> Any:
        for _ in range(steps // size):
            state = several(state)
        return state

    return run


def _split(chunk: int, x: jax.Array) -> jax.Array:
    return x.reshape(-1, chunk, *x.shape[1:])


def _join(x: jax.Array) -> jax.Array:
    return x.reshape(-1, *x.shape[2:])
