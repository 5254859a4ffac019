"""operation(): one name for a piece of the algorithm, on the host and in the compiled program."""

from __future__ import annotations

import functools
import inspect
import sys
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
        _check_decorable(self.name, function)
        if inspect.iscoroutinefunction(function):
            return _annotated_coroutine(function, self._text)  # type: ignore[return-value]
        if inspect.isgeneratorfunction(function):
            return _annotated_generator(function, self._text)  # type: ignore[return-value]
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


def _check_decorable(name: str, function: Any) -> None:
    """Refuse what a wrapper would break: it would hide a module's parameters, or replace a class."""
    advice = f"decorate the method that does the work, or write `with operation({name!r}):` around the call"
    if not callable(function):
        raise TypeError(f"operation({name!r}) decorates functions; {function!r} cannot be called")
    if inspect.isclass(function):
        raise TypeError(f"operation({name!r}) would replace the class {function.__name__}; {advice}")
    if inspect.isasyncgenfunction(function):
        raise TypeError(f"operation({name!r}) cannot follow an async generator; {advice}")
    if _jax.has_leaves(function) or (hasattr(function, "init") and hasattr(function, "apply")):
        raise TypeError(
            f"operation({name!r}) would hide the parameters of {type(function).__name__}; {advice}"
        )


def _annotated_coroutine(function: Any, text: str) -> Any:
    @functools.wraps(function)
    async def annotated(*args: Any, **kwargs: Any) -> Any:
        return await _Awaitable(_driven(function(*args, **kwargs), text))

    return annotated


def _annotated_generator(function: Any, text: str) -> Any:
    @functools.wraps(function)
    def annotated(*args: Any, **kwargs: Any) -> Any:
        return (yield from _driven(function(*args, **kwargs), text))

    return annotated


class _Awaitable:
    """What a coroutine can await to be driven by a generator."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def __await__(self) -> Any:
        return self._generator


def _driven(body: Any, text: str) -> Any:
    """Run a coroutine or generator; it is inside the operation while it runs, not while it is suspended."""
    resume, value = body.send, None
    while True:
        scope = _enter(text)
        try:
            produced = resume(value)
        except StopIteration as stop:
            return stop.value
        finally:
            scope.__exit__(None, None, None)
        try:
            resume, value = body.send, (yield produced)
        except GeneratorExit:
            body.close()
            raise
        except BaseException as error:
            resume, value = body.throw, error


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
        # As a class attribute it binds only if what it wraps would. A partial does from Python 3.14 on;
        # 3.13 gives it a `__get__` that only warns of that.
        takes_self = hasattr(type(self.__wrapped__), "__get__")
        if isinstance(self.__wrapped__, functools.partial):
            takes_self = sys.version_info >= (3, 14)
        return functools.partial(self, instance) if takes_self and instance is not None else self

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
