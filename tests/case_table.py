"""What a case script says of itself, its TRUTH, against what the report says of its profile.

A case is a script that records a profile of some trouble and prints `TRUTH {json}`. The tests have a table:
to each key of TRUTH the path in the report's JSON that must give the same number, or why there is none.

    programs[function=act].runs          the sum over the items of a list that match; [] matches all
    health.problems[code=no_hlo]         how many items match
    counts.dispatches / window.steps     a ratio
    truth.callbacks                      a number of TRUTH itself
"""

from __future__ import annotations

import json
import operator
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rlscope_jax import load

_COMPARISONS = {"==": operator.eq, ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
_KEY = re.compile(r"(\w+)(?:\[(?:(\w+)=)?([^\]]*)\])?")


@dataclass(frozen=True)
class Case:
    """What is known of one profile."""

    counts: Mapping[str, str]
    """Keys of TRUTH -> the path of the same number in the report."""
    expect: tuple[str, ...] = ()
    """Comparisons that hold: `path > number` or `path > path`."""
    first: str = ""
    """The code of the first finding; "" where there is none of high severity."""
    times: tuple[str, ...] = ()
    """Keys of TRUTH that are wall-clock times, or ratios of them: never asserted."""
    unseen: Mapping[str, str] = field(default_factory=dict)
    """Keys of TRUTH that the report does not hold, and why."""
    faults: Mapping[str, str] = field(default_factory=dict)
    """Keys and comparisons that do not hold yet, and why."""


def each(cases: Mapping[str, Case], which: str) -> list:
    """(case, check) of every case's `counts` or `expect`, for a test; faults are strict expected failures."""
    found = []
    for name, case in cases.items():
        for check in getattr(case, which):
            reason = case.faults.get(check)
            marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
            found.append(pytest.param(name, check, id=f"{name}-{check}", marks=marks))
    return found


def record(script: Path, logdir: Path, *arguments: str) -> dict[str, Any]:
    """Run a case in a process of its own, and return its TRUTH."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_"))}
    done = subprocess.run(
        [sys.executable, script, logdir, *arguments],
        env={**kept, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (said,) = (line for line in done.stdout.splitlines() if line.startswith("TRUTH "))
    return json.loads(said.removeprefix("TRUTH "))


def report_of(logdir: Path, truth: Mapping[str, Any]) -> dict[str, Any]:
    """The report of a recorded case, with its TRUTH beside it."""
    return {**load(logdir).to_dict(), "truth": truth}


def says_the_same(report: Mapping[str, Any], key: str, path: str) -> None:
    """Assert that the report has TRUTH's number: exactly, rounded where that is; of "about n" within 3 %."""
    truth, found = report["truth"][key], figure(report, path)
    if isinstance(truth, str):
        about = re.match(r"about (\d+)", truth)
        assert about, f"{key}: {truth!r} is no number"
        assert found == pytest.approx(int(about[1]), rel=0.03)
    elif isinstance(truth, float):
        assert round(found, 1) == truth
    else:
        assert found == truth


def holds(report: Mapping[str, Any], comparison: str) -> None:
    """Assert a comparison of two paths, or of a path and a number."""
    left, sign, right = re.split(r" (==|>=|<=|>|<) ", comparison)
    assert _COMPARISONS[sign](figure(report, left), figure(report, right)), (
        f"{figure(report, left)} {sign} {right}"
    )


def finds_first(report: Mapping[str, Any], code: str) -> None:
    """Assert which finding comes first, sorted by gain; for "" that none is of high severity."""
    told = [(finding["code"], finding["severity"]) for finding in report["findings"]]
    gains = [finding["gain_ns"] for finding in report["findings"]]
    assert gains == sorted(gains, reverse=True)
    if code:
        assert [known for known, _ in told][:1] == [code], told
    else:
        assert "high" not in [severity for _, severity in told], told


def figure(report: Mapping[str, Any], path: str) -> float:
    """The number at a path; fails where the report does not know it."""
    top, *bottom = (_number(report, part) for part in path.split(" / "))
    return top / bottom[0] if bottom else top


def _number(report: Mapping[str, Any], path: str) -> float:
    if path[0].isdigit():
        return float(path)
    found: list[Any] = [report]
    for key, name, value in _KEY.findall(path):
        found = [each[key] for each in found]
        if found and isinstance(found[0], list):
            found = [item for items in found for item in items if not name or str(item[name]) == value]
    if any(isinstance(each, Mapping) for each in found):
        return len(found)
    assert None not in found, f"{path} is not known"
    return sum(found)
