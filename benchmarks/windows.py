"""Steps and windows for accuracy.py, each with what was known of the processor's speed.

A virtual core whose other half works for somebody else is half as fast, for tenths of a second at a time.
Whatever shall be compared is therefore timed between two looks at the speed (`rlscope_jax.overhead.pace`), a
look every 1.5 ms at most; the looks alone, not the times, decide what is kept and what it is compared with.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rlscope_jax.overhead.pace import Pace, on_the_fastest_core

if TYPE_CHECKING:
    from rlscope_jax.breakdown.report import Report

BETWEEN_LOOKS = 1_500_000  # ns
MOST_OTHER = 0.1
"""Of a window's steps at most so many at another speed than the rest, for a window that is kept whole."""
CHANGED = -1


class Steps:
    """Steps of a program, between looks at the processor's speed.

    Args:
        confined: keep the process on one core, the fastest of the moment, as if it had no other; to be made
            before jax starts. Else all cores are looked at, which takes longer.
    """

    def __init__(self, confined: bool) -> None:
        self._confined, self._cores = confined, tuple(sorted(os.sched_getaffinity(0)))
        if confined:
            os.sched_setaffinity(0, self._cores[:1])
        self._pace = Pace() if confined else Pace(self._cores)
        self._looked = 0
        self._look()

    @contextmanager
    def on_one_core(self) -> Iterator[None]:
        """Within, a confined process keeps to the core that is the fastest just now."""
        with on_the_fastest_core(self._cores) if self._confined else nullcontext():
            yield

    def wait_for_full_speed(self, patience: float) -> None:
        """Sleep until the machine is at full speed, so many seconds at most; not for several cores."""
        until = time.monotonic() + patience
        while self._confined and time.monotonic() < until:
            with self.on_one_core():
                self._look()
            if self._pace.at_full_speed()[-1]:
                return
            time.sleep(0.01)

    def timed(self, step: Callable[[], None], count: int) -> list[tuple[float, int]]:
        """Take some steps, each timed up to the next with all that is done between them, as `record` does.

        Returns:
            For each (what it took in ns with the look that may follow it, the number of the look before it).
        """
        found = []
        began = time.perf_counter_ns()
        for _ in range(count):
            step()
            before = self.passed()
            now = time.perf_counter_ns()
            found.append((float(now - began), before))
            began = now
        return found

    def timed_alone(self, step: Callable[[], None]) -> tuple[float, int]:
        """Take one step; no look is in what it took: (ns, the number of the look before it)."""
        began = time.perf_counter_ns()
        step()
        took = time.perf_counter_ns() - began
        return float(took), self.passed()

    def passed(self) -> int:
        """A step has been taken: look at the speed if it is time to.

        Returns:
            The number of the look before the step.
        """
        before = self._pace.last
        if time.perf_counter_ns() - self._looked > BETWEEN_LOOKS:
            self._look()
        return before

    def look(self) -> None:
        """Look at the speed now."""
        self._look()

    def _look(self) -> None:
        self._pace.look()
        self._looked = time.perf_counter_ns()

    def speeds(self, befores: list[int]) -> np.ndarray:
        """int64: at which speed each step ran, by the number of the look before it.

        0 is full speed; other numbers say which cores were slow; -1: it changed meanwhile.
        """
        slow = self._pace.slow_cores()
        before = np.array(befores, np.int64)
        after = np.minimum(before + 1, len(slow) - 1)
        return np.where(slow[before] == slow[after], slow[before], CHANGED)

    def are_wanted(self, speeds: np.ndarray) -> np.ndarray:
        """bool: what is compared. Of a confined process only full speed: two cores seldom have it at once."""
        return speeds == 0 if self._confined else speeds != CHANGED

    def speed_of(self, befores: list[int]) -> int:
        """At which speed a whole window ran: that of nearly all of its steps, else `CHANGED`."""
        speeds = self.speeds(befores)
        common = int(np.bincount(speeds[speeds >= 0]).argmax()) if (speeds >= 0).any() else CHANGED
        wanted = self.are_wanted(np.array([common]))[0]
        return common if wanted and (speeds == common).mean() >= 1 - MOST_OTHER else CHANGED

    @property
    def share_at_full_speed(self) -> float:
        """Of all looks."""
        return float(self._pace.at_full_speed().mean())


@dataclass
class Recording:
    """One window with unprofiled steps on either side, on disk; of each step the look before it."""

    logdir: str
    before: list[int]
    recorded: list[int]
    after: list[int]


def record(step: Callable[[], None], steps: Steps, anchors: int, active: int, logdir: str) -> Recording:
    """Record one window of `active` steps between so many unprofiled ones on either side."""
    from rlscope_jax import Schedule, profile

    looks = []
    with profile(logdir, Schedule(wait=anchors + 1, active=active, repeat=1)) as profiler:
        steps.look()
        for _ in range(2 * anchors + active + 2):
            step()
            looks.append(steps.passed())
            profiler.step()
        steps.look()
    begin, end = anchors + 1, anchors + 1 + active
    return Recording(logdir, looks[1:begin], looks[begin:end], looks[end + 1 :])  # less a warm-up each


def report(logdir: str) -> Report:
    """What the report says of a recording."""
    from rlscope_jax import load

    return load(logdir)


def rewrite(logdir: str, **changes: object) -> None:
    """Change what stands beside a recording."""
    for sidecar in Path(logdir).glob("plugins/rlscope/*.json"):
        sidecar.write_text(json.dumps({**json.loads(sidecar.read_text()), **changes}))


def anchors_of(logdir: str) -> dict:
    """The unprofiled steps that stand beside a recording."""
    [sidecar] = Path(logdir).glob("plugins/rlscope/*.json")
    return json.loads(sidecar.read_text())["anchors"]


def keep_anchors_of_its_speed(recording: Recording, steps: Steps) -> bool:
    """Leave only the anchors of the speed at which the window was recorded; whether enough are left."""
    from rlscope_jax.overhead.anchors import LEAST

    anchors, speed = anchors_of(recording.logdir), steps.speed_of(recording.recorded)
    kept: dict[str, list] = {}
    for name, looks in (("steps_ns", recording.before), ("after_ns", recording.after)):
        same = steps.speeds(looks) == speed
        kept[name] = [one for one, good in zip(anchors[name], same, strict=True) if good]
    rewrite(recording.logdir, anchors={**anchors, **kept})
    return speed != CHANGED and len(kept["steps_ns"]) >= LEAST


def method_of(found: Report) -> str:
    """Which correction a report has."""
    [process] = found.processes
    return process.figures.correction.method.name


def steps_in(found: Report) -> dict[str, np.ndarray]:
    """Of each recorded step: its time, raw, corrected, and the corrected one's half-width; ns."""
    [process] = found.processes
    spans = np.array([step.end - step.start for step in process.steps], np.float64)
    correction = process.figures.correction
    half = correction.spread_of_steps(spans)
    return {"raw": spans / 1e3, "corrected": (spans - correction.steps) / 1e3, "half": half / 1e3}


def discard_first_capture(step: Callable[[], None]) -> float:
    """A process' first capture costs more. Nanoseconds of its step."""
    from rlscope_jax import load, profile

    with tempfile.TemporaryDirectory() as logdir:
        with profile(logdir) as profiler:
            step()
            profiler.step()
        return load(logdir).to_dict()["steps"]["wall"]["median"]["raw"]


def step_time(step: Callable[[], None]) -> float:
    """About what an unprofiled step takes, ns."""
    return statistics.median(_timed(step) for _ in range(5))


def fitting(seconds: float, nanoseconds: float, least: int, most: int) -> int:
    """How many steps of such a length fit into so many seconds."""
    return int(np.clip(seconds * 1e9 / nanoseconds, least, most))


def _timed(step: Callable[[], None]) -> float:
    began = time.perf_counter_ns()
    step()
    return float(time.perf_counter_ns() - began)
