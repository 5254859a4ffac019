"""What a search leaves beside the profile that it was for, so that the TensorBoard tab finds it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rlscope_jax.tune.database import Database, Key
from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.searches import RECORD_NAME


class BesideProfile(Database):
    """A database whose lines on some tasks are in a file of the profile's directory too.

    Where that cannot be written the search goes on without, with a warning.

    Args:
        path: the record.
        logdir: the profile's directory.
        keys: of the tasks; what the record knows of them already is copied first.

    Raises:
        TuneError: the record cannot be read.
    """

    def __init__(self, path: str | Path, logdir: str | Path, keys: Sequence[Key]) -> None:
        super().__init__(path)
        beside = Database(Path(logdir) / RECORD_NAME)
        self._beside = None if beside.path.resolve() == self.path.resolve() else beside
        known = self._known_beside()
        wanted = [asdict(key).items() for key in keys]
        for row in self.rows():
            if any(key <= row.items() for key in wanted) and json.dumps(row) not in known:
                self._copy(row)

    @property
    def beside(self) -> Path | None:
        """The other file, while it can be written."""
        return self._beside.path if self._beside else None

    def _append(self, row: dict[str, Any]) -> None:
        super()._append(row)
        self._copy(row)

    def _known_beside(self) -> set[str]:
        try:
            return {json.dumps(row) for row in self._beside.rows()} if self._beside else set()
        except TuneError as error:
            self._leave(error)
            return set()

    def _copy(self, row: dict[str, Any]) -> None:
        if self._beside is not None:
            try:
                self._beside._append(row)
            except TuneError as error:
                self._leave(error)

    def _leave(self, error: TuneError) -> None:
        self._beside = None
        warnings.warn(f"the TensorBoard tab will not show this search: {error}", RuntimeWarning, stacklevel=3)
