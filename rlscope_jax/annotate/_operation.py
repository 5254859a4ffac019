"""operation(): one name for a piece of the algorithm, on the host and in the compiled program."""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any, TypeVar

from rlscope_jax import _jax
from rlscope_jax.annotate import _traced
from rlscope_jax.names import check_name, mark

F = TypeVar("F", bound=Callable[..., Any])


class operation:
    """Name an operation of the RL algorithm: `@operation("env_step")` or `with operation("rollout"):`.

    Inside traced code (under `jax.jit`, `grad`, `scan`, ...) it is a `jax.named_scope`, so the compiled
    instructions carry the name; on the host it is a trace annotation, so the time spent calling does.
    Nested operations give paths (`rollout/env_step`); `operation("update/loss")` is `loss` in `update`.

    It may stand above or below `jax.jit`. While nothing is recorded a decorated call costs less than a
    microsecond on the host (`benchmarks/idle.py`) and nothing on the device: the compiled program differs
    only in metadata.

    Args:
        name: path segments joined by `/`; letters, digits, `_ . + -` and single spaces.

    Raises:
        TypeError, ValueError: `name` cannot be an operation's name.
    """

    __slots__ = ("_open", "_text", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._text = mark(name) if isinstance(name, str) else check_name(name)
        self._open: list[_Entry] = []  # by several threads and tasks, or several times, as it happens

    def __enter__(self) -> operation:
        if not _jax.is_idle():
            scope = _scope(self._text)
            scope.__enter__()
            self._open.append(_Entry(_block_of(sys._getframe(1)), threading.get_ident(), scope))
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._open:  # else it was entered idle, as was every other block that this object is around
            entry = self._latest(_block_of(sys._getframe(1)), threading.get_ident())
            if entry is not None:
                self._open.remove(entry)
                entry.scope.__exit__(*exception)

    def _latest(self, block: int, thread: int) -> _Entry | None:
        """What is left here: the caller's last entry, else (entered by another function) the thread's."""
        entries = self._open.copy()  # other threads come and go
        mine = [entry for entry in entries if entry.block == block]
        found = mine or [entry for entry in entries if entry.thread == thread]
        return found[-1] if found else None

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
            if _jax.is_idle():
                return function(*args, **kwargs)
            with _scope(text):
                return function(*args, **kwargs)

        return annotated  # type: ignore[return-value]

    def __reduce__(self) -> Any:
        return operation, (self.name,)  # a copy is entered nowhere yet

    def __repr__(self) -> str:
        return f"operation({self.name!r})"


class _Entry:
    """One entering of an operation that has not been left yet."""

    __slots__ = ("block", "scope", "thread")

    def __init__(self, block: int, thread: int, scope: Any) -> None:
        self.block, self.thread, self.scope = block, thread, scope


def _block_of(frame: FrameType | None) -> int:
    """Which running function holds a `with` block: asyncio tasks and generators of one thread interleave.

    An ExitStack stands for the function that called it.
    """
    while frame is not None and frame.f_code.co_filename == _CONTEXTLIB:
        frame = frame.f_back
    return id(frame)


_CONTEXTLIB = ExitStack.close.__code__.co_filename


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
        try:
            with _scope(text):
                produced = resume(value)
        except StopIteration as stop:
            return stop.value
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
        if _jax.is_idle():
            return self.__wrapped__(*args, **kwargs)
        with _scope(self._rlscope_text):
            return self.__wrapped__(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        # As a class attribute it binds only if what it wraps would. A partial does from Python 3.14 on;
        # 3.13 gives it a `__get__` that only warns of that.
        takes_self = hasattr(type(self.__wrapped__), "__get__")
        if isinstance(self.__wrapped__, functools.partial):
            takes_self = sys.version_info >= (3, 14)
        return functools.partial(self, instance) if takes_self and instance is not None else self

    def __reduce__(self) -> Any:
        # What a module holds under its own name is pickled, and copied, by that name, as functions are.
        here: Any = sys.modules.get(getattr(self, "__module__", ""))
        for part in getattr(self, "__qualname__", "<none>").split("."):
            here = getattr(here, part, None)
        if here is self:
            return self.__qualname__
        return _AnnotatedCallable, (self.__wrapped__, self._rlscope_text)

    def __getattr__(self, name: str) -> Any:
        if name == "__wrapped__":  # not set yet: copy and pickle ask before __init__ has run
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)

    def __repr__(self) -> str:
        return f"<operation {self._rlscope_text} of {self.__wrapped__!r}>"


def _scope(text: str) -> Any:
    """The context manager that carries a name here."""
    if not _jax.is_tracing():
        return _jax.TraceMe(text)
    function = _jax.traced_function()
    if function is None:
        return _eager_scope(text)
    _traced.note(function, text)
    return _jax.named_scope(text)


@contextmanager
def _eager_scope(text: str) -> Iterator[None]:
    """Under grad or vmap without jit: traced, and run op by op meanwhile."""
    with _jax.TraceMe(text), _jax.named_scope(text):
        yield
