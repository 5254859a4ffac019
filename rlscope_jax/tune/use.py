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
    of other shapes or types than the task's, another machine, jax or source, nothing tuned yet. The record is
    read at the first call.

    Args:
        task: the task, or a function that makes it.
        record: the file that `rlscope-jax tune --record` wrote; `default_path()` if None.
    """

    def decorate(function: F) -> F:
        @cache
        def winner() -> tuple[list[Any], Callable[..., Any] | None]:
            made = task if isinstance(task, TuneTask) else task()
            try:
                found = Database(record or default_path()).winner(made.space, key_of(made))
            except TuneError as error:
                warnings.warn(f"{made.name}: the reference is used: {error}", RuntimeWarning, stacklevel=3)
                found = None
            if found is None:
                return [], None
            kernel = function_for(made, found)
            return _kinds(made.args), None if kernel is made.reference else kernel

        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            kinds, kernel = winner()
            if kernel is None or kwargs or _kinds(args) != kinds:
                return function(*args, **kwargs)
            return kernel(*args)

        return run  # type: ignore[return-value]

    return decorate


def _kinds(args: Any) -> list[Any]:
    import jax

    leaves, tree = jax.tree.flatten(args)
    return [tree, *((jax.numpy.shape(leaf), jax.dtypes.result_type(leaf)) for leaf in leaves)]


def function_for(task: TuneTask, candidate: Candidate | None) -> Callable[..., Any]:
    """The candidate for use inside `jax.jit`; the task's reference, with a warning that says why, where a
    package or the C++ compiler is missing; the reference for None.
    """
    if candidate is None:
        return task.reference
    try:
        return task.export(candidate)
    except TuneError as error:
        warnings.warn(f"{task.name}: the reference is used: {error}", RuntimeWarning, stacklevel=2)
        return task.reference
