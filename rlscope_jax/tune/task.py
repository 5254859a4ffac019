"""What is to be made faster: a function with its arguments, and the sketches that compute the same."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rlscope_jax.tune.source import source_of
from rlscope_jax.tune.space import Candidate, Sketch, Space


@dataclass(frozen=True)
class TuneTask:
    """One function to tune, for arguments of fixed shapes.

    Args:
        name: unique among the tasks tuned together; the operation of the profile where there is one.
        args: the arguments a candidate is timed and checked with (pytrees of NumPy or jax arrays).
        reference: computes the right result from `args`, inside `jax.jit`; also what is used where no tuned
            kernel fits.
        sketches: name -> sketch.
        weight: how many seconds per step one second of this function is worth: its calls per step, or the
            seconds per step that a profile saw.
        rtol, atol: how far a candidate may be off, as in `numpy.allclose`.
        equal: (result, reference's result) -> what is wrong, or None; in place of the comparison of all
            elements, for candidates that change results by design.

    Raises:
        ValueError: one of these is not what it should be.
    """

    name: str
    args: tuple[Any, ...]
    reference: Callable[..., Any]
    sketches: Mapping[str, Sketch]
    weight: float = 1.0
    rtol: float = 1e-4
    atol: float = 1e-4
    equal: Callable[[Any, Any], str | None] | None = None

    def __post_init__(self) -> None:
        for what, right in {
            "name must be text": isinstance(self.name, str) and self.name,
            "args must be a tuple, with an item for each argument": isinstance(self.args, (tuple, list)),
            "reference must be a function": callable(self.reference),
            "sketches must be a dict of at least one name -> Sketch": isinstance(self.sketches, Mapping)
            and self.sketches
            and all(isinstance(name, str) for name in self.sketches)
            and all(isinstance(sketch, Sketch) for sketch in self.sketches.values()),
        }.items():
            if not right:
                raise ValueError(f"task {self.name!r}: {what}")

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

    @cached_property
    def expected(self) -> Any:
        """The reference's result, of NumPy arrays; raises whatever the reference raises."""
        import jax

        return jax.device_get(jax.jit(self.reference)(*self.args))

    def check(self, result: Any) -> str | None:
        """What is wrong with a result: None where it is as close to the reference's as the tolerances ask.

        Raises whatever the reference or `equal` raises.
        """
        if self.equal is None:
            return difference(result, self.expected, self.rtol, self.atol)
        wrong = self.equal(result, self.expected)
        if wrong is not None and not isinstance(wrong, str):
            raise TypeError(f"`equal` must say what is wrong, or return None; it returned {wrong!r}")
        return wrong

    @cached_property
    def digest(self) -> str:
        """Names this task in databases: changes with shapes, domains, tolerances and functions' source."""
        import jax

        parts = [self.name, repr((self.rtol, self.atol)), source_of(self.reference)]
        parts += [] if self.equal is None else [source_of(self.equal)]
        for leaf in jax.tree.leaves(self.args):
            kind = leaf.dtype if hasattr(leaf, "dtype") else np.asarray(leaf).dtype
            parts.append(f"{np.shape(leaf)}{kind}")
        for name, sketch in self.sketches.items():
            functions = (sketch.build, sketch.valid, sketch.export, sketch.untimed)
            parts += [name, repr(sketch.params), *map(source_of, functions)]
        return hashlib.sha256("\n".join(parts).encode(errors="replace")).hexdigest()[:16]


def difference(found: Any, expected: Any, rtol: float, atol: float) -> str | None:
    """In words how two pytrees of arrays differ beyond the tolerances; None where they do not."""
    import jax

    leaves, wanted = jax.tree.leaves(found), jax.tree.leaves(expected)
    if len(leaves) != len(wanted):
        return f"{len(leaves)} results where the reference has {len(wanted)}"
    structure, other = str(jax.tree.structure(found)), str(jax.tree.structure(expected))
    if structure != other:
        return f"the result is a {structure}, the reference's a {other}"
    for number, (one, two) in enumerate(zip(leaves, wanted, strict=True)):
        wrong = _difference(_array(one), _array(two), rtol, atol)
        if wrong:
            return f"result {number} {wrong}"
    return None


def _difference(got: np.ndarray, want: np.ndarray, rtol: float, atol: float) -> str | None:
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"is {got.dtype}{got.shape}, the reference's {want.dtype}{want.shape}"
    from jax import numpy as jnp  # which knows bfloat16 and the like

    wide = np.complex128 if jnp.issubdtype(want.dtype, jnp.complexfloating) else np.float64
    close = got == want
    if jnp.issubdtype(want.dtype, jnp.inexact):
        got, want = got.astype(wide), want.astype(wide)
        if not np.array_equal(np.isfinite(got), np.isfinite(want)):
            return "has NaNs or infinities that the reference has not"
        close = np.isclose(got, want, rtol, atol, equal_nan=True)
    if np.all(close):
        return None
    with np.errstate(invalid="ignore"):  # infinity less infinity
        worst = np.max(np.abs(got.astype(wide) - want.astype(wide))[~close])
    return f"differs from the reference in {np.mean(~close):.1%} of its elements, by up to {worst:.2g}"


def _array(leaf: Any) -> np.ndarray:
    import jax

    is_key = jax.dtypes.issubdtype(getattr(leaf, "dtype", None), jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(leaf) if is_key else leaf)
