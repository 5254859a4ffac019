"""operation(): one name for a piece of the algorithm, on the host and in the compiled program."""

from __future__ import annotations

import functools
import inspect
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
        """Return `function` running inside this operation; its own attributes stay reachable.

        Raises:
            TypeError: `function` cannot be called.
        """
        if isinstance(function, staticmethod | classmethod):
            return type(function)(self(function.__func__))  # type: ignore[return-value]
        if not callable(function):
            raise TypeError(f"operation({self.name!r}) decorates functions; {function!r} cannot be called")
        if not inspect.isfunction(function):
            return _AnnotatedCallable(function, self._text)  # type: ignore[return-value]
        text = self._text

        @functools.wraps(function)
        def annotated(*args: Any, **kwargs: Any) -> Any:
            scope = _enter(text)
            try:
                return function(*args, **kwargs)
            finally:
                scope.__exit__(None, None, None)

        return annotated  # type: ignore[return-value]

    def __repr__(self) -> str:
        return f"operation({self.name!r})"


class _AnnotatedCallable:
    """A callable that is no plain function (jitted, custom_vjp, partial, ...), inside an operation.

    What it offers (`lower`, `defvjp`, ...) is looked up on it, not copied: jax.jit copies the instance
    dictionary of what it wraps, and would then answer `lower` for the inner function.
    """

    def __init__(self, function: Any, text: str) -> None:
        functools.update_wrapper(self, function, updated=())
        self._rlscope_text = text

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        scope = _enter(self._rlscope_text)
        try:
            return self.__wrapped__(*args, **kwargs)
        finally:
            scope.__exit__(None, None, None)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __getattr__(self, name: str) -> Any:
        if name == "__wrapped__":  # not set yet: copy and pickle ask before __init__ has run
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)

    def __repr__(self) -> str:
        return f"<operation {self._rlscope_text} of {self.__wrapped__!r}>"


def _enter(text: str) -> Any:
    scope = _jax.named_scope(text) if _jax.is_tracing() else _jax.TraceMe(text)
    scope.__enter__()
    return scope
