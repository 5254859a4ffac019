"""Which rows of a report are shown, and in what order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rlscope_jax.reporters.overhead import wall_of_row

SORTS = ("wall", "device", "host", "name")
_DIRECTIONS = (None, "forward", "recompute", "backward")  # in the order shown
_WORTH_SHOWING = 0.0005  # of the wall time, with everything below it

Operation = dict[str, Any]


@dataclass(frozen=True)
class Rows:
    """The rows to show, and how much is not."""

    shown: list[Operation]
    left_out: int
    left_out_share: float
    """Their part of the wall time, %."""


def select(
    data: dict[str, Any], sort: str = "wall", top: int | None = None, process: int | None = None
) -> Rows:
    """Choose and order a report's rows.

    Parents stand before children, siblings by what they and their children took, specials last. A row that
    took next to nothing, with all below it, is left out, unless it counts something the table shows.

    Args:
        data: `Report.to_dict()`.
        sort: one of `SORTS`.
        top: the most rows to show, those of most weight; None for all.
        process: the only process to show.
    """
    told = [
        row
        for row in data["operations"]
        if _says_something(row) and (process is None or row["process"] == process)
    ]
    wall = sum(map(_wall, told))
    weights = _weights(told, sort)
    by_wall = weights if sort == "wall" else _weights(told, "wall")
    enough = [row for row in told if _counts(row) or _weight(by_wall, row) >= _WORTH_SHOWING * wall]
    if top is not None:
        enough = _with_parents(sorted(enough, key=lambda row: -_own(row, sort))[:top], enough)
    kept = {id(row) for row in enough}
    rest = [row for row in told if id(row) not in kept]
    return Rows(
        _ordered(enough, weights, sort), len(rest), 100 * sum(map(_wall, rest)) / wall if wall else 0.0
    )


def _wall(row: Operation) -> int:
    return wall_of_row(row, "raw")


def _own(row: Operation, sort: str) -> int:
    if sort == "device":
        return row["device"]["self"]["raw"] or 0
    return row["host"]["self"]["raw"] or 0 if sort == "host" else _wall(row)


def _weights(operations: list[Operation], sort: str) -> dict[tuple, int]:
    """Per (process, path parts): what the operation and all below it took."""
    weights: dict[tuple, int] = {}
    for row in operations:
        parts = tuple(row["path"].split("/"))
        for depth in range(1, len(parts) + 1):
            key = row["process"], parts[:depth]
            weights[key] = weights.get(key, 0) + _own(row, sort)
    return weights


def _weight(weights: dict[tuple, int], row: Operation) -> int:
    return weights[row["process"], tuple(row["path"].split("/"))]


def _ordered(operations: list[Operation], weights: dict[tuple, int], sort: str) -> list[Operation]:
    def place(row: Operation) -> tuple:
        parts = tuple(row["path"].split("/"))
        branch = [
            (0 if sort == "name" else -weights[row["process"], parts[:depth]], parts[depth - 1])
            for depth in range(1, len(parts) + 1)
        ]
        return row["process"], row["path"].startswith("("), branch, _DIRECTIONS.index(row["direction"])

    return sorted(operations, key=place)


def _with_parents(chosen: list[Operation], operations: list[Operation]) -> list[Operation]:
    """The chosen rows and those above them, without which their names would hang in the air."""
    needed = {(row["process"], row["path"]) for row in chosen}
    ids = {id(row) for row in chosen}
    return [
        row
        for row in operations
        if id(row) in ids
        or (
            row["direction"] is None
            and any(
                process == row["process"] and path.startswith(row["path"] + "/") for process, path in needed
            )
        )
    ]


def _counts(row: Operation) -> bool:
    host = row["host"]
    return bool(host["dispatches"] + host["compiles"] + host["callbacks"])


def _says_something(row: Operation) -> bool:
    device = row["device"]
    return bool(_wall(row) or device["total"]["raw"] or device["ops"] or row["host"]["syncs"] or _counts(row))
