"""Trials on disk: one JSON object a line, appended as they are measured, so that a kill loses at most one."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path
from typing import Any

from rlscope_jax._process import processor
from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.searches import seconds_in
from rlscope_jax.tune.space import Candidate, Space
from rlscope_jax.tune.task import TuneTask
from rlscope_jax.tune.timing import Paired
from rlscope_jax.tune.trial import Trial

MOST_BYTES = 256_000_000
"""Of a file that is read: some 500,000 trials, a few seconds."""


@dataclass(frozen=True)
class Key:
    """Where a measurement holds: nowhere else.

    Args:
        device: what ran it, as jax names it, with the host's processor where that is a CPU.
        jax: jax's version.
        task: `TuneTask.digest`.
        name: the task's name, for people.
    """

    name: str
    device: str
    jax: str
    task: str


def key_of(task: TuneTask) -> Key:
    """The key of a task on this machine."""
    import jax

    device = jax.devices()[0]
    name = device.device_kind if device.platform != "cpu" else f"cpu {processor()}"
    return Key(task.name, name, jax.__version__, task.digest)


def default_path() -> Path:
    """Where winners are kept if nobody says where: $RLSCOPE_JAX_TUNE, else a file of the user's cache."""
    from platformdirs import user_cache_path

    named = os.environ.get("RLSCOPE_JAX_TUNE")
    return Path(named) if named else user_cache_path("rlscope-jax") / "tune.jsonl"


class Database:
    """A file of trials of any number of tasks and machines. It is read when it has changed since it was last.

    Args:
        path: the file; made with its folder when the first trial is added.

    Raises:
        TuneError: the path cannot be read or written, is no regular file, or has more than `MOST_BYTES`.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._known: list[dict[str, Any]] = []
        self._version: tuple[int, int] | None = None
        """Of the file when it held what is known: its size and time."""

    def trials(self, space: Space, key: Key) -> dict[Candidate, Trial]:
        """What is known of a task under a key; the latest of several. Lines that are cut short, foreign, or
        of choices that the space no longer has are passed over.
        """
        found = {}
        for row in self._rows(key):
            if "sketch" in row:
                try:
                    trial = Trial.from_json(row, space)
                except (KeyError, ValueError, TypeError, OverflowError):
                    continue
                found[trial.candidate] = trial
        return found

    def reference_seconds(self, key: Key) -> float | None:
        """What one call of the reference took when it was first timed; None before."""
        times = (seconds_in(row.get("reference_seconds")) for row in self._rows(key))
        return next((time for time in times if time is not None), None)

    def add(self, space: Space, key: Key, trial: Trial) -> None:
        """Append a trial; it is on disk when this returns."""
        self._append(asdict(key) | trial.to_json(space))

    def add_reference(self, key: Key, seconds: float) -> None:
        """Note what one call of the reference takes: the unit of all trials' seconds."""
        self._append(asdict(key) | {"reference_seconds": seconds})

    def add_winner(self, space: Space, key: Key, winner: Candidate | None, against: Paired | None) -> None:
        """Note what a search came to; None: nothing beats the reference."""
        row: dict[str, Any] = {"winner": None, "against_reference": asdict(against) if against else None}
        if winner is not None:
            row["winner"] = {"sketch": winner.sketch, "values": space.values(winner)}
        self._append(asdict(key) | row)

    def winner(self, space: Space, key: Key) -> Candidate | None:
        """The latest winner; None where none was noted, or where nothing beat the reference."""
        found = None
        for row in self._rows(key):
            if "winner" in row:
                try:
                    found = row["winner"] and space.candidate(
                        row["winner"]["sketch"], row["winner"]["values"]
                    )
                except (KeyError, ValueError, TypeError):
                    found = None
        return found

    def verdict(self, key: Key) -> Paired | None:
        """The latest winner's time over the reference's, inside jit; None without a winner."""
        found = None
        for row in self._rows(key):
            if "winner" in row:
                try:
                    found = Paired(**row["against_reference"]) if row["winner"] else None
                except (KeyError, TypeError):
                    found = None
        return found

    def add_round(
        self, key: Key, algorithm: str, seed: int, before: int, found: Sequence[Trial], entropy: float
    ) -> None:
        """Note a batch of a search, so that its curve can be rebuilt: what was known before is not added.

        Args:
            before: how many trials this search had already; 0 begins a search.
            found: the batch, in order.
            entropy: how undecided the policy is, nats; not a number where there is none (yet).
        """
        self._append(
            asdict(key)
            | {
                "algorithm": algorithm,
                "seed": seed,
                "before": before,
                "arms": [trial.candidate.sketch for trial in found],
                "times": [trial.seconds if trial.error is None else None for trial in found],
                "entropy": None if isnan(entropy) else entropy,
            }
        )

    def add_weight(self, key: Key, seconds: float, per: str) -> None:
        """Note what a profile saw the task's operation take.

        Args:
            per: of what: "step", or "window" where the profile has no steps.
        """
        self._append(asdict(key) | {"weight": seconds, "per": per})

    def rows(self) -> list[dict[str, Any]]:
        """Every line that can be read, whatever its key."""
        return list(self._read())

    def _append(self, row: dict[str, Any]) -> None:
        line = json.dumps(row).encode() + b"\n"
        try:
            self._status("write")
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+") as file:
                before = os.fstat(file.fileno())
                if file.seek(0, os.SEEK_END):
                    file.seek(-1, os.SEEK_END)
                    if (
                        file.read(1) != b"\n"
                    ):  # a kill cut the last line short: end it, it will be passed over
                        file.write(b"\n")
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
                after = os.fstat(file.fileno())
        except OSError as error:
            raise TuneError(f"cannot write the tuning database {self.path}: {error.strerror}") from error
        if _version(before) == self._version and after.st_size == before.st_size + len(line):
            self._known.append(json.loads(line))  # nobody else wrote: what was read is still what it holds
            self._version = _version(after)

    def _rows(self, key: Key) -> Iterator[dict[str, Any]]:
        wanted = asdict(key)
        return (row for row in self._read() if all(row.get(name) == value for name, value in wanted.items()))

    def _read(self) -> list[dict[str, Any]]:
        """All rows."""
        try:
            status = self._status("read")
            version = _version(status) if status else None
            if version is None or version != self._version:
                text = self.path.read_text(errors="replace") if status else ""
                self._known, self._version = list(_parsed(text)), version
        except OSError as error:
            raise TuneError(f"cannot read the tuning database {self.path}: {error.strerror}") from error
        return self._known

    def _status(self, verb: str) -> os.stat_result | None:
        """The file's; None where there is none yet."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(status.st_mode):
            raise TuneError(f"cannot {verb} the tuning database {self.path}: it is no regular file")
        if status.st_size > MOST_BYTES and verb == "read":
            raise TuneError(
                f"{self.path} has {status.st_size / 1e6:,.0f} MB, too much for a tuning database; "
                f"rename it, or split it by lines"
            )
        return status


def _version(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def _parsed(text: str) -> Iterator[dict[str, Any]]:
    """Every line that is an object."""
    for line in text.split("\n"):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row
