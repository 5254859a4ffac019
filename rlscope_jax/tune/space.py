"""What may be chosen: parameters with ordered domains, sketches that hold them, spaces of sketches."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rlscope_jax.tune.errors import TuneError

Value = int | float | str | bool
Values = dict[str, Any]
"""A choice spelled out: parameter name -> value."""

KINDS = ("tile", "loc", "par", "unroll", "choice")


@dataclass(frozen=True)
class Param:
    """One decision: an ordered domain, so that "one step up" has a meaning.

    Args:
        name: unique within its sketch.
        values: the domain, in order.
        kind: `tile` (a size), `loc` (where a stage is computed), `par` (what runs in parallel), `unroll` (a
            factor) or `choice` (anything else). Learners may treat kinds apart.

    Raises:
        ValueError: there is no such kind; the domain is empty, has a value twice, or one that a record could
            not hold.
    """

    name: str
    values: tuple[Value, ...]
    kind: str = "choice"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"parameter {self.name!r}: kind {self.kind!r} is none of {', '.join(KINDS)}")
        plain = tuple(value.item() if isinstance(value, np.generic) else value for value in self.values)
        object.__setattr__(self, "values", plain)
        for value in plain:
            if not isinstance(value, (int, float, str)):
                raise ValueError(f"parameter {self.name!r}: {value!r} is no number, text or bool")
        if not plain or len(set(plain)) < len(plain):
            raise ValueError(f"parameter {self.name!r}: its values are none, or not distinct")


def anything(values: Values) -> bool:
    """What `valid` is where every combination means something."""
    return True


def timed() -> str | None:
    """What `untimed` is where nothing speaks against timing."""
    return None


@dataclass(frozen=True)
class Sketch:
    """One structure of a program, with the parameters it leaves open.

    Args:
        params: the open decisions, in a fixed order.
        build: values -> a callable that takes the task's arguments and returns its result.
        valid: values -> whether this combination means anything; must be cheap.
        export: values -> a callable for use inside `jax.jit`; None where what `build` returns already is one.
        untimed: says why times of it would mean nothing on this machine; None where it may be timed.
    """

    params: tuple[Param, ...]
    build: Callable[[Values], Callable[..., Any]]
    valid: Callable[[Values], bool] = anything
    export: Callable[[Values], Callable[..., Any]] | None = None
    untimed: Callable[[], str | None] = timed

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", tuple(self.params))
        names = [param.name for param in self.params]
        if len(set(names)) < len(names):
            raise ValueError(f"two parameters of one sketch share a name: {', '.join(names)}")

    def within(self, **domains: Sequence[Value]) -> Sketch:
        """The same sketch with smaller (or other) domains for the named parameters."""
        unknown = set(domains) - {param.name for param in self.params}
        if unknown:
            raise ValueError(f"no such parameter: {', '.join(sorted(unknown))}")
        params = tuple(
            Param(param.name, tuple(domains.get(param.name, param.values)), param.kind)
            for param in self.params
        )
        return replace(self, params=params)


class Candidate(NamedTuple):
    """One point of a space: a sketch, and for each of its parameters the position in its domain."""

    sketch: str
    levels: tuple[int, ...]


class Space:
    """All valid points of some sketches. Candidates are plain tuples; this class gives them meaning.

    Args:
        sketches: name -> sketch; their order is kept and numbers them.
    """

    def __init__(self, sketches: Mapping[str, Sketch]) -> None:
        if not sketches:
            raise ValueError("a space needs at least one sketch")
        self.sketches = dict(sketches)
        self.names = tuple(self.sketches)
        self.width = max(len(sketch.params) for sketch in self.sketches.values()) or 1
        """The most parameters any sketch has; 1 if none has any, so that arrays of them hold something."""
        self._valid: dict[Candidate, bool] = {}
        self._codes: dict[Candidate, np.ndarray] = {}
        self._empty: set[str] = set()
        params = [param for sketch in self.sketches.values() for param in sketch.params]
        columns: list[tuple[str, ...] | tuple[str, str, Value]] = [("sketch", name) for name in self.names]
        columns += [(what, param.name) for param in params for what in ("place", "number")]
        columns += [("value", param.name, value) for param in params for value in param.values]
        self._columns = {column: number for number, column in enumerate(dict.fromkeys(columns))}

    def params(self, sketch: str) -> tuple[Param, ...]:
        """The parameters of a sketch."""
        return self.sketches[sketch].params

    def values(self, candidate: Candidate) -> Values:
        """A candidate's choices, spelled out."""
        params = self.params(candidate.sketch)
        return {
            param.name: param.values[level] for param, level in zip(params, candidate.levels, strict=True)
        }

    def candidate(self, sketch: str, values: Mapping[str, Any]) -> Candidate:
        """The candidate with these values.

        Raises:
            KeyError, ValueError: the space has no such sketch, parameter or value.
        """
        params = self.params(sketch)
        return Candidate(sketch, tuple(param.values.index(values[param.name]) for param in params))

    def is_valid(self, candidate: Candidate) -> bool:
        """Whether the levels lie in their domains and the sketch takes the combination (remembered).

        Raises:
            TuneError: the sketch's `valid` raises.
        """
        known = self._valid.get(candidate)
        if known is None:
            params = self.params(candidate.sketch)
            inside = len(params) == len(candidate.levels) and all(
                0 <= level < len(param.values) for param, level in zip(params, candidate.levels, strict=True)
            )
            known = self._valid[candidate] = inside and self.takes(candidate.sketch, self.values(candidate))
        return known

    def takes(self, sketch: str, values: Values) -> bool:
        """Whether a sketch takes a combination of values of its domains.

        Raises:
            TuneError: its `valid` raises.
        """
        try:
            return bool(self.sketches[sketch].valid(values))
        except Exception as error:
            raise TuneError(
                f"sketch {sketch!r}: `valid` raised {type(error).__name__} for {values}: {error}"
            ) from error

    def every(self, sketch: str | None = None) -> Iterator[Candidate]:
        """Every valid candidate (of one sketch), in a fixed order. Only for spaces small enough to list."""
        for name in self.names if sketch is None else (sketch,):
            for levels in itertools.product(*(range(len(param.values)) for param in self.params(name))):
                candidate = Candidate(name, levels)
                if self.is_valid(candidate):
                    yield candidate

    def sample(self, rng: np.random.Generator, sketch: str | None = None) -> Candidate:
        """A valid candidate by rejection: of a given sketch, or of one drawn uniformly.

        A sketch of which 10,000 draws find none is taken for empty.

        Raises:
            ValueError: all sketches are empty, or the given one is.
        """
        names = [sketch] if sketch is not None else [name for name in self.names if name not in self._empty]
        while names:
            name = names[_below(rng, len(names))]
            sizes = [len(param.values) for param in self.params(name)]
            for _ in range(10_000):
                candidate = Candidate(name, tuple(_below(rng, size) for size in sizes))
                if self.is_valid(candidate):
                    return candidate
            self._empty.add(name)
            names.remove(name)
        raise ValueError(f"10,000 random points of {sketch or 'each sketch'}, and none is valid")

    def neighbours(self, candidate: Candidate) -> list[Candidate | None]:
        """Candidates one step away: for each parameter one level down, then one up; None where invalid."""
        found: list[Candidate | None] = []
        for place in range(len(candidate.levels)):
            for step in (-1, 1):
                levels = list(candidate.levels)
                levels[place] += step
                other = Candidate(candidate.sketch, tuple(levels))
                found.append(other if self.is_valid(other) else None)
        return found

    def mutate(self, candidate: Candidate, rng: np.random.Generator) -> Candidate:
        """Another valid candidate with one parameter drawn anew; the same one if 20 draws give none."""
        params = self.params(candidate.sketch)
        for _ in range(20 if params else 0):
            place = _below(rng, len(params))
            levels = list(candidate.levels)
            levels[place] = _below(rng, len(params[place].values))
            other = Candidate(candidate.sketch, tuple(levels))
            if other != candidate and self.is_valid(other):
                return other
        return candidate

    def cross(self, one: Candidate, two: Candidate, rng: np.random.Generator) -> Candidate:
        """A valid candidate with each parameter from one of two parents of one sketch; else the first."""
        if one.sketch != two.sketch:
            return one
        levels = tuple(a if rng.random() < 0.5 else b for a, b in zip(one.levels, two.levels, strict=True))
        child = Candidate(one.sketch, levels)
        return child if self.is_valid(child) else one

    @property
    def features(self) -> int:
        """The number of columns of `encode`."""
        return len(self._columns)

    def encode(self, candidates: Iterable[Candidate]) -> np.ndarray:
        """float32 [candidates, features].

        The sketch and each parameter's value one-hot; of each parameter also its place in its domain (0 to 1)
        and, of a number, the logarithm. Parameters of one name share columns.
        """
        rows = [self._encode(candidate) for candidate in candidates]
        return np.stack(rows) if rows else np.zeros((0, self.features), np.float32)

    def _encode(self, candidate: Candidate) -> np.ndarray:
        row = self._codes.get(candidate)
        if row is None:
            row = self._codes[candidate] = np.zeros(self.features, np.float32)
            row[self._columns["sketch", candidate.sketch]] = 1
            for param, level in zip(self.params(candidate.sketch), candidate.levels, strict=True):
                value = param.values[level]
                row[self._columns["value", param.name, value]] = 1
                row[self._columns["place", param.name]] = level / max(len(param.values) - 1, 1)
                if isinstance(value, (int, float)):
                    row[self._columns["number", param.name]] = math.log2(1 + abs(value)) / 4
        return row


def _below(rng: np.random.Generator, count: int) -> int:
    """A random integer from 0 to count - 1; `rng.integers` takes ten times as long for one."""
    return int(rng.random() * count)
