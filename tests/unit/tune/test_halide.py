"""Halide's schedules compute what XLA does, in memory and inside jit; without tools the reference is used."""

import shutil
from itertools import islice

import jax
import numpy as np
import pytest

from rlscope_jax.tune import errors
from rlscope_jax.tune.backends.halide import aot, conv, matmul
from rlscope_jax.tune.backends.halide.tasks import conv_task, matmul_task
from rlscope_jax.tune.use import function_for

SMALL_CONV = conv.Conv(batch=2, size=12, channels=4, kernel=4, filters=16, stride=2)
SMALL_MATMUL = matmul.Matmul(rows=32, inner=16, columns=32, bias_relu=True)


@pytest.fixture
def halide():
    return pytest.importorskip("halide", reason="the extra `halide` is not installed")


def task_of(kind):
    return conv_task("conv", SMALL_CONV) if kind == "conv" else matmul_task("dense", SMALL_MATMUL)


@pytest.mark.parametrize("kind", ["conv", "dense"])
def test_spaces_need_no_halide_and_are_large(kind):
    task = task_of(kind)
    assert len(task.sketches) == 4
    for name in task.sketches:
        assert sum(1 for _ in islice(task.space.every(name), 300)) > 200
        assert len(task.space.params(name)) in (7, 8)


@pytest.mark.parametrize("kind", ["conv", "dense"])
@pytest.mark.parametrize("seed", [0, 1])
def test_random_schedules_are_right(halide, kind, seed):
    task, rng = task_of(kind), np.random.default_rng(seed)
    args = jax.device_put(task.args)  # read-only to NumPy
    for name in task.sketches:
        point = task.space.sample(rng, name)
        kernel = task.build(point)
        assert task.check(kernel(*args)) is None, (name, task.space.values(point))
        twice = (np.asarray(args[0]) * 2, *args[1:])
        np.testing.assert_allclose(kernel(*twice), task.reference(*twice), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["conv", "dense"])
def test_a_kernel_becomes_part_of_a_jitted_program(halide, kind):
    if shutil.which("g++") is None:
        pytest.skip("there is no g++")
    task = task_of(kind)
    point = task.space.sample(np.random.default_rng(2), next(iter(task.sketches)))
    tuned = function_for(task, point)
    program = jax.jit(lambda *args: tuned(*args) + 1)
    assert "rlscope_tuned_" in program.lower(*task.args).as_text()
    assert task.check(program(*task.args) - 1) is None
    rows = jax.vmap(tuned, in_axes=(0, *[None] * (len(task.args) - 1)))(
        np.stack([task.args[0], task.args[0]]), *task.args[1:]
    )
    assert task.check(rows[1]) is None
    with pytest.raises(TypeError, match="was compiled for arguments of shapes"):
        tuned(task.args[0][:1], *task.args[1:])
    compiled = len(list(aot.cache_folder().glob("kernel_*.so")))
    function_for(task, point)
    assert len(list(aot.cache_folder().glob("kernel_*.so"))) == compiled  # found on disk


def test_without_a_compiler_the_reference_is_used(halide, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(aot, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr("rlscope_jax.tune.backends.halide.ffi.cache_folder", lambda: tmp_path)
    task = task_of("dense")
    with pytest.warns(RuntimeWarning, match=r"the reference is used: .*C\+\+ compiler.*apt install g\+\+"):
        function = function_for(task, next(task.space.every()))
    assert function is task.reference


def test_without_halide_the_reference_is_used(monkeypatch):
    def missing(name):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(errors, "import_module", missing)
    task = task_of("conv")
    with pytest.warns(
        RuntimeWarning, match=r"halide is not installed \(pip install 'rlscope-jax\[halide\]'\)"
    ):
        function = function_for(task, next(task.space.every()))
    assert function is task.reference
    assert function_for(task, None) is task.reference
