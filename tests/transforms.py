"""An operation `x` under each of jax's transforms: programs to compile and run, one a transform."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from jax.sharding import Mesh, PartitionSpec

from rlscope_jax import operation
from rlscope_jax.names import parse_op_name

ARROWS = {None: "", "forward": " →", "backward": " ←", "recompute": " ↻"}
CASES: dict[str, Callable[[], tuple[Callable, tuple]]] = {}


def case(build: Callable[[], tuple[Callable, tuple]]) -> Callable:
    """Register a builder of (jitted function, arguments); its docstring is the transform's name."""
    assert build.__doc__
    CASES[build.__doc__] = build
    return build


def found(name: str) -> str:
    """Compile and run a case; the operations and directions that its program's instructions carry."""
    function, arguments = CASES[name]()
    jax.block_until_ready(function(*arguments))
    text = function.lower(*arguments).compile().as_text()
    names = {parse_op_name(piece.split('"')[0]) for piece in text.split('op_name="')[1:]}
    return ", ".join(sorted({f"{name.path}{ARROWS[name.direction]}" for name in names if name.marked}))


X = jnp.linspace(0.1, 0.9, 16).reshape(4, 4)


@operation("x")
def work(x: jax.Array) -> jax.Array:
    """Two instructions at least, whatever is fused."""
    return jnp.sin(x @ x)


def total(x: jax.Array) -> jax.Array:
    """A scalar, for what differentiates."""
    return work(x).sum()


@case
def _jit() -> tuple[Callable, tuple]:
    """jit"""
    return jax.jit(work), (X,)


@case
def _block() -> tuple[Callable, tuple]:
    """`with` block"""

    def function(x: jax.Array) -> jax.Array:
        with operation("x"):
            return jnp.sin(x @ x)

    return jax.jit(function), (X,)


@case
def _method() -> tuple[Callable, tuple]:
    """method"""

    class Agent:
        @operation("x")
        def act(self, x: jax.Array) -> jax.Array:
            return jnp.sin(x @ x)

    return jax.jit(Agent().act), (X,)


@case
def _partial() -> tuple[Callable, tuple]:
    """partial"""
    from functools import partial

    return jax.jit(operation("x")(partial(jnp.dot, X))), (X,)


@case
def _generator() -> tuple[Callable, tuple]:
    """generator's body"""

    @operation("x")
    def rows(x: jax.Array) -> Any:
        for row in x:
            yield jnp.sin(row @ x)

    return jax.jit(lambda x: sum(rows(x))), (X,)


@case
def _vmap() -> tuple[Callable, tuple]:
    """vmap"""
    return jax.jit(jax.vmap(work)), (X[None],)


@case
def _grad() -> tuple[Callable, tuple]:
    """grad"""
    return jax.jit(jax.grad(total)), (X,)


@case
def _value_and_grad() -> tuple[Callable, tuple]:
    """value_and_grad"""
    return jax.jit(jax.value_and_grad(total)), (X,)


@case
def _vjp() -> tuple[Callable, tuple]:
    """vjp"""
    return jax.jit(lambda x: jax.vjp(work, x)[1](x)), (X,)


@case
def _jvp() -> tuple[Callable, tuple]:
    """jvp"""
    return jax.jit(lambda x: jax.jvp(work, (x,), (x,))), (X,)


@case
def _around_grad() -> tuple[Callable, tuple]:
    """around a call of grad"""
    return jax.jit(operation("x")(jax.grad(lambda x: jnp.sin(x @ x).sum()))), (X,)


@case
def _remat() -> tuple[Callable, tuple]:
    """grad of checkpoint"""
    return jax.jit(jax.grad(jax.checkpoint(total))), (X,)


@case
def _scan() -> tuple[Callable, tuple]:
    """scan"""
    return jax.jit(lambda x: jax.lax.scan(lambda c, _: (work(c), None), x, None, 3)[0]), (X,)


@case
def _grad_of_scan() -> tuple[Callable, tuple]:
    """grad of scan"""
    return jax.jit(jax.grad(lambda x: jax.lax.scan(lambda c, _: (work(c), None), x, None, 3)[0].sum())), (X,)


@case
def _while() -> tuple[Callable, tuple]:
    """while_loop"""
    return jax.jit(lambda x: jax.lax.while_loop(lambda c: c.sum() < 100, lambda c: work(c) + c, x)), (X,)


@case
def _cond() -> tuple[Callable, tuple]:
    """cond"""
    return jax.jit(lambda x: jax.lax.cond(x.sum() > 0, work, lambda x: x, x)), (X,)


@case
def _switch() -> tuple[Callable, tuple]:
    """switch"""
    branches = [lambda x: x, work, operation("y")(jnp.cos)]
    return jax.jit(lambda i, x: jax.lax.switch(i, branches, x)), (1, X)


@case
def _vjp_primal() -> tuple[Callable, tuple]:
    """custom_vjp, inside its primal"""
    function = jax.custom_vjp(lambda x: work(x))
    function.defvjp(lambda x: (work(x), x), lambda x, g: (g * jnp.cos(x),))
    return jax.jit(jax.value_and_grad(lambda x: function(x).sum())), (X,)


@case
def _vjp_rules() -> tuple[Callable, tuple]:
    """custom_vjp, inside its rules"""
    function = jax.custom_vjp(lambda x: jnp.sin(x))
    function.defvjp(lambda x: (work(x), x), operation("y")(lambda x, g: (g @ jnp.cos(x),)))
    return jax.jit(jax.value_and_grad(lambda x: function(x).sum())), (X,)


@case
def _vjp_around() -> tuple[Callable, tuple]:
    """custom_vjp, around it"""
    function = jax.custom_vjp(lambda x: jnp.sin(x))
    function.defvjp(lambda x: (jnp.sin(x @ x), x), lambda x, g: (g @ jnp.cos(x),))
    return jax.jit(jax.value_and_grad(lambda x: operation("x")(function)(x).sum())), (X,)


@case
def _custom_jvp() -> tuple[Callable, tuple]:
    """custom_jvp, around it"""
    function = jax.custom_jvp(lambda x: jnp.sin(x @ x))
    function.defjvp(lambda primals, tangents: (function(*primals), jnp.cos(primals[0]) @ tangents[0]))
    return jax.jit(jax.grad(lambda x: operation("x")(function)(x).sum())), (X,)


@case
def _pmap() -> tuple[Callable, tuple]:
    """pmap"""
    return jax.pmap(work), (X[None],)


@case
def _shard_map() -> tuple[Callable, tuple]:
    """shard_map"""
    mesh = Mesh(np.array(jax.devices()[:1]), ("i",))
    spec = PartitionSpec()
    return jax.jit(jax.shard_map(work, mesh=mesh, in_specs=spec, out_specs=spec)), (X,)


@case
def _io_callback() -> tuple[Callable, tuple]:
    """io_callback"""

    def function(x: jax.Array) -> jax.Array:
        with operation("x"):
            return io_callback(lambda x: x, x, x)

    return jax.jit(function), (X,)


@case
def _shared_jit() -> tuple[Callable, tuple]:
    """one inner jit under two operations"""
    inner = jax.jit(lambda x: jnp.sin(x @ x))

    def function(x: jax.Array) -> jax.Array:
        first = operation("x")(inner)(x)
        return operation("y")(inner)(first)

    return jax.jit(function), (X,)


@case
def _decorated_jit() -> tuple[Callable, tuple]:
    """above an inner jit"""
    return jax.jit(lambda x: operation("x")(jax.jit(lambda x: jnp.sin(x @ x)))(x)), (X,)
