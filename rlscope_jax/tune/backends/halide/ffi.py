"""A Halide pipeline as a function for use inside `jax.jit`: compiled ahead of time, called by XLA itself.

The pipeline becomes an object file; with a handler of XLA's foreign function interface, a shared library; and
that, through `jax.ffi.ffi_call`, an operation of a program. It is kept on disk under a name that holds the
source, the machine and the jaxlib it was made for.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jaxlib
import numpy as np

from rlscope_jax.tune.backends.halide.aot import cache_folder, compile_object, link, runtime_object
from rlscope_jax.tune.backends.halide.kernel import Pipeline, load_halide
from rlscope_jax.tune.database import processor

HANDLER = r"""
#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include "HalideRuntime.h"
#include "xla/ffi/api/ffi.h"
namespace ffi = xla::ffi;
extern "C" int kernel(@KERNEL_ARGS@);

// Halide's own threads would compete with XLA's, which spin for a while after an operation. So XLA's do the
// work: what is defined here takes the place of the runtime's (weak) function of the same name.
static thread_local ffi::ThreadPool* pool = nullptr;  // null on XLA's threads: inner loops are sequential

struct Loop {
  halide_task_t task;
  uint8_t* closure;
  int end;
  std::atomic<int> next, left, failed;
  void work(void* context) {  // by any number of threads; a late one finds nothing to do
    for (int i; (i = next.fetch_add(1)) < end;) {
      if (int code = task(context, i, closure)) failed = code;
      left.fetch_sub(1);
    }
  }
};

extern "C" int halide_do_par_for(void* context, halide_task_t task, int min, int size, uint8_t* closure) {
  auto loop = std::make_shared<Loop>();
  loop->task = task, loop->closure = closure, loop->end = min + size;
  loop->next = min, loop->left = size, loop->failed = 0;
  ffi::ThreadPool* mine = pool;
  int helpers = mine ? std::min<int>(size, mine->num_threads()) - 1 : 0;
  for (int n = 0; n < helpers; ++n) mine->Schedule([loop, context] { loop->work(context); });
  pool = nullptr;
  loop->work(context);
  pool = mine;
  while (loop->left.load() > 0) std::this_thread::yield();
  return loop->failed;
}

struct View {  // an XLA buffer as Halide sees it: the fastest axis first
  halide_buffer_t buffer = {};
  halide_dimension_t dims[8];
  template <typename Buffer> explicit View(Buffer& from) {
    auto sizes = from.dimensions();
    int rank = static_cast<int>(sizes.size()), stride = 1;
    for (int axis = 0; axis < rank; ++axis) {
      int size = static_cast<int>(sizes[rank - 1 - axis]);
      dims[axis] = halide_dimension_t(0, size, stride);
      stride *= size;
    }
    buffer.host = reinterpret_cast<uint8_t*>(from.untyped_data());
    buffer.type = halide_type_t(halide_type_float, 32);
    buffer.dimensions = rank;
    buffer.dim = dims;
  }
};

static ffi::Error Run(ffi::ThreadPool threads, @RUN_ARGS@, ffi::ResultBuffer<ffi::F32> result) {
  @VIEWS@
  View out(*result);
  pool = &threads;
  int code = kernel(@CALL_ARGS@, &out.buffer);
  pool = nullptr;
  return code == 0 ? ffi::Error::Success()
                   : ffi::Error::Internal("Halide kernel failed with code " + std::to_string(code));
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(handler, Run,
    ffi::Ffi::Bind().Ctx<ffi::ThreadPool>()@BINDS@.Ret<ffi::Buffer<ffi::F32>>());
"""

_targets: set[str] = set()


def export(make: Callable[[], Pipeline], identity: str) -> Callable[..., jax.Array]:
    """The pipeline as a function of jax arrays, for use inside or outside `jax.jit`, on CPU.

    Args:
        make: makes the pipeline; its shape and those of its inputs are the only ones the function takes.
        identity: changes whenever the code or the schedule does.

    Raises:
        MissingPackageError, NoCompilerError: Halide is missing, or a C++ compiler.
    """
    pipeline = make()
    digest = _digest(identity)
    path = cache_folder() / f"kernel_{digest}.so"
    if not path.exists():
        _compile(pipeline, path)
    target = f"rlscope_tuned_{digest}"
    if target not in _targets:
        library = ctypes.CDLL(str(path))
        jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(library.handler), platform="cpu")
        _targets.add(target)
    call = jax.ffi.ffi_call(
        target, jax.ShapeDtypeStruct(pipeline.shape, np.float32), vmap_method="sequential"
    )
    shapes = [tuple(shape) for shape in pipeline.input_shapes]

    def tuned(*args: Any) -> jax.Array:
        found = [tuple(np.shape(arg)) for arg in args]
        if found != shapes:
            raise TypeError(f"this kernel was compiled for arguments of shapes {shapes}, not {found}")
        return call(*(jax.numpy.asarray(arg, np.float32) for arg in args))

    return tuned


def _digest(identity: str) -> str:
    halide = load_halide()
    parts = (
        identity,
        HANDLER,
        str(halide.get_host_target()),
        f"{os.path.getmtime(halide.__file__)}",
        jaxlib.__version__,
        processor(),
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


def _compile(pipeline: Pipeline, path: Path) -> None:
    names = [f"a{number}" for number in range(len(pipeline.inputs))]
    source = HANDLER
    for mark, text in {
        "KERNEL_ARGS": ", ".join(["halide_buffer_t*"] * (len(names) + 1)),
        "RUN_ARGS": ", ".join(f"ffi::Buffer<ffi::F32> {name}" for name in names),
        "VIEWS": " ".join(f"View v{name}({name});" for name in names),
        "CALL_ARGS": ", ".join(f"&v{name}.buffer" for name in names),
        "BINDS": ".Arg<ffi::Buffer<ffi::F32>>()" * len(names),
    }.items():
        source = source.replace(f"@{mark}@", text)
    headers = Path(load_halide().__file__).parent / "include"
    with tempfile.TemporaryDirectory() as folder:
        compile_object(pipeline, "kernel", Path(folder) / "kernel.o")
        handler = Path(folder) / "handler.cc"
        handler.write_text(source)
        link(
            [handler, Path(folder) / "kernel.o", runtime_object()],
            path,
            "-std=c++17",
            "-Wl,-Bsymbolic",
            f"-I{jax.ffi.include_dir()}",
            f"-I{headers}",
        )
