"""Figures as the report shows them: raw, corrected, and the interval; picoseconds in, nanoseconds out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlscope_jax.breakdown.sweep import Cells
from rlscope_jax.breakdown.table import Row
from rlscope_jax.overhead.choose import Corrected
from rlscope_jax.overhead.correct import Correction
from rlscope_jax.xla_events.trace import Step

Figure = dict[str, Any]


def figure(raw: float | None, corrected: float | None = None, spread: float | None = None) -> Figure:
    """One figure of the report; `spread` is the half-width of its interval. What is not known is None."""
    if raw is None or corrected is None or spread is None:
        return {"raw": _ns(raw), "corrected": None, "interval": None}
    interval = [_ns(max(corrected - spread, 0)), _ns(corrected + spread)]
    return {"raw": _ns(raw), "corrected": _ns(corrected), "interval": interval}


def _ns(picoseconds: float | None) -> int | None:
    return None if picoseconds is None else (int(picoseconds) + 500) // 1000


@dataclass
class Figures:
    """The figures of one process, corrected where a correction is known."""

    corrected: Corrected

    def __post_init__(self) -> None:
        known = self.corrected.correction
        self._rows = {(row.path, row.direction): row for row in known.table.rows} if known else {}
        self._spreads = {(row.path, row.direction): row for row in known.spread.rows} if known else {}

    @staticmethod
    def uncorrected(reason: str | None = None) -> Figures:
        """Figures as recorded."""
        return Figures(Corrected(None, reason))

    @property
    def correction(self) -> Correction | None:
        """The correction, None where there is none."""
        return self.corrected.correction

    def of_row(self, row: Row) -> Callable[[Callable[[Row], int]], Figure]:
        """Make a figure of anything that is read off a row."""
        if self.correction is None:
            return lambda read: figure(read(row))
        key, nothing = (row.path, row.direction), Row(row.path, row.direction)
        corrected, spread = self._rows.get(key, nothing), self._spreads.get(key, nothing)
        return lambda read: figure(read(row), read(corrected), read(spread))

    def all_cells(self, raw: Cells) -> list[Cells]:
        """The raw cells, then the corrected ones and their half-widths where known."""
        known = self.correction
        return [raw] if known is None else [raw, known.table.cells, known.spread.cells]

    def of_cells(self, cells: Cells, read: Callable[[Cells], int]) -> Figure:
        """A figure of the whole process: its operations' errors cancel in part."""
        return figure(read(cells), *(self.whole(read) or (None, None)))

    def whole(self, read: Callable[[Cells], int]) -> tuple[float, float] | None:
        """(corrected, half-width) of something read off the cells."""
        if (known := self.correction) is None:
            return None
        return read(known.table.cells), read(known.whole_spread)


def sum_of(processes: Sequence[tuple[Figures, Cells]], read: Callable[[Cells], int]) -> Figure:
    """A figure of several processes: corrected where all of them are."""
    parts = [figures.whole(read) for figures, _ in processes]
    raw = sum(read(cells) for _, cells in processes)
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return figure(raw)
    return figure(raw, sum(part[0] for part in known), sum(part[1] for part in known))


def wall_of(processes: Sequence[tuple[Figures, Cells]]) -> Figure:
    """The wall time of all processes."""
    raw = sum(cells.wall for _, cells in processes)
    known = [figures.correction for figures, _ in processes]
    if any(correction is None for correction in known):
        return figure(raw)
    sound = [correction for correction in known if correction is not None]
    return figure(
        raw, sum(each.table.cells.wall for each in sound), sum(each.removed_spread for each in sound)
    )


def step_wall(processes: Sequence[tuple[Figures, Sequence[Step]]]) -> dict[str, Figure] | None:
    """Median, 10th and 90th percentile of the steps' durations; None without steps."""
    spans = np.array([step.end - step.start for _, steps in processes for step in steps], np.float64)
    if len(spans) == 0:
        return None
    raw = np.percentile(spans, [50, 10, 90])
    known = [(figures.correction, steps) for figures, steps in processes if len(steps)]
    if any(correction is None for correction, _ in known):
        return {name: figure(value) for name, value in zip(("median", "p10", "p90"), raw, strict=True)}
    removed = np.concatenate([correction.steps for correction, _ in known if correction])
    spread = [
        correction.spread_of_steps(np.array([step.end - step.start for step in steps], np.float64))
        for correction, steps in known
        if correction
    ]
    left, half = spans - removed, np.concatenate(spread)
    corrected, high = (np.percentile(each, [50, 10, 90]) for each in (left, left + half))
    return {
        name: figure(value, better, most - better)
        for name, value, better, most in zip(("median", "p10", "p90"), raw, corrected, high, strict=True)
    }


def inflation(processes: Sequence[tuple[Figures, Sequence[Step]]], total: Figure) -> float | None:
    """How many times as long steps took for being recorded; the whole window without steps.

    The mean step: where calls return early the last one waits for all. None where nothing is left.
    """
    known = [(figures.correction, steps) for figures, steps in processes if len(steps)]
    raw = sum(step.end - step.start for _, steps in known for step in steps)
    left = raw - sum(float(correction.steps.sum()) for correction, _ in known if correction)
    if not known:
        raw, left = total["raw"], total["corrected"]
    return round(raw / left, 4) if left >= 1 else None


def overhead_section(processes: Sequence[tuple[Figures, Cells, Sequence[Step]]]) -> dict[str, Any]:
    """What the report says of the correction itself."""
    known = [figures.correction for figures, _, _ in processes]
    first = known[0] if known else None
    if first is None or any(correction is None for correction in known):
        reasons = [figures.corrected.reason for figures, _, _ in processes if figures.corrected.reason]
        return {
            "correction": "none", "inflation": None, "removed": None, "constants": {}, "anchors": None,
            "reason": reasons[0] if reasons else None,
        }  # fmt: skip
    sound = [correction for correction in known if correction is not None]
    total = wall_of([(figures, cells) for figures, cells, _ in processes])
    removed, spread = sum(each.removed for each in sound), sum(each.removed_spread for each in sound)
    least, most = max(removed - spread, 0), min(removed + spread, sum(each.raw_wall for each in sound))
    return {
        "correction": first.method.name,
        "inflation": inflation([(figures, steps) for figures, _, steps in processes], total),
        "removed": {"ns": _ns(removed), "interval": [_ns(least), _ns(most)]},
        "constants": first.method.constants,
        "anchors": first.method.anchors,
        "reason": None,
    }
