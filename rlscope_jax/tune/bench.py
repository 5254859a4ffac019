"""Build candidates of one task in this process, check them, and time them against an incumbent."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import jax
import numpy as np

from rlscope_jax.annotate import operation
from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.space import Candidate
from rlscope_jax.tune.task import TuneTask
from rlscope_jax.tune.timing import Effort, Paired, paired

REFERENCE_CALLS = 21
REFERENCE_LIMIT = 10.0
"""Seconds after which fewer calls must do."""


class CandidateError(Exception):
    """A candidate cannot be timed: it raises, or computes something else."""


class Bench:
    """See the module. None as a candidate means the reference.

    Args:
        task: what to build.
        inside_jit: every candidate as it would be in the user's program: exported, and jitted.
    """

    def __init__(self, task: TuneTask, inside_jit: bool = False) -> None:
        self.task = task
        self._inside_jit = inside_jit
        self._kept: dict[Candidate | None, Callable[[], Any]] = {}

    @cached_property
    def _args(self) -> Any:
        return jax.device_put(self.task.args)

    def reference_seconds(self) -> float:
        """What one call of the reference takes: the median of `REFERENCE_CALLS`, or of what time allows.

        Raises:
            TuneError: it raises.
        """
        try:
            with self._blamed():
                run = self._ready(None)
                times: list[float] = []
                while len(times) < REFERENCE_CALLS and sum(times) < REFERENCE_LIMIT:
                    started = time.perf_counter()
                    run()
                    times.append(time.perf_counter() - started)
        except CandidateError as error:
            raise TuneError(f"the reference raises {error}") from error
        return float(np.median(times))

    def measure(self, candidate: Candidate | None, against: Candidate | None, effort: Effort) -> Paired:
        """Check a candidate and time it against another one.

        Raises:
            CandidateError: it raises or is wrong, or is right but cannot be timed here.
        """
        try:
            with self._blamed():
                run = self._ready(candidate)
                untimed = None if candidate is None else self.task.sketches[candidate.sketch].untimed()
                if untimed:
                    raise CandidateError(f"right, but not timed: {untimed}")
                other = self._ready(against)
                with operation("measure"):
                    return paired(run, other, effort)
        finally:  # the candidate too: it may be measured again, or be the next incumbent
            self._kept = {kept: self._kept[kept] for kept in (None, against, candidate) if kept in self._kept}

    @contextmanager
    def _blamed(self) -> Iterator[None]:
        """Whatever is raised here is a CandidateError, in one line."""
        try:
            yield
        except (Exception, SystemExit) as error:
            self.__dict__.pop("_args", None)  # they may have been donated
            if isinstance(error, CandidateError):
                raise
            lines = str(error).strip().splitlines() or [""]
            raise CandidateError(f"{type(error).__name__}: {lines[0][:300]}") from error

    def _ready(self, candidate: Candidate | None) -> Callable[[], Any]:
        """Built, checked, and bound to the arguments."""
        if candidate not in self._kept:
            with operation("build"):
                function = self._build(candidate)
                result = jax.block_until_ready(function(*self._args))
            wrong = None if candidate is None else self.task.check(result)
            if wrong:
                raise CandidateError(wrong)
            self._kept[candidate] = lambda: jax.block_until_ready(function(*self._args))
        return self._kept[candidate]

    def _build(self, candidate: Candidate | None) -> Callable[..., Any]:
        if candidate is None:
            return jax.jit(self.task.reference)
        if self._inside_jit:
            return jax.jit(self.task.export(candidate))
        return self.task.build(candidate)
