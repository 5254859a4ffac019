"""The table of docs/annotate.md is what this jax does: each transform is compiled, run and read."""

import asyncio
import re
import runpy
import threading
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import transforms
from rlscope_jax import operation, profile
from rlscope_jax.names import parse_op_name
from transforms import X

ROOT = Path(__file__).resolve().parents[2]
TABLE = runpy.run_path(str(ROOT / "docs" / "transforms_table.py"))["read"]()
COLUMN = TABLE.get(jax.__version__) or list(TABLE.values())[-1]


def test_the_table_has_every_transform():
    assert all(list(column) == list(transforms.CASES) for column in TABLE.values())


@pytest.mark.parametrize("name", transforms.CASES)
def test_a_transform_does_what_the_table_says(name):
    assert transforms.found(name) == COLUMN[name]


@pytest.fixture(scope="module")
def host_rows(tmp_path_factory):
    """The rows of one window in which operations were entered in every way the host knows."""
    x = jnp.ones((4, 4))
    step = jax.jit(lambda x: x @ x)
    step(x)

    @operation("coroutine")
    async def coroutine():
        await asyncio.sleep(0)
        return step(x)

    async def gather():
        await asyncio.gather(coroutine(), coroutine())

    @operation("generator")
    def generator():
        yield step(x)

    def in_thread():
        with operation("thread"):
            step(x).block_until_ready()

    with profile(tmp_path_factory.mktemp("host")) as profiler:
        operation("above jit")(step)(x)
        operation("eager grad")(jax.grad(lambda x: step(x).sum()))(x)
        asyncio.run(gather())
        list(generator())
        thread = threading.Thread(target=in_thread)
        with operation("main"):
            thread.start()
            thread.join()
        with jax.disable_jit(), operation("disabled jit"):
            step(x)
        profiler.step()
    return {row["path"]: row for row in profiler.report().to_dict()["operations"]}


@pytest.mark.parametrize(
    ("path", "dispatches"),
    [("above jit", 1), ("coroutine", 2), ("generator", 1), ("thread", 1), ("main", 0), ("disabled jit", 1)],
)
def test_on_the_host_it_is_charged_with_its_calls(host_rows, path, dispatches):
    assert host_rows[path]["host"]["dispatches"] == dispatches


def test_a_gradient_without_jit_is_charged_with_its_calls(host_rows):
    assert host_rows["eager grad"]["host"]["dispatches"] > 1


def instructions(function, *arguments):
    """(instruction, opcode, operation) of the optimized program, where an operation is known."""
    text = jax.jit(function).lower(*arguments).compile().as_text()
    found = re.findall(r"%?(\S+) = \S+ ([\w-]+)\(.*op_name=\"([^\"]+)\"", text)
    return [(name, opcode, parse_op_name(op_name).path) for name, opcode, op_name in found]


def named(function, *arguments):
    return {path for _, _, path in instructions(function, *arguments) if path}


def test_common_work_goes_to_the_first():
    def function(x):
        with operation("first"):
            y = jnp.sin(x @ x)
        with operation("second"):
            return y, jnp.sin(x @ x)

    assert named(function, X) == {"first"}


def test_a_reduction_keeps_its_name_inside():
    text = jax.jit(operation("norm")(lambda x: x.sum(0))).lower(X).compile().as_text()
    bodies = re.findall(r" add\(.*op_name=\"([^\"]+)\"", text)
    assert bodies
    assert {parse_op_name(op_name).path for op_name in bodies} == {"norm"}


def test_a_fusion_has_the_name_of_its_root():
    def function(x):
        with operation("inner"):
            y = jnp.sin(x)
        with operation("root"):
            return jnp.cos(y)

    found = instructions(function, X)
    assert {path for _, opcode, path in found if opcode == "fusion"} == {"root"}
    assert {path for _, opcode, path in found if opcode in ("sine", "cosine")} == {"inner", "root"}


def test_the_rules_of_a_custom_vjp_replace_its_primal_function():
    function = jax.custom_vjp(operation("primal")(jnp.sin))
    function.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (g * jnp.cos(x),))
    assert named(function, X) == {"primal"}
    assert named(jax.value_and_grad(lambda x: function(x).sum()), X) == set()
    around = jax.value_and_grad(lambda x: operation("around")(function)(x).sum())
    assert named(around, X) == {"around"}
