"""What is named in a library, and in which of its versions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import metadata
from inspect import isfunction
from typing import Any

Wrap = Callable[[Any, str], Any]


def call(original: Any, name: str) -> Any:
    """Run a function inside an operation."""
    from rlscope_jax.annotate._operation import operation

    if isfunction(original):
        return operation(name)(original)

    @functools.wraps(original, updated=())
    def plain(*arguments: Any, **more: Any) -> Any:  # a jitted method must still bind to its object
        return original(*arguments, **more)

    return operation(name)(plain)


@dataclass(frozen=True)
class Patch:
    """One attribute to replace: `module`, `attribute` (dotted below a class), the operation, and how."""

    module: str
    attribute: str
    name: str
    wrap: Wrap = call


@dataclass(frozen=True)
class Library:
    """A library whose parts are named from outside.

    `since` and `before` bound the versions whose attributes were looked at, as far as numbers go; in another
    version they are tried too, and what is not there is told.
    """

    name: str
    since: str
    before: str
    patches: tuple[Patch, ...]
    prepare: Callable[[], ExitStack] | None = None
    """Called once the library is loaded; what it returns undoes it."""

    @property
    def modules(self) -> frozenset[str]:
        """The modules that hold what is patched."""
        return frozenset(patch.module for patch in self.patches)

    def unfit_version(self) -> str | None:
        """The installed version, where it is none that was looked at."""
        try:
            version = metadata.version(self.name)
        except metadata.PackageNotFoundError:
            return None
        return None if _numbers(self.since) <= _numbers(version) < _numbers(self.before) else version


def _numbers(version: str) -> tuple[int, ...]:
    parts = []
    for part in version.split(".")[:3]:
        digits = "".join(character for character in part if character.isdigit())
        parts.append(int(digits or 0))
    return tuple(parts)
