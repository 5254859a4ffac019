"""What a tuning record says of its searches, as plain data: the terminal, the page and the tab show the same.

A record is written by kills, by several programs at once and by hand, so every line is judged by itself: one
that is not what it should be is passed over.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rlscope_jax.reporters.units import as_text

SCHEMA = "rlscope_jax.tuning/1"
RECORD_NAME = "rlscope_tune.jsonl"
"""A record of this name under TensorBoard's log directory is shown in the tab."""
MOST_REASONS = 10
"""Kinds of failures that are told apart."""

MOST = 10**12
"""What has more seconds, or trials, is no record of a search."""
KEY = ("name", "device", "jax", "task")

_Row = dict[str, Any]


def tuning_of(rows: Iterable[_Row]) -> dict[str, Any]:
    """The searches of a record, task by task: those first that a profile saw take most, then as they came.

    Returns `schema` and `tasks`; times are seconds, those of candidates in the unit of `reference_seconds`.

    A task: `name, task` (its digest), `device, jax`; `weight`, what a profile saw `per` step or window;
    `trials` (different candidates), `failed`, `failures` ([reason, how many]), `other_failures`; `best`;
    `decided`, whether finalists were compared; `winner`, its time `against` the reference's (ratio, low,
    high), and its `saving` (value, low, high) of the weight; `searches`.

    A search: `algorithm` and `seed` (None: not noted); `trials`, `failed`; `best`, [trial, seconds] where it
    fell; `rounds`, the trial each ended with; `arms`, per sketch how often each round chose it; `entropy` of
    each (None: no policy); `whole`, whether the times of all trials are known.
    """
    tasks: dict[tuple[str, ...], _Task] = {}
    for row in rows:
        key = tuple(part for part in map(row.get, KEY) if isinstance(part, str))
        if len(key) == len(KEY):
            tasks.setdefault(key, _Task()).read(row)
    shown = [
        dict(zip(KEY, map(as_text, key), strict=True)) | task.told()
        for key, task in tasks.items()
        if task.trials
    ]
    return {"schema": SCHEMA, "tasks": sorted(shown, key=lambda task: -(task["weight"] or 0.0))}


@dataclass
class _Search:
    """Rounds that belong together."""

    algorithm: str | None
    seed: int | None
    first: int = 0
    """Trials before the first one known of."""
    times: list[float | None] = field(default_factory=list)
    rounds: list[tuple[list[str], float | None]] = field(default_factory=list)
    whole: bool = True

    @property
    def trials(self) -> int:
        return self.first + len(self.times)

    def add(self, arms: list[str], times: list[float | None], entropy: float | None = None) -> None:
        self.times += times
        self.rounds.append((arms, entropy))

    def resumed_as(self, other: _Search) -> bool:
        """Whether another one repeats all of this: it was killed, and run again."""
        mine, its = (self.algorithm, self.seed, self.first), (other.algorithm, other.seed, other.first)
        return mine == its and self.seed is not None and other.times[: len(self.times)] == self.times

    def told(self) -> dict[str, Any]:
        best: list[list[float]] = []
        for number, seconds in enumerate(self.times, self.first + 1):
            if seconds is not None and (not best or seconds < best[-1][1]):
                best.append([number, seconds])
        ends, end = [], self.first
        for arms, _ in self.rounds:
            end += len(arms)
            ends.append(end)
        counts = Counter(arm for arms, _ in self.rounds for arm in arms)
        return {
            "algorithm": self.algorithm,
            "seed": self.seed,
            "trials": self.trials,
            "failed": sum(seconds is None for seconds in self.times) if self.whole else None,
            "best": best,
            "rounds": ends,
            "arms": {arm: [arms.count(arm) for arms, _ in self.rounds] for arm, _ in counts.most_common()},
            "entropy": [entropy for _, entropy in self.rounds],
            "whole": self.whole,
        }


@dataclass
class _Task:
    """All lines under one key, as they come."""

    reference: float | None = None
    weight: float | None = None
    per: str = "step"
    trials: dict[str, _Row] = field(default_factory=dict)
    searches: list[_Search] = field(default_factory=list)
    since: list[_Row] = field(default_factory=list)
    """Trials since the last round: of a batch that was interrupted, or is under way."""
    ended: bool = True
    """Whether what comes next belongs to another search."""
    verdict: _Row | None = None

    def read(self, row: _Row) -> None:
        """One line, whatever it is."""
        if "sketch" in row:
            self._read_trial(row)
        elif "arms" in row:
            self._read_round(row)
        elif "winner" in row:
            self._add_interrupted()
            self.verdict, self.ended = row, True
        elif "reference_seconds" in row:
            self.reference = self.reference or seconds_in(row["reference_seconds"])
        elif "weight" in row:
            self.weight, self.per = (
                seconds_in(row["weight"]),
                "window" if row.get("per") == "window" else "step",
            )

    def _read_trial(self, row: _Row) -> None:
        choice = _choice(row)
        if choice is None or ("error" not in row and seconds_in(row.get("seconds")) is None):
            return
        self.trials[json.dumps(choice, sort_keys=True)] = row
        self.since.append(row)

    def _read_round(self, row: _Row) -> None:
        arms, times, before = row["arms"], row.get("times"), row.get("before")
        if not isinstance(arms, list) or not all(isinstance(arm, str) for arm in arms):
            return
        arms, algorithm = [as_text(arm) for arm in arms], row.get("algorithm")
        algorithm = as_text(algorithm) if isinstance(algorithm, str) else None
        seed = row["seed"] if type(row.get("seed")) is int else None
        if isinstance(times, list) and len(times) == len(arms) and type(before) is int and 0 <= before < MOST:
            search = self._search(algorithm, seed, before)
            search.add(arms, [seconds_in(time) for time in times], _number(row.get("entropy")))
        else:  # of an earlier version: its new trials stand before it, those known before nowhere
            search = self._old_search(algorithm)
            fresh = [_time(trial) for trial in self.since[-len(arms) :]] if arms else []
            known: list[float | None] = [None] * (len(arms) - len(fresh))
            search.whole &= not known
            search.add(arms, known + fresh, _number(row.get("entropy")))
        self.since.clear()
        self.ended = False

    def _add_interrupted(self) -> None:
        """Trials without a round: the last search's, or of one that wrote no rounds (yet)."""
        if self.since:
            search = self._old_search(None) if self.ended else self.searches[-1]
            search.add([as_text(trial["sketch"]) for trial in self.since], [_time(row) for row in self.since])
            self.since.clear()

    def _search(self, algorithm: str | None, seed: int | None, before: int) -> _Search:
        """The search that a round goes on with."""
        for search in reversed(self.searches if before else []):
            if (search.algorithm, search.seed, search.trials) == (algorithm, seed, before):
                return search
        self.searches.append(_Search(algorithm, seed, before, whole=not before))
        return self.searches[-1]

    def _old_search(self, algorithm: str | None) -> _Search:
        for search in self.searches:
            if (search.algorithm, search.seed) == (algorithm, None):
                return search
        self.searches.append(_Search(algorithm, None))
        return self.searches[-1]

    def told(self) -> dict[str, Any]:
        """Plain data; see `tuning_of`."""
        self._add_interrupted()
        reasons = Counter(_reason(row["error"]) for row in self.trials.values() if "error" in row)
        common = reasons.most_common(MOST_REASONS)
        timed = [row for row in self.trials.values() if "error" not in row]
        best = min(timed, key=lambda row: row["seconds"], default=None)
        winner, against = self._won()
        return {
            "reference_seconds": self.reference,
            "weight": self.weight,
            "per": self.per,
            "trials": len(self.trials),
            "failed": reasons.total(),
            "failures": [list(pair) for pair in common],
            "other_failures": reasons.total() - sum(count for _, count in common),
            "best": best and {"seconds": float(best["seconds"]), **(_choice(best) or {})},
            "decided": self.verdict is not None,
            "winner": winner,
            "against": against,
            "saving": self._saving(winner, against),
            "searches": [
                search.told()
                for number, search in enumerate(self.searches)
                if not any(search.resumed_as(other) for other in self.searches[number + 1 :])
            ],
        }

    def _won(self) -> tuple[_Row | None, list[float] | None]:
        if self.verdict is None:
            return None, None
        found = self.verdict.get("against_reference")
        limits = (
            [seconds_in(found.get(part)) for part in ("ratio", "low", "high")]
            if isinstance(found, dict)
            else []
        )
        against = [limit for limit in limits if limit is not None]
        return _choice(self.verdict["winner"]), against if len(against) == 3 else None

    def _saving(self, winner: _Row | None, against: list[float] | None) -> list[float] | None:
        """Value, low and high; None where nothing was decided, or no profile says what there is to save."""
        if self.weight is None or self.verdict is None:
            return None
        if winner is None or against is None:
            return None if winner else [0.0, 0.0, 0.0]
        ratio, low, high = against
        return [self.weight * (1 - ratio), self.weight * (1 - high), self.weight * (1 - low)]


def _choice(row: Any) -> _Row | None:
    """A candidate in plain values; None for what is none."""
    if not isinstance(row, dict) or not isinstance(row.get("sketch"), str):
        return None
    values = row.get("values")
    if not isinstance(values, dict):
        return None
    return {
        "sketch": as_text(row["sketch"]),
        "values": {as_text(name): _plain(value) for name, value in values.items()},
    }


def _plain(value: Any) -> Any:
    if isinstance(value, bool) or value is None or _number(value) is not None:
        return value
    return as_text(value) if isinstance(value, str) else type(value).__name__


def _number(value: Any) -> float | None:
    """A finite number; JSON as Python reads it holds others too."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def seconds_in(value: Any) -> float | None:
    """A time, or a ratio of times, that can be; None for what is beyond, or none: it is no measurement."""
    number = _number(value)
    return number if number is not None and 1 / MOST <= number <= MOST else None


def _time(trial: _Row) -> float | None:
    return None if "error" in trial else seconds_in(trial["seconds"])


def _reason(error: Any) -> str:
    lines = as_text(error).strip().splitlines() if isinstance(error, str) else []
    return lines[0][:200] if lines else "no reason given"
