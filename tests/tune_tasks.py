"""Tuning tasks for tests: small enough to build at once, and some that misbehave."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import sys
import time
from typing import Any

import jax
import numpy as np

from rlscope_jax.tune import Param, Sketch, Space, TuneTask
from rlscope_jax.tune.table import PADDING, Table


def double(x: Any) -> Any:
    return x * 2


def _misbehave(values: dict[str, Any]) -> Any:
    how = values["how"]
    if how == "raises":
        raise ValueError("no such schedule\nand more lines")

    if how == "exits":
        sys.exit("enough")
    if how == "donates":
        return jax.jit(double, donate_argnums=0)

    def run(x: Any) -> Any:
        if how == "crashes":
            ctypes.string_at(0)
        if how == "forks" and os.fork() == 0:
            return x  # the child goes on as if it were the process that is asked
        if how == "reads":
            input()
        if how == "hangs":
            time.sleep(60)
        if how == "prints":
            print("chatter where the answers go")
        if how == "fails":
            raise RuntimeError("cannot run")
        x = np.asarray(x)
        if how == "wrong":
            return x * 3
        if how == "nan":
            return np.where(x == x.max(), np.nan, x * 2).astype(np.float32)
        if how == "shape":
            return x[:2] * 2
        return x * 2

    return run


RIGHT = ("right", "prints", "forks")
WRONG = ("wrong", "nan", "shape", "fails", "raises", "exits", "donates", "reads", "crashes", "hangs")


def misbehaving() -> TuneTask:
    """One sketch whose parameter says how it goes wrong."""
    sketch = Sketch((Param("how", RIGHT + WRONG),), _misbehave)
    return TuneTask("misbehaving", (np.arange(4, dtype=np.float32),), double, {"only": sketch})


def hopeless(how: str) -> TuneTask:
    """A task whose reference goes wrong."""
    task = misbehaving()
    return dataclasses.replace(task, reference=_misbehave({"how": how}))


def broken() -> TuneTask:
    """No task at all."""
    raise KeyError("no shapes today")


def small_table() -> Table:
    """Two sketches, 123 points, times that a formula gives."""
    sketches = {
        "tiles": [
            {"name": "rows", "kind": "tile", "values": [1, 2, 4, 8]},
            {"name": "unroll", "kind": "unroll", "values": [1, 2, 4, 8]},
            {"name": "parallel", "kind": "par", "values": ["none", "rows", "both"]},
            {"name": "stage", "kind": "loc", "values": ["root", "tile"]},
        ],
        "lines": [
            {"name": "rows", "kind": "tile", "values": [1, 2, 4, 8, 16]},
            {"name": "order", "kind": "choice", "values": ["xy", "yx", "both"]},
            {"name": "remat", "kind": "choice", "values": [False, True]},
        ],
    }
    space = Space(
        {
            name: Sketch(tuple(Param(p["name"], tuple(p["values"]), p["kind"]) for p in params), _misbehave)
            for name, params in sketches.items()
        }
    )
    points = [point for point in space.every() if sum(point.levels) != 6]
    ratios = [
        1 + abs(p.levels[0] - 2) + 0.3 * p.levels[1] + 0.1 * p.levels[2] + 0.5 * (p.sketch == "lines")
        for p in points
    ]
    rows = {
        "sketch": np.array([space.names.index(point.sketch) for point in points], np.uint8),
        "levels": np.array([[*p.levels, *[PADDING] * (4 - len(p.levels))] for p in points], np.uint8),
        "ratio": np.array(ratios, np.float32),
        "low": np.array(ratios, np.float32) * 0.98,
        "high": np.array(ratios, np.float32) * 1.02,
        "rounds": np.full(len(points), 6, np.uint8),
    }
    rows["smooth"] = rows["ratio"]
    rows["ratio"] = rows["ratio"].copy()
    rows["ratio"][5] = np.nan  # one failure
    header = {
        "name": "small",
        "digest": "0",
        "device": "none",
        "jax": "0",
        "seconds": 1e-3,
        "sketches": sketches,
    }
    return Table(header, rows)
