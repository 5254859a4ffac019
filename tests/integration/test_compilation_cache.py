"""Names and the persistent compilation cache: kept inside profile(), and their loss outside it is said."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from rlscope_jax import _jax, load, profile
from rlscope_jax.annotate import _traced

REPOSITORY = Path(__file__).resolve().parents[2]

PROGRAM = """
import sys
import jax, jax.numpy as jnp
from rlscope_jax import operation, profile

logdir, name, compile_first = sys.argv[1:]
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)

@jax.jit
def train_step(x):
    with operation(name):
        return jnp.tanh(x @ x)

x = jnp.ones((8, 8))
if compile_first == "yes":
    x = train_step(x)
with profile(logdir) as profiler:
    profiler.step(train_step(x))
"""


def run(tmp_path, name, compile_first):
    """The report of a fresh process that names its one operation `name`; its cache is kept between runs."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY),
        "JAX_PLATFORMS": "cpu",
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache"),
    }
    logdir = tmp_path / f"{name}_{compile_first}"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, logdir, name, compile_first],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return load(logdir)


def codes(report):
    return [problem["code"] for problem in report.to_dict()["health"]["problems"]]


def paths(report):
    return {row["path"] for row in report.to_dict()["operations"]}


def test_a_warm_cache(tmp_path):
    assert codes(run(tmp_path, "before", "yes")) == []  # fills the cache
    stale = run(tmp_path, "after", "yes")  # the same program under another name
    [problem] = [problem for problem in stale.problems if problem.code == "stale_names"]
    assert "(train_step): after" in problem.message
    assert "after" not in paths(stale)
    fresh = run(tmp_path, "after", "no")  # compiled inside the block
    assert codes(fresh) == []
    assert "after" in paths(fresh)


def test_a_program_from_the_cache_is_placed(tmp_path):
    run(tmp_path, "same", "yes")
    report = run(tmp_path, "same", "yes")
    assert "same" in paths(report)
    assert codes(report) == []


def test_the_sidecar_holds_the_names(tmp_path):
    from rlscope_jax import operation

    def named_for_the_sidecar(x):
        with operation("update"), operation("a/b"):
            return x + 1

    with profile(tmp_path) as profiler:
        profiler.step(jax.jit(named_for_the_sidecar)(1.0))
    sidecar = json.loads(next(tmp_path.glob("plugins/rlscope/*.json")).read_text())
    assert sidecar["names"]["traced"]["named_for_the_sidecar"] == ["a/b", "update"]


def test_what_is_compiled_already_is_not_compiled_again(tmp_path):
    step = jax.jit(lambda x: x * 3)
    step(jnp.ones(3))
    before = _traced.compiles
    with profile(tmp_path) as profiler:
        profiler.step(step(jnp.ones(3)))
    step(jnp.ones(3))
    assert _traced.compiles == before


@pytest.mark.parametrize("users", [False, True])
def test_the_setting_is_the_users_again_afterwards(tmp_path, users):
    option = "jax_compilation_cache_include_metadata_in_key"
    previous = _jax.cache_keeps_names()
    jax.config.update(option, users)
    try:
        first, second = profile(tmp_path / "a"), _jax.names_in_cache_key()
        first.__enter__()
        second.__enter__()
        assert _jax.cache_keeps_names()
        first.__exit__(None, None, None)  # not in the order of entering: another thread's, say
        assert _jax.cache_keeps_names()
        second.__exit__(None, None, None)
        assert _jax.cache_keeps_names() is users
    finally:
        jax.config.update(option, previous)
