"""What one measured candidate came to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from rlscope_jax.tune.space import Candidate, Space


@dataclass(frozen=True)
class Trial:
    """A candidate, measured or failed.

    Args:
        candidate: which.
        seconds: one call of it on the machine as it was when the reference was first timed: the product of
            the ratios that lead from it to the reference, times the reference's seconds. Infinite for a
            failure.
        ratio, low, high: its time over its incumbent's, with the interval; NaN for a failure.
        rounds: the paired rounds behind that; 0 for a failure.
        against: the incumbent of that pair; None for the reference.
        error: why there is no time: what it raised, how its result was wrong, that it hung or crashed.
    """

    candidate: Candidate
    seconds: float = math.inf
    ratio: float = math.nan
    low: float = math.nan
    high: float = math.nan
    rounds: int = 0
    against: Candidate | None = field(default=None)
    error: str | None = None

    def to_json(self, space: Space) -> dict[str, Any]:
        """Plain values for one line of a database: choices by value, so that domains may grow."""
        row: dict[str, Any] = {"sketch": self.candidate.sketch, "values": space.values(self.candidate)}
        if self.error is not None:
            return row | {"error": self.error}
        row |= {"seconds": self.seconds, "ratio": self.ratio, "low": self.low, "high": self.high}
        row["rounds"] = self.rounds
        if self.against is not None:
            row["against"] = {"sketch": self.against.sketch, "values": space.values(self.against)}
        return row

    @classmethod
    def from_json(cls, row: dict[str, Any], space: Space) -> Trial:
        """The inverse of `to_json`.

        Raises:
            KeyError, ValueError, TypeError, OverflowError: the space has no such sketch, parameter or value
                (any more); the row is not what `to_json` writes.
        """
        candidate = space.candidate(row["sketch"], row["values"])
        if "error" in row:
            return cls(candidate, error=str(row["error"]))
        seconds, ratio, low, high = (float(row[name]) for name in ("seconds", "ratio", "low", "high"))
        if not 0 < seconds < math.inf:
            raise ValueError(f"{seconds} is no time")
        against = row.get("against")
        if against is not None:
            against = space.candidate(against["sketch"], against["values"])
        return cls(candidate, seconds, ratio, low, high, int(row["rounds"]), against)
