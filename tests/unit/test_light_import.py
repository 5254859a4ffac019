"""A training process must not pay for what only readers need, nor readers for jax."""

import subprocess
import sys

import pytest

CHECK = "import sys; {code}; print([name for name in {heavy} if name in sys.modules])"


def loaded(code: str, heavy: tuple[str, ...]) -> str:
    run = subprocess.run(
        [sys.executable, "-c", CHECK.format(code=code, heavy=heavy)],
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    "code", ["import rlscope_jax", "from rlscope_jax import operation, profile, Schedule"]
)
def test_training_loads_no_reader(code):
    assert loaded(code, ("numba", "tensorboard", "xprof", "rich", "pyarrow")) == "[]"


def test_the_bare_package_loads_not_even_jax():
    assert loaded("import rlscope_jax", ("jax", "numpy")) == "[]"


def test_reading_a_profile_never_imports_jax():
    assert loaded("import rlscope_jax; rlscope_jax.load; rlscope_jax.sessions", ("jax", "jaxlib")) == "[]"


def test_tuning_loads_only_what_it_uses():
    heavy = ("jax", "halide", "optuna", "optax", "rlscope_jax.tune")
    assert loaded("import rlscope_jax", heavy) == "[]"
    assert (
        loaded("import rlscope_jax.tune, rlscope_jax.tune.searchers.random", heavy) == "['rlscope_jax.tune']"
    )


def test_reading_works_where_nothing_can_be_cached():
    code = (
        "from numba.core.caching import CompileResultCacheImpl as Impl; Impl._locator_classes = [];"
        "import numpy as np; from rlscope_jax.xla_events.nesting import nearest;"
        "print(nearest(np.array([-1, 0], np.int32), np.array([True, False])).tolist())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[0, 0]\n"
