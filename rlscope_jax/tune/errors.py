"""What tuning raises on purpose."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rlscope_jax.errors import RlscopeError


class TuneError(RlscopeError):
    """A tuning task, table or database is not what it should be."""


class MissingPackageError(TuneError):
    """An optional package is not installed; the message names the extra that brings it."""


def need(module: str, extra: str) -> Any:
    """Import a module of an optional package.

    Raises:
        MissingPackageError: it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingPackageError(
            f"{module} is not installed (pip install 'rlscope-jax[{extra}]'): {error}"
        ) from error
