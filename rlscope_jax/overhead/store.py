"""Where a machine's constants are kept: a small file for each machine, jaxlib, backend and set of options."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rlscope_jax._process import processor
from rlscope_jax.errors import RlscopeError
from rlscope_jax.overhead.constants import Constants

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

SCHEMA = "rlscope_jax.calibration/5"
OPTIONS = "host2"
"""The profiler options calibrated: host tracer level 2, Python tracer off, as `profile()` records."""


def store_path(host: str, jaxlib: str | None, backend: str | None) -> Path:
    """The file of one machine's constants, whether it exists or not."""
    from platformdirs import user_cache_path

    key = "-".join([host, backend or "unknown", f"jaxlib{jaxlib or 'unknown'}", OPTIONS])
    safe = re.sub(r"[^\w.-]+", "_", key)
    return user_cache_path("rlscope-jax") / "calibration" / f"{safe}.json"


@contextmanager
def measuring(path: Path) -> Iterator[None]:
    """Hold the place of a file while what it shall hold is measured: two at once would slow each other.

    Raises:
        OSError: the cache directory cannot be written; better said before measuring than after.
        RlscopeError: somebody else is measuring.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "a directory stands in its place")
    with open(path.parent / ".measuring", "w") as lock:
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise RlscopeError(
                    "another `rlscope-jax calibrate` is measuring on this machine, and two at once would "
                    "slow each other. Wait for it to end."
                ) from error
        yield


def save(path: Path, constants: Constants, when: str) -> None:
    """Write constants for later readers, all at once.

    Raises:
        OSError: the cache directory cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"schema": SCHEMA, "when": when, "processor": processor(), "constants": constants.to_dict()}
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(json.dumps(content, indent=1) + "\n")
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def read(path: Path, recorded_on: object = None) -> Constants | None:
    """The constants of a file; None where there are none, or none that can be believed.

    Args:
        path: see `store_path`.
        recorded_on: the processor of the recording to correct, as `write_sidecar` wrote it down; None where
            nobody did: then this machine's.
    """
    try:
        content = json.loads(path.read_text())
        if content["schema"] != SCHEMA or content["processor"] != (recorded_on or processor()):
            return None  # the machine of that name has been replaced, or has a namesake
        return Constants.from_dict(content["constants"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
