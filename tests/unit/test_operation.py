"""operation(): the names it leaves in compiled programs, and what it leaves alone."""

import asyncio
import functools
import inspect
import sys
import threading

import jax
import jax.numpy as jnp
import pytest

from rlscope_jax import operation
from rlscope_jax.names import parse_op_name


def placed(function, *arguments):
    """{(path, direction)} of every marked instruction of the compiled program."""
    text = jax.jit(function).lower(*arguments).compile().as_text()
    names = [piece.split('"')[0] for piece in text.split('op_name="')[1:]]
    return {(name.path, name.direction) for name in map(parse_op_name, names) if name.marked}


X = jnp.ones((8, 8))


@operation("work")
def work(x):
    return jnp.tanh(x @ x).sum()


def scanned(x):
    return jax.lax.scan(lambda carry, _: (operation("body")(jnp.sin)(carry), None), x, None, length=3)[
        0
    ].sum()


def branched(x):
    return jax.lax.cond(x.sum() > 0, operation("yes")(jnp.sin), operation("no")(jnp.cos), x).sum()


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (work, {("work", None)}),
        (jax.vmap(operation("row")(jnp.sin)), {("row", None)}),
        (jax.grad(work), {("work", "forward"), ("work", "backward")}),
        (scanned, {("body", None)}),
        (jax.grad(scanned), {("body", "forward"), ("body", "backward")}),
        (jax.grad(jax.checkpoint(scanned)), {("body", "recompute"), ("body", "backward")}),
        (branched, {("yes", None), ("no", None)}),
        (operation("outer")(lambda x: work(x)), {("outer/work", None)}),
        (operation("a/b")(jnp.sin), {("a/b", None)}),
        (jax.jit(work), {("work", None)}),
    ],
)
def test_names_survive_transforms(function, expected):
    assert placed(function, X) == expected


def test_as_a_context_manager_it_nests():
    def function(x):
        with operation("update"), operation("loss"):
            return jnp.sin(x)

    assert placed(function, X) == {("update/loss", None)}


def test_the_program_differs_only_in_metadata():
    import re

    def plain(x):
        return jnp.tanh(x @ x).sum()

    def compiled(function):
        function.__name__ = "same"
        text = jax.jit(jax.grad(function)).lower(X).compile().as_text()
        return re.sub(r", metadata=\{[^}]*\}", "", text).split("\n\nFileNames")[0]

    assert compiled(operation("work")(plain)) == compiled(plain)


def test_above_jit_it_forwards_what_jit_offers():
    decorated = operation("step")(jax.jit(lambda x: x + 1))
    assert decorated(1) == 2
    assert "HloModule" in decorated.lower(1.0).compile().as_text()
    assert decorated._cache_size() == 1
    decorated.clear_cache()


def test_it_keeps_name_docstring_and_signature():
    @operation("step")
    def train_step(state: int, *, lr: float = 0.1) -> int:
        """Do a step."""
        return state

    assert (train_step.__name__, train_step.__doc__) == ("train_step", "Do a step.")
    assert list(inspect.signature(train_step).parameters) == ["state", "lr"]


def test_static_arguments_by_name_reach_the_function():
    @jax.jit
    @operation("outer")
    def outer(x):
        return x * 2

    stepped = jax.jit(operation("pick")(lambda x, n: x[:n]), static_argnames="n")
    assert stepped(X, n=3).shape == (3, 8)
    assert outer(2) == 4


def test_methods_and_exceptions():
    class Agent:
        @operation("act")
        def act(self, x):
            if x < 0:
                raise ValueError("negative")
            return x

    assert Agent().act(1) == 1
    with pytest.raises(ValueError, match="negative"):
        Agent().act(-1)


def test_one_object_serves_many_threads_and_nests_in_itself():
    shared = operation("shared")
    errors = []

    def enter():
        try:
            for _ in range(200):
                with shared, shared:
                    pass
        except Exception as error:  # pragma: no cover - the failure this test looks for
            errors.append(error)

    threads = [threading.Thread(target=enter) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_jit_above_a_decorated_jit_lowers_the_decorated_function():
    double = jax.jit(operation("double")(jax.jit(lambda x: x * 2)))
    assert "rls=double" in double.lower(X).compile().as_text()


def test_static_and_class_methods():
    class Agent:
        @operation("make")
        @staticmethod
        def make(x):
            return x + 1

        @operation("build")
        @classmethod
        def build(cls, x):
            return cls, x

    assert Agent.make(1) == 2
    assert Agent.build(3) == (Agent, 3)


def test_custom_vjp_keeps_its_rules():
    @operation("square")
    @jax.custom_vjp
    def square(x):
        return x * x

    square.defvjp(lambda x: (x * x, x), lambda x, g: (3 * x * g,))  # a wrong rule, to see that it is used
    assert jax.grad(square)(2.0) == 6.0


def test_what_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="cannot be called"):
        operation("x")(3)


def test_coroutines_and_generators_stay_what_they_are():
    @operation("ask")
    async def ask(x):
        await asyncio.sleep(0)
        return x + 1

    @operation("count")
    def count(n):
        for i in range(n):
            got = yield i
            if got:
                return got
        return "end"

    assert inspect.iscoroutinefunction(ask)
    assert inspect.isgeneratorfunction(count)
    assert asyncio.run(ask(1)) == 2
    assert list(count(3)) == [0, 1, 2]
    generator = count(3)
    next(generator)
    with pytest.raises(StopIteration, match="stop"):
        generator.send("stop")


def test_an_exception_reaches_into_a_suspended_body():
    @operation("guard")
    def guard():
        try:
            yield 1
        except KeyError:
            yield 2

    generator = guard()
    next(generator)
    assert generator.throw(KeyError) == 2
    generator.close()


@pytest.mark.parametrize("thing", [int, type("Env", (), {})])
def test_a_class_is_refused(thing):
    with pytest.raises(TypeError, match="would replace the class"):
        operation("env")(thing)


def test_a_module_with_parameters_is_refused():
    @jax.tree_util.register_pytree_node_class
    class Linear:
        def __init__(self, weight):
            self.weight = weight

        def __call__(self, x):
            return x @ self.weight

        def tree_flatten(self):
            return (self.weight,), None

        @classmethod
        def tree_unflatten(cls, _, children):
            return cls(*children)

    with pytest.raises(TypeError, match="would hide the parameters of Linear"):
        operation("policy")(Linear(X))


def test_a_jitted_method_binds_self():
    class Agent:
        double = operation("double")(jax.jit(lambda self, x: 2 * x, static_argnums=0))

    assert Agent().double(4) == 8


def test_a_partial_binds_self_only_where_python_says_so():
    class Agent:
        tell = operation("tell")(functools.partial(lambda *seen: len(seen), "first"))

    assert Agent().tell("second") == (3 if sys.version_info >= (3, 14) else 2)
