"""Trials on disk: one JSON object a line, appended as they are measured, so that a kill loses at most one."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.space import Candidate, Space
from rlscope_jax.tune.task import TuneTask
from rlscope_jax.tune.trial import Trial


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


def processor() -> str:
    """The model of the processor and how many of them this process may see."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as lines:
            model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{model} x{os.cpu_count()}"


class Database:
    """A file of trials of any number of tasks and machines.

    Args:
        path: the file; made with its folder when the first trial is added.

    Raises:
        TuneError: the path cannot be read or written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def trials(self, space: Space, key: Key) -> dict[Candidate, Trial]:
        """What is known of a task under a key; the latest of several. Lines that are cut short, foreign, or
        of choices that the space no longer has are passed over.
        """
        found = {}
        for row in self._rows(key):
            if "sketch" in row:
                try:
                    trial = Trial.from_json(row, space)
                except (KeyError, ValueError, TypeError):
                    continue
                found[trial.candidate] = trial
        return found

    def reference_seconds(self, key: Key) -> float | None:
        """What one call of the reference took when it was first timed; None before."""
        for row in self._rows(key):
            if isinstance(row.get("reference_seconds"), float):
                return row["reference_seconds"]
        return None

    def add(self, space: Space, key: Key, trial: Trial) -> None:
        """Append a trial; it is on disk when this returns."""
        self._append(asdict(key) | trial.to_json(space))

    def add_reference(self, key: Key, seconds: float) -> None:
        """Note what one call of the reference takes: the unit of all trials' seconds."""
        self._append(asdict(key) | {"reference_seconds": seconds})

    def _append(self, row: dict[str, Any]) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+") as file:
                if file.seek(0, os.SEEK_END):
                    file.seek(-1, os.SEEK_END)
                    if (
                        file.read(1) != b"\n"
                    ):  # a kill cut the last line short: end it, it will be passed over
                        file.write(b"\n")
                file.write(json.dumps(row).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise TuneError(f"cannot write the tuning database {self.path}: {error.strerror}") from error

    def _rows(self, key: Key) -> Iterator[dict[str, Any]]:
        try:
            text = self.path.read_text(errors="replace")
        except FileNotFoundError:
            return
        except OSError as error:
            raise TuneError(f"cannot read the tuning database {self.path}: {error.strerror}") from error
        wanted = asdict(key)
        for line in text.splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict) and all(row.get(name) == value for name, value in wanted.items()):
                yield row
