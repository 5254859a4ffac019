"""operation(): one name for a piece of the algorithm, on the host and in the compiled program."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from rlscope_jax import _jax
from rlscope_jax.names import check_name, encode

F = TypeVar("F", bound=Callable[..., Any])


class operation:
    """Name an operation of the RL algorithm: `@operation("env_step")` or `with operation("rollout"):`.

    Inside traced code (under `jax.jit`, `grad`, `scan`, ...) it is a `jax.named_scope`, so the compiled
    instructions carry the name; on the host it is a trace annotation, so the time spent calling does.
    Nested operations give paths (`rollout/env_step`); `operation("update/loss")` is `loss` in `update`.

    It may stand above or below `jax.jit`. While nothing is recorded a decorated call costs about a
    microsecond on the host and nothing on the device: the compiled program differs only in metadata.

    Args:
        name: path segments joined by `/`; letters, digits, `_ . + -` and single spaces.

    Raises:
        TypeError, ValueError: `name` cannot be an operation's name.
    """

    __slots__ = ("_open", "_text", "name")

    def __init__(self, name: str) -> None:
        self.name = check_name(name)
        self._text = encode(name)
        self._open: dict[int, list[Any]] = {}  # one object may be entered by several threads, and re-entered

    def __enter__(self) -> operation:
        self._open.setdefault(threading.get_ident(), []).append(_enter(self._text))
        return self

    def __exit__(self, *exception: Any) -> None:
        self._open[threading.get_ident()].pop().__exit__(*exception)

    def __call__(self, function: F) -> F:
        """Return `function` running inside this operation; its own attributes stay reachable."""
        text = self._text

        @functools.wraps(function, updated=())
        def annotated(*args: Any, **kwargs: Any) -> Any:
            scope = _enter(text)
            try:
                return function(*args, **kwargs)
            finally:
                scope.__exit__(None, None, None)

        # A jitted function's `lower` or a custom_vjp's `defvjp` live on its class. Its private attributes
        # stay behind: with them jax.jit would look through this wrapper and skip the scope.
        for attribute in dir(function):
            if attribute == "_cache_size" or not (attribute.startswith("_") or hasattr(annotated, attribute)):
                setattr(annotated, attribute, getattr(function, attribute))
        return annotated  # type: ignore[return-value]

    def __repr__(self) -> str:
        return f"operation({self.name!r})"


def _enter(text: str) -> Any:
    scope = _jax.named_scope(text) if _jax.is_tracing() else _jax.TraceMe(text)
    scope.__enter__()
    return scope
