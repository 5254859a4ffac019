"""A space measured completely: searches can be run on it again and again, in no time and without noise of
their own.

The file is a NumPy archive: `header` is JSON (name, digest, device, jax, anchor, reference and the parameters
of each sketch), the other arrays have a row for each valid point: `sketch` (its number), `levels` (padded
with 255), `ratio`, `low`, `high` (the point's time over the anchor's, with the interval; NaN for a failure),
`rounds` and `smooth` (the surrogate's ratio; see `surrogate`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.space import Candidate, Param, Sketch, Space, Values
from rlscope_jax.tune.trial import Trial

PADDING = 255
"""In place of levels that a sketch has not."""


@dataclass(frozen=True)
class Table:
    """See the module.

    Args:
        header: name, digest, device, jax; `seconds`: one call of the anchor; `reference`: the reference's
            time over the anchor's, {ratio, low, high}; `anchor`: {sketch, levels}; `sketches`: {name:
            [{name, kind, values}]}.
        rows: the other arrays.
    """

    header: dict[str, Any]
    rows: dict[str, np.ndarray]

    @classmethod
    def load(cls, path: str | Path) -> Table:
        """Read a table.

        Raises:
            TuneError: the file is missing or is no table.
        """
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                rows = {name: archive[name] for name in archive.files}
            return cls(json.loads(str(rows.pop("header"))), rows)
        except (OSError, ValueError, KeyError, EOFError, AttributeError, TypeError, BadZipFile) as error:
            raise TuneError(f"{path} is no table of measurements: {error}") from error

    def save(self, path: str | Path) -> None:
        """Write it, compressed."""
        arrays: dict[str, Any] = {"header": np.array(json.dumps(self.header)), **self.rows}
        np.savez_compressed(path, **arrays)

    @property
    def name(self) -> str:
        """The task's name."""
        return self.header["name"]

    @cached_property
    def candidates(self) -> list[Candidate]:
        """The points, in the order of the rows."""
        names = list(self.header["sketches"])
        sizes = {name: len(params) for name, params in self.header["sketches"].items()}
        return [
            Candidate(names[number], tuple(levels[: sizes[names[number]]]))
            for number, levels in zip(self.rows["sketch"].tolist(), self.rows["levels"].tolist(), strict=True)
        ]

    @cached_property
    def space(self) -> Space:
        """The space of exactly these points. Its sketches cannot build anything."""
        here = set(self.candidates)
        sketches = {}
        for name, described in self.header["sketches"].items():
            params = tuple(Param(p["name"], tuple(p["values"]), p["kind"]) for p in described)
            sketches[name] = Sketch(params, _build_nothing, _Among(name, params, here))
        return Space(sketches)

    @cached_property
    def seconds(self) -> dict[Candidate, float]:
        """What each point took, as measured; infinite for a failure."""
        return self._times("ratio")

    @cached_property
    def smooth_seconds(self) -> dict[Candidate, float]:
        """What each point takes according to the surrogate, without noise; infinite for a failure."""
        return self._times("smooth")

    def _times(self, column: str) -> dict[Candidate, float]:
        times = self.rows[column].astype(np.float64) * self.header["seconds"]
        times = np.where(np.isnan(self.rows["ratio"]), np.inf, times)
        return dict(zip(self.candidates, times.tolist(), strict=True))


class TableMeasurer:
    """Answers from a table in place of a machine.

    Args:
        smooth: the surrogate's times, not the measured ones.
    """

    def __init__(self, table: Table, smooth: bool = False) -> None:
        self._seconds = table.smooth_seconds if smooth else table.seconds

    def measure(self, candidates: Sequence[Candidate]) -> list[Trial]:
        """Look them up."""
        return [
            Trial(c, self._seconds[c]) if np.isfinite(self._seconds[c]) else Trial(c, error="failed")
            for c in candidates
        ]

    def remember(self, trial: Trial) -> None:
        """A table knows everything already."""


@dataclass(frozen=True)
class _Among:
    """Whether values are those of one of some candidates."""

    sketch: str
    params: tuple[Param, ...]
    candidates: set[Candidate]

    def __call__(self, values: Values) -> bool:
        levels = tuple(param.values.index(values[param.name]) for param in self.params)
        return Candidate(self.sketch, levels) in self.candidates


def _build_nothing(values: Values) -> Any:
    raise TuneError("a point of a table cannot be built: only its time is known")
