"""What does a decorated call cost on the host while nobody records?

    python benchmarks/idle.py [--repeats 15]

A Python function that does nothing is called bare and in each decorated form, interleaved; prints what each
form adds to the bare call (the median of the repeats, in ns), and the same against the call of a small jitted
function. The last line checks that the optimized programs are equal but for metadata.
"""

import argparse
import re
import statistics
import timeit
from collections.abc import Callable

import jax
import jax.numpy as jnp

from rlscope_jax import operation

CALLS = 20_000
LOSS = operation("loss")


def nothing(x: object) -> object:
    """A call, and no more."""
    return x


def with_block(x: object) -> object:
    """An operation made once, entered each time."""
    with LOSS:
        return x


def with_new_block(x: object) -> object:
    """An operation made and entered each time."""
    with operation("loss"):
        return x


def main() -> None:
    """Time every form in turn, print what each adds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats
    step = jax.jit(lambda x: x + 1)
    x = jnp.ones(4)
    forms: dict[str, tuple[Callable, object]] = {
        "bare function": (nothing, x),
        "decorated function": (operation("loss")(nothing), x),
        "with block": (with_block, x),
        "with block, made anew": (with_new_block, x),
        "jitted function": (step, x),
        "decorated jitted function": (operation("step")(step), x),
    }
    times: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(repeats):
        for name, (function, argument) in forms.items():
            seconds = timeit.timeit(lambda f=function, a=argument: f(a), number=CALLS)  # type: ignore[misc]
            times[name].append(seconds / CALLS * 1e9)
    bare = times["bare function"]
    jitted = times["jitted function"]
    for name, values in times.items():
        base = jitted if "jitted" in name else bare
        added = statistics.median(value - other for value, other in zip(values, base, strict=True))
        print(f"{name:27} {statistics.median(values):8.0f} ns a call   {added:+8.0f} ns")
    print("optimized programs", "equal but for metadata" if equal_programs(x) else "DIFFER")


def equal_programs(x: jax.Array) -> bool:
    """Whether a decorated function compiles to the same program as the bare one."""

    def program(function: Callable) -> str:
        text = jax.jit(jax.grad(lambda x: function(x).sum())).lower(x).compile().as_text()
        return re.sub(r", metadata=\{[^}]*\}", "", text).split("\n\nFileNames")[0]

    return program(jnp.tanh) == program(operation("tanh")(jnp.tanh))


if __name__ == "__main__":
    main()
