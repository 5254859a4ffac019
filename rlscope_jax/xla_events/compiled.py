"""Hot loops, compiled by numba and kept on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

Function = Callable[..., Any]


def compiled(function: Function) -> Any:
    """Compile a function for numpy arrays; it runs without Python's lock.

    numba keeps the machine code beside the module, else in the user's cache directory. Where neither can
    be written (a read-only installation and no home) it compiles anew in every process.
    """
    return _compile(function)


def compiled_in_place(function: Function) -> Any:
    """The same for a function that only fills arrays given to it: it must not make or return any.

    Without arrays to keep alive numba need not count references, which it otherwise does at every call
    within the loop: decoding events takes half the time.
    """
    return _compile(function, _nrt=False)


def inlined(function: Function) -> Any:
    """The same for a small function called from such a loop: it becomes part of the loop."""
    return _compile(function, _nrt=False, forceinline=True)


def skip_linear_algebra() -> None:
    """Spare this process numba's import of SciPy, a third of what numba costs to start.

    numba imports scipy.linalg to compile matrix products, and we have none. Only for a process that is
    ours alone. `ensure_blas` is private to numba (as of 0.60 to 0.66): without it nothing is spared.
    """
    from numba.np import linalg

    def ensure_blas() -> None:
        raise ImportError("rlscope-jax needs no linear algebra")

    if hasattr(linalg, "ensure_blas"):
        linalg.ensure_blas = ensure_blas


def _compile(function: Function, **options: bool) -> Any:
    njit: Any = numba.njit  # `_nrt` is no declared option, only an accepted one
    try:
        return njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # "no locator available": nowhere to keep it
        return njit(nogil=True, **options)(function)
