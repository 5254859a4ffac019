"""What is to be made faster: a function with its arguments, and the sketches that compute the same."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from rlscope_jax.tune.space import Candidate, Sketch, Space


@dataclass(frozen=True)
class TuneTask:
    """One function to tune, for arguments of fixed shapes.

    Args:
        name: unique among the tasks tuned together; the operation of the profile where there is one.
        args: the arguments a candidate is timed and checked with (NumPy or jax arrays).
        reference: computes the right result from `args`; also what is used where no tuned kernel fits.
        sketches: name -> sketch.
        weight: how many seconds per step one second of this function is worth: its calls per step, or the
            seconds per step that a profile saw.
        rtol, atol: how far a candidate may be off, as in `numpy.allclose`.
        equal: (result, reference's result) -> what is wrong, or None; in place of the comparison of all
            elements, for candidates that change results by design.
    """

    name: str
    args: tuple[Any, ...]
    reference: Callable[..., Any]
    sketches: Mapping[str, Sketch]
    weight: float = 1.0
    rtol: float = 1e-4
    atol: float = 1e-4
    equal: Callable[[Any, Any], str | None] | None = None
    _expected: list[Any] = field(default_factory=list, repr=False, compare=False)

    @cached_property
    def space(self) -> Space:
        """All candidates."""
        return Space(self.sketches)

    def build(self, candidate: Candidate) -> Callable[..., Any]:
        """The candidate as a callable of `args`; raises whatever its sketch raises."""
        return self.sketches[candidate.sketch].build(self.space.values(candidate))

    def export(self, candidate: Candidate) -> Callable[..., Any]:
        """The candidate as a callable for use inside `jax.jit`."""
        sketch = self.sketches[candidate.sketch]
        return (sketch.export or sketch.build)(self.space.values(candidate))

    def check(self, result: Any) -> str | None:
        """What is wrong with a result: None where it is as close to the reference's as the tolerances ask."""
        if not self._expected:
            self._expected.append(self.reference(*self.args))
        if self.equal is not None:
            return self.equal(result, self._expected[0])
        return difference(_leaves(result), _leaves(self._expected[0]), self.rtol, self.atol)

    @cached_property
    def digest(self) -> str:
        """Names this task in databases: changes with shapes, domains, tolerances and functions' source."""
        parts = [self.name, repr((self.rtol, self.atol)), source_of(self.reference)]
        parts += [] if self.equal is None else [source_of(self.equal)]
        parts += [f"{np.shape(leaf)}{np.asarray(leaf).dtype}" for leaf in _leaves(self.args)]
        for name, sketch in self.sketches.items():
            parts += [name, repr(sketch.params), source_of(sketch.build), source_of(sketch.valid)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def difference(found: list[Any], expected: list[Any], rtol: float, atol: float) -> str | None:
    """In words how two lists of arrays differ beyond the tolerances; None where they do not."""
    if len(found) != len(expected):
        return f"{len(found)} results where the reference has {len(expected)}"
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        got, want = np.asarray(one), np.asarray(other)
        if got.shape != want.shape or got.dtype != want.dtype:
            return f"result {number} is {got.dtype}{got.shape}, the reference's {want.dtype}{want.shape}"
        if np.issubdtype(want.dtype, np.inexact):
            if not np.array_equal(np.isfinite(got), np.isfinite(want)):
                return f"result {number} has NaNs or infinities that the reference has not"
            close = np.isclose(got, want, rtol, atol, equal_nan=True)
        else:
            close = got == want
        if not np.all(close):
            worst = np.max(np.abs(np.where(close, 0, got.astype(np.float64) - want)))
            share = f"{np.mean(~close):.1%} of its elements"
            return f"result {number} differs from the reference in {share}, by up to {worst:.2g}"
    return None


def _leaves(value: Any) -> list[Any]:
    """The arrays of nested tuples, lists and dicts; of other pytrees if jax knows them."""
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in _leaves(item)]
    if isinstance(value, Mapping):
        return [leaf for key in sorted(value) for leaf in _leaves(value[key])]
    if isinstance(value, (np.ndarray, np.generic, int, float, complex)):
        return [value]
    import jax

    return jax.tree.leaves(value)


def source_of(function: Callable[..., Any]) -> str:
    """A function's source text, with what `functools.partial` binds; its name where there is no source."""
    if isinstance(function, partial):
        return f"{source_of(function.func)} {function.args!r} {sorted(function.keywords.items())!r}"
    wrapped = inspect.unwrap(function)
    try:
        return inspect.getsource(wrapped)
    except (OSError, TypeError):
        return f"{getattr(wrapped, '__module__', '')}.{getattr(wrapped, '__qualname__', type(wrapped))}"
