"""Put a tuned candidate into a program, or what computes the same where that cannot be."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar

from rlscope_jax.tune.database import Database, default_path, key_of
from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.space import Candidate
from rlscope_jax.tune.task import TuneTask

F = TypeVar("F", bound=Callable[..., Any])


def tuned(task: TuneTask | Callable[[], TuneTask], record: str | Path | None = None) -> Callable[[F], F]:
    """Decorate a function with the winner that `rlscope-jax tune` found for its task on this machine.

    What is decorated computes the same as the task's reference; it runs where there is no winner: arguments
    of other shapes or types than the task's, or given by name; another machine, jax or source; nothing tuned
    yet; and, with a warning, where the record cannot be read or the winner cannot be built. The record is
    read at the first call.

    Args:
        task: the task, or a function that makes it.
        record: the file that `rlscope-jax tune --record` wrote; `default_path()` if None.
    """

    def decorate(function: F) -> F:
        @cache
        def winner() -> tuple[list[Any] | None, Callable[..., Any]]:
            import jax

            try:
                with jax.ensure_compile_time_eval():  # the first call may be while a program is traced
                    made = task if isinstance(task, TuneTask) else task()
                    found = Database(record or default_path()).winner(made.space, key_of(made))
                    return (None, function) if found is None else (_kinds(made.args), made.export(found))
            except Exception as error:
                _warn(getattr(function, "__qualname__", "a function"), error, 4)
                return None, function

        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            kinds, kernel = winner()
            if kinds is None or kwargs or _kinds(args) != kinds:
                return function(*args, **kwargs)
            return kernel(*args)

        return run  # type: ignore[return-value]

    return decorate


def function_for(task: TuneTask, candidate: Candidate | None) -> Callable[..., Any]:
    """The candidate for use inside `jax.jit`; the task's reference, with a warning that says why, where it
    cannot be built: a package or the C++ compiler is missing. The reference for None.
    """
    if candidate is None:
        return task.reference
    try:
        return task.export(candidate)
    except Exception as error:
        _warn(task.name, error, 3)
        return task.reference


def _warn(name: str, error: Exception, level: int) -> None:
    what = str(error) if isinstance(error, TuneError) else f"{type(error).__name__}: {error}"
    warnings.warn(f"{name}: the reference is used: {what}", RuntimeWarning, stacklevel=level)


def _kinds(args: Any) -> list[Any] | None:
    """The structure, shapes and types of arguments; None where some are no arrays."""
    import jax

    leaves, tree = jax.tree.flatten(args)
    try:
        return [tree, *((jax.numpy.shape(leaf), jax.dtypes.result_type(leaf)) for leaf in leaves)]
    except TypeError:
        return None
