"""Hot loops, compiled by numba and kept on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
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


def cache_directory(function: Any) -> Path | None:
    """Where numba keeps the machine code of a compiled function; None where it keeps none."""
    kept = getattr(getattr(function, "stats", None), "cache_path", None)
    return Path(kept) if kept else None


def _compile(function: Function, **options: bool) -> Any:
    njit: Any = numba.njit  # `_nrt` is no declared option, only an accepted one
    try:
        dispatcher = njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # "no locator available": nowhere to keep it
        return njit(nogil=True, **options)(function)
    _Cache.guard(dispatcher)
    return dispatcher


class _Cache:
    """numba's cache of one function, made safe.

    numba takes kept code for fresh while the function's own file is unchanged, though code from other files
    is inlined into it: here it must be of the same sources, all of them. And where a cache cannot be read or
    written (a full disk, a crash that left half a file) it is done without.

    `_cache` and what is in it is private to numba (tried with 0.60 and 0.68): without it this does nothing.
    """

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    @classmethod
    def guard(cls, dispatcher: Any) -> None:
        """Put one around a dispatcher's cache."""
        file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
        if hasattr(file, "_source_stamp"):
            file._source_stamp = (file._source_stamp, _sources())
            dispatcher._cache = cls(dispatcher._cache)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, *arguments: Any) -> Any:
        """The kept code, None if there is none to be had."""
        try:
            return self._cache.load_overload(*arguments)
        except Exception:
            return None

    def save_overload(self, *arguments: Any) -> None:
        """Keep compiled code, if that is possible."""
        with suppress(Exception):
            self._cache.save_overload(*arguments)


@cache
def _sources() -> str:
    """A digest of this package's sources."""
    digest = blake2b(digest_size=16)
    for path in sorted(Path(__file__).parents[1].glob("*/*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
