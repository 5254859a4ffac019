"""Some methods of an object inside operations, everything else left as it is."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

from rlscope_jax import _jax
from rlscope_jax.annotate._operation import operation


def with_operations(thing: Any, names: dict[str, str], advice: str) -> Any:
    """Return `thing` with the methods in `names` (method -> operation) annotated.

    A named tuple or dataclass that holds them as fields stays what it is; another object is stood for by
    one that forwards everything else.

    Raises:
        TypeError: none of the methods is there, or `thing` is a pytree of arrays: as an argument of a
            jitted function a stand-in for it would no longer be one.
    """
    there = {method: name for method, name in names.items() if callable(getattr(thing, method, None))}
    if not there or isinstance(thing, type):
        raise TypeError(f"{type(thing).__name__} has no {' or '.join(names)} to annotate; {advice}")
    if isinstance(thing, tuple) and hasattr(thing, "_replace"):
        return thing._replace(**_annotated(thing, there))
    if dataclasses.is_dataclass(thing) and there.keys() <= _fields(thing):
        return dataclasses.replace(thing, **_annotated(thing, there))  # type: ignore[type-var]
    if _jax.has_leaves(thing):
        raise TypeError(f"{type(thing).__name__} is a pytree, and its stand-in would not be; {advice}")
    return StandIn(thing, there)


def _fields(thing: Any) -> set[str]:
    return {field.name for field in dataclasses.fields(thing)} if dataclasses.is_dataclass(thing) else set()


def _annotated(thing: Any, names: dict[str, str]) -> dict[str, Any]:
    return {method: operation(name)(getattr(thing, method)) for method, name in names.items()}


class StandIn:
    """Stands for another object: some of its methods run inside operations, the rest is forwarded."""

    def __init__(self, wrapped: Any, names: dict[str, str]) -> None:
        object.__setattr__(self, "__wrapped__", wrapped)
        object.__setattr__(self, "_rlscope_names", names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)  # `__deepcopy__` and its like would give the object without names
        found = getattr(self.__wrapped__, name)
        if name in self._rlscope_names:
            found = operation(self._rlscope_names[name])(found)
            object.__setattr__(self, name, found)  # from now on it is found here at once
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__.pop(name, None)
        setattr(self.__wrapped__, name, value)

    def __delattr__(self, name: str) -> None:
        self.__dict__.pop(name, None)
        delattr(self.__wrapped__, name)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self.__wrapped__)  # so that isinstance() answers as before

    def __dir__(self) -> list[str]:
        return dir(self.__wrapped__)

    def __eq__(self, other: object) -> bool:
        if type(other) is not StandIn:
            return NotImplemented
        return self.__wrapped__ == other.__wrapped__ and self._rlscope_names == other._rlscope_names

    def __hash__(self) -> int:
        return hash((StandIn, self.__wrapped__))

    def __copy__(self) -> StandIn:
        return StandIn(copy.copy(self.__wrapped__), self._rlscope_names)

    def __reduce__(self) -> Any:
        return StandIn, (self.__wrapped__, self._rlscope_names)

    def __enter__(self) -> Any:
        self.__wrapped__.__enter__()
        return self

    def __exit__(self, *exception: Any) -> Any:
        return self.__wrapped__.__exit__(*exception)

    def __len__(self) -> int:
        return len(self.__wrapped__)

    def __bool__(self) -> bool:
        return bool(self.__wrapped__)

    def __iter__(self) -> Any:
        return iter(self.__wrapped__)

    def __contains__(self, item: Any) -> bool:
        return item in self.__wrapped__

    def __getitem__(self, key: Any) -> Any:
        return self.__wrapped__[key]

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __str__(self) -> str:
        return str(self.__wrapped__)
