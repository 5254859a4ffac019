"""Hot loops, compiled by numba and kept on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function for numpy arrays; it runs without Python's lock.

    numba keeps the machine code beside the module, else in the user's cache directory. Where neither can
    be written (a read-only installation and no home) it compiles anew in every process.
    """
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # "no locator available": nowhere to keep it
        return numba.njit(nogil=True)(function)
