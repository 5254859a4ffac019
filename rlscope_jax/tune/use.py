"""Put a tuned candidate into a program, or what computes the same where that cannot be."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.space import Candidate
from rlscope_jax.tune.task import TuneTask


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
