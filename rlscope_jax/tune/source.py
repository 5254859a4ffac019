"""What a function is, as text that is the same in every process: by it a record of trials knows it again."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from functools import partial
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def source_of(value: Any) -> str:
    """A function's source with all it depends on: what it is bound to by `functools.partial`, a closure,
    defaults or its object, and the functions of its own module that it names.

    Functions among those count by their source too, arrays by shape and type, anything else by its repr
    without addresses. What it uses of other modules is not in it.
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
        name, head, parts = value.__qualname__, _source(value), _depends_on(value)
    elif type(value).__repr__ is object.__repr__:  # it names the module, which may be `__main__` elsewhere
        name = head = type(value).__qualname__
        parts = [type(value).__call__ if callable(value) else None, getattr(value, "__dict__", None)]
    else:
        return ADDRESS.sub("", repr(value))
    if id(value) in seen:
        return name
    seen.add(id(value))
    return f"{head}{all_of(part for part in parts if part is not None)}"


def _source(function: FunctionType) -> str:
    try:
        return inspect.getsource(function)
    except Exception:  # there is none, or the file has changed
        return function.__qualname__


def _depends_on(function: FunctionType) -> list[Any]:
    """What a closure and defaults hold, and the callables of the function's own module that it names."""
    used = [function.__globals__.get(name) for name in _names(function.__code__)]
    mine = [one for one in used if callable(one) and getattr(one, "__module__", None) == function.__module__]
    return [*map(_content, function.__closure__ or ()), function.__defaults__, function.__kwdefaults__, *mine]


def _names(code: CodeType) -> list[str]:
    """All names that a function's code, and that of functions in it, looks up."""
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return list(dict.fromkeys([*code.co_names, *(name for names in inner for name in names)]))


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None
