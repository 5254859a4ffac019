"""What a function is, as text that is the same in every process: by it a record of trials knows it again."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from functools import partial
from types import CellType, ModuleType
from typing import Any

ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def source_of(value: Any) -> str:
    """A function's source, and what it is bound to: by `functools.partial`, a closure, defaults, its object.

    Functions among those count by their source too, arrays by shape and type, anything else by its repr
    without addresses. What a function reads from its module is not in it.
    """
    return _text(value, set())


def _text(value: Any, seen: set[int]) -> str:
    def all_of(values: Iterable[Any]) -> str:
        return f"({', '.join(_text(one, seen) for one in values)})"

    if isinstance(value, partial):
        return f"{_text(value.func, seen)} {all_of(value.args)} {all_of(sorted(value.keywords.items()))}"
    if isinstance(value, (tuple, list)):
        return all_of(value)
    if isinstance(value, (set, frozenset)):
        return all_of(sorted(value, key=repr))
    if isinstance(value, Mapping):
        return all_of(value.items())
    if isinstance(value, (type, ModuleType)):
        return getattr(value, "__qualname__", value.__name__)
    if inspect.ismethod(value):
        return f"{_text(value.__self__, seen)}.{_text(value.__func__, seen)}"
    if getattr(value, "shape", ()) and hasattr(value, "dtype"):
        return f"{value.dtype}{value.shape}"
    value = inspect.unwrap(value)
    if inspect.isfunction(value):
        if id(value) in seen:
            return value.__qualname__
        seen.add(id(value))
        bound = [*map(_content, value.__closure__ or ()), value.__defaults__, value.__kwdefaults__]
        return f"{_source(value)}{all_of(one for one in bound if one is not None)}"
    if (
        type(value).__repr__ is object.__repr__
    ):  # which names the module: `__main__`, or what it is imported as
        name = type(value).__qualname__
        if id(value) in seen:
            return name
        seen.add(id(value))
        return f"{name}{all_of(sorted(getattr(value, '__dict__', {}).items()))}"
    return ADDRESS.sub("", repr(value))


def _source(function: Any) -> str:
    try:
        return inspect.getsource(function)
    except Exception:  # there is none, or the file has changed
        return function.__qualname__


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None
