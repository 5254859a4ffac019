"""Measure candidates so that one can trust it: in pairs with the best so far, and again at the end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from rlscope_jax.tune.bench import CandidateError
from rlscope_jax.tune.database import Database, Key
from rlscope_jax.tune.search import Measurer
from rlscope_jax.tune.space import Candidate, Space
from rlscope_jax.tune.timing import Effort, Paired
from rlscope_jax.tune.trial import Trial

CONFIRM = Effort(min_rounds=15, max_rounds=45, width=0.03, hopeless=math.inf)
"""Of a candidate that seems to beat the incumbent, and of the finalists."""


class PairedBench(Protocol):
    """A `Bench`, or a `Worker` in front of one."""

    def reference_seconds(self) -> float:
        """Seconds of one call of the reference."""

    def measure(self, candidate: Candidate | None, against: Candidate | None, effort: Effort) -> Paired:
        """Time one against the other; None is the reference. Raises CandidateError."""


class LiveMeasurer:
    """Times each candidate against the fastest one so far (at first the reference).

    A candidate whose interval lies below 1 is measured once more, and that second result, which luck did not
    choose, is the one that counts; if it confirms the first, the candidate is the next incumbent. Seconds
    are products of such ratios with the reference's seconds, so that a slower hour does not make slower
    candidates.

    Args:
        bench: what times pairs.
        reference_seconds: of an earlier session, to go on in its unit; measured if None.
        effort: of a first look at a candidate.
    """

    def __init__(
        self, bench: PairedBench, reference_seconds: float | None = None, effort: Effort | None = None
    ) -> None:
        self._bench = bench
        self.reference_seconds = bench.reference_seconds() if reference_seconds is None else reference_seconds
        self._effort = effort or Effort()
        self.incumbent: Candidate | None = None
        self.incumbent_seconds = self.reference_seconds

    def measure(self, candidates: Sequence[Candidate]) -> list[Trial]:
        """One after the other."""
        return [self._measure(candidate) for candidate in candidates]

    def remember(self, trial: Trial) -> None:
        """Learn of a trial of an earlier session: it may be the incumbent."""
        if trial.error is None and trial.high < 1 and trial.seconds < self.incumbent_seconds:
            self.incumbent, self.incumbent_seconds = trial.candidate, trial.seconds

    def _measure(self, candidate: Candidate) -> Trial:
        try:
            found = self._bench.measure(candidate, self.incumbent, self._effort)
            if found.high < 1:
                found = self._bench.measure(candidate, self.incumbent, CONFIRM)
        except CandidateError as error:
            return Trial(candidate, error=str(error))
        trial = Trial(
            candidate,
            seconds=found.ratio * self.incumbent_seconds,
            ratio=found.ratio,
            low=found.low,
            high=found.high,
            rounds=found.rounds,
            against=self.incumbent,
        )
        self.remember(trial)
        return trial


class Recorded:
    """A measurer with a memory on disk: what was measured under this key is not measured again.

    A search that was killed is resumed by running it again with its seed: it proposes the same candidates,
    and the database answers as far as it knows.
    """

    def __init__(self, measurer: Measurer, database: Database, space: Space, key: Key) -> None:
        self._measurer, self._database, self._space, self._key = measurer, database, space, key
        self._known = database.trials(space, key)

    def measure(self, candidates: Sequence[Candidate]) -> list[Trial]:
        """Each is on disk before the next one is begun."""
        return [self._measure(candidate) for candidate in candidates]

    def remember(self, trial: Trial) -> None:
        """See `Measurer`."""
        self._measurer.remember(trial)

    def _measure(self, candidate: Candidate) -> Trial:
        known = self._known.get(candidate)
        if known is not None:
            self._measurer.remember(known)
            return known
        (trial,) = self._measurer.measure([candidate])
        self._database.add(self._space, self._key, trial)
        self._known[candidate] = trial
        return trial


@dataclass(frozen=True)
class Verdict:
    """What a search comes to.

    Args:
        winner: None where nothing is reliably faster than the reference.
        against_reference: the best finalist's time over the reference's, measured anew; None where no
            finalist beat the reference.
        finalists: the candidates that were compared.
        failures: why finalists could not be compared: candidate -> reason.
    """

    winner: Candidate | None
    against_reference: Paired | None
    finalists: tuple[Candidate, ...]
    failures: Mapping[Candidate, str] = field(default_factory=dict)


def decide(bench: PairedBench, trials: Sequence[Trial], top: int = 5, effort: Effort = CONFIRM) -> Verdict:
    """Measure the best trials again, in pairs, and the best of them against the reference.

    The reference holds the title first; each finalist takes it by an interval below 1. The last holder must
    beat the reference once more in the same way.
    """
    done = sorted((trial for trial in trials if trial.error is None), key=lambda trial: trial.seconds)
    finalists = tuple(dict.fromkeys(trial.candidate for trial in done))[:top]
    failures: dict[Candidate, str] = {}

    def measure(challenger: Candidate, champion: Candidate | None) -> Paired | None:
        try:
            return bench.measure(challenger, champion, effort)
        except CandidateError as error:
            failures[challenger] = str(error)
            return None

    champion: Candidate | None = None
    for challenger in finalists:
        found = measure(challenger, champion)
        if found is not None and found.high < 1:
            champion = challenger
    final = None if champion is None else measure(champion, None)
    won = final is not None and final.high < 1
    return Verdict(champion if won else None, final, finalists, failures)
