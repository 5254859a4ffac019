"""How often the program has run its own jitted functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable


class Runs:
    """Counts the warm calls of jitted functions, each on its own.

    Not counted: functions of jax's own (`jnp.add` outside of jit), calls that compile, and calls that jax
    makes through its Python code (programs that call back).
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._undo: Callable[[], None] | None = None

    def start_counting(self) -> None:
        """Count from now on, where this jax tells of calls; to be called when jax has just been loaded."""
        from rlscope_jax import _jax

        self._undo = _jax.after_each_call(self._called)

    @property
    def are_counted(self) -> bool:
        """Whether jax tells of calls."""
        return self._undo is not None

    def stop_counting(self) -> None:
        """Let calls be as fast as ever."""
        if self._undo is not None:
            self._undo()
            self._undo = None

    def start_over(self) -> None:
        """Forget what was counted."""
        self._counts = Counter()

    @property
    def most(self) -> int:
        """The runs of the function that was run most."""
        return max(self._counts.copy().values(), default=0)

    def _called(self, function: str) -> None:
        self._counts[function] += 1
