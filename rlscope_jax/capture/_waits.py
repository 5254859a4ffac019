"""Within a window, waits for the device leave an event; outside, jax is as it was.

`float(x)`, `x.tolist()` and `jax.device_get(x)` leave one of jax's own, and `np.asarray(x)` a pair of marks
that the reader knows. What is wrapped here leaves none with a duration, or none at all (a list of arrays).
NumPy is left alone: what compiles against it (numba) must find its own functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import jax

from rlscope_jax import _jax

# What each leaves is a name that attribution/host_names.py reads as a wait.
_WAITS = (
    (_jax.ArrayImpl, "block_until_ready", "block_until_ready"),
    (_jax.ArrayImpl, "item", "np.asarray(jax.Array)"),
    (jax, "block_until_ready", "block_until_ready"),
)


@contextmanager
def visible_waits() -> Iterator[None]:
    """Let waits leave an event; what somebody else has put in their place meanwhile is left alone."""
    with ExitStack() as undo:
        for owner, attribute, event in _WAITS:
            original = vars(owner).get(attribute)
            if original is not None:
                undo.enter_context(_replaced(owner, attribute, original, _with_event(original, event)))
        yield


def _with_event(function: Callable[..., Any], event: str) -> Callable[..., Any]:
    @functools.wraps(function, assigned=("__name__", "__doc__"))  # a C++ method's __qualname__ is no string
    def waits(*args: Any, **kwargs: Any) -> Any:
        with _jax.TraceMe(event):
            return function(*args, **kwargs)

    return waits


@contextmanager
def _replaced(owner: Any, attribute: str, original: Any, replacement: Any) -> Iterator[None]:
    setattr(owner, attribute, replacement)
    try:
        yield
    finally:
        if vars(owner).get(attribute) is replacement:
            setattr(owner, attribute, original)
