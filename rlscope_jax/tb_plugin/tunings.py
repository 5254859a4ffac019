"""What the tuning records under the log directories hold: small enough to be read when asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from rlscope_jax.tune.database import Database
from rlscope_jax.tune.errors import TuneError
from rlscope_jax.tune.searches import tuning_of

_OPENED = 8  # records kept at hand


class Tunings:
    """Reads records; one that has not changed since is not read again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read: OrderedDict[Path, tuple[tuple[int, int], dict[str, Any]]] = OrderedDict()

    def of(self, path: Path) -> dict[str, Any]:
        """What `tuning_of` says of the record, as it is now.

        Raises:
            TuneError: it is gone, cannot be read, or is too large.
        """
        with self._lock:
            try:
                status = path.stat()
            except OSError as error:
                raise TuneError(f"{path} cannot be read: {error.strerror or error}") from error
            version = status.st_mtime_ns, status.st_size
            known = self._read.get(path)
            if known is None or known[0] != version:
                self._read[path] = version, tuning_of(Database(path).rows())
            self._read.move_to_end(path)
            while len(self._read) > _OPENED:
                self._read.popitem(last=False)
            return self._read[path][1]
