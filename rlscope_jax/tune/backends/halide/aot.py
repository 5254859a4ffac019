"""Halide pipelines compiled ahead of time: object files, one runtime for all of them, shared libraries."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from rlscope_jax.tune.backends.halide.kernel import Pipeline, load_halide
from rlscope_jax.tune.errors import TuneError


class NoCompilerError(TuneError):
    """There is no C++ compiler to link with."""


def cache_folder() -> Path:
    """Where compiled kernels are kept."""
    return Path(platformdirs.user_cache_dir("rlscope-jax")) / "kernels"


def compiler() -> str:
    """The C++ compiler: `$CXX`, g++, c++ or clang++.

    Raises:
        NoCompilerError: none of them is there.
    """
    for name in (os.environ.get("CXX"), "g++", "c++", "clang++"):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise NoCompilerError(
        "a tuned Halide kernel needs a C++ compiler to become part of a jitted program, and none was found "
        "(on Debian or Ubuntu: apt install g++; or set CXX)"
    )


def compile_object(pipeline: Pipeline, name: str, path: Path) -> None:
    """Write an object file with the pipeline as a C function `name`, without the runtime."""
    target = load_halide().get_host_target().with_feature(load_halide().TargetFeature.NoRuntime)
    pipeline.output.compile_to_object(str(path), list(pipeline.inputs), name, target)


def compile_library(pipelines: Mapping[str, Pipeline], path: Path) -> None:
    """Write a shared library with each pipeline as a C function of its name."""
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for name, pipeline in pipelines.items():
            objects.append(Path(folder) / f"{name}.o")
            compile_object(pipeline, name, objects[-1])
        link(objects, path)


def link(objects: Sequence[Path | str], path: Path, *flags: str) -> None:
    """Link objects (or compile sources) into a shared library, which appears all at once.

    Raises:
        TuneError: the compiler refuses; its first lines are in the message.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}")
    run = subprocess.run(
        [compiler(), "-shared", "-fPIC", "-O2", "-o", draft, *flags, *objects], capture_output=True, text=True
    )
    if run.returncode:
        draft.unlink(missing_ok=True)
        raise TuneError(f"{compiler()} could not make {path.name}: {run.stderr.strip()[:400]}")
    draft.replace(path)


def runtime_object() -> Path:
    """Halide's runtime as an object file, made once."""
    hl = load_halide()
    target = hl.get_host_target()
    name = hashlib.sha256(f"{target} {hl.__file__} {os.path.getmtime(hl.__file__)}".encode()).hexdigest()[:16]
    path = cache_folder() / f"runtime_{name}.o"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}.o")
        hl.compile_standalone_runtime(str(draft), target)
        draft.replace(path)
    return path


_runtime: ctypes.CDLL | None = None


def load_runtime() -> None:
    """Load Halide's runtime, once per process: all libraries of kernels share its threads."""
    global _runtime
    if _runtime is None:
        path = runtime_object().with_suffix(".so")
        if not path.exists():
            link([runtime_object()], path, "-ldl", "-lpthread")
        _runtime = ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)


class _Dimension(ctypes.Structure):
    _fields_ = (
        ("min", ctypes.c_int32),
        ("extent", ctypes.c_int32),
        ("stride", ctypes.c_int32),
        ("flags", ctypes.c_uint32),
    )


class _Buffer(ctypes.Structure):
    """halide_buffer_t, with its halide_type_t spelled out."""

    _fields_ = (
        ("device", ctypes.c_uint64),
        ("device_interface", ctypes.c_void_p),
        ("host", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("dimensions", ctypes.c_int32),
        ("dim", ctypes.POINTER(_Dimension)),
        ("padding", ctypes.c_void_p),
    )


def _buffer(array: np.ndarray) -> _Buffer:
    dims = (_Dimension * array.ndim)(
        *(  # type: ignore[misc]
            (0, size, stride // 4, 0)
            for size, stride in zip(array.shape[::-1], array.strides[::-1], strict=True)
        )
    )
    return _Buffer(0, None, array.ctypes.data, 0, 2, 32, 1, array.ndim, dims, None)


class Library:
    """A shared library of pipelines, loaded."""

    def __init__(self, path: Path) -> None:
        load_runtime()
        self._library = ctypes.CDLL(str(path))

    def kernel(self, name: str, shape: Sequence[int]) -> Any:
        """A function of float32 arrays; it returns an array of `shape`, always the same one."""
        function = getattr(self._library, name)
        result = np.full(shape, np.nan, np.float32)
        bound: tuple[Any, ...] = ()
        pointers: list[Any] = []
        keep: list[Any] = []

        def call(*args: Any) -> np.ndarray:
            nonlocal bound
            if len(args) != len(bound) or any(a is not b for a, b in zip(args, bound, strict=True)):
                keep[:] = [np.ascontiguousarray(arg, np.float32) for arg in args]
                pointers[:] = [ctypes.byref(_buffer(array)) for array in (*keep, result)]
                bound = args
            code = function(*pointers)
            if code:
                raise TuneError(f"Halide kernel {name} failed with code {code}")
            return result

        return call
