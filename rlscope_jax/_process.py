"""What the system says of this process: cheap enough to ask at every training step."""

from __future__ import annotations

import os
from functools import cache

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]


def resident_bytes() -> int:
    """The memory that the process holds; 0 where the system does not tell."""
    try:
        return int(os.pread(_statm(os.getpid()), 64, 0).split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


def page_faults() -> int | None:
    """How often the process touched memory for the first time; None where the system does not tell."""
    return None if resource is None else resource.getrusage(resource.RUSAGE_SELF).ru_minflt


@cache
def _statm(process: int) -> int:
    """A descriptor that stays open: to open the file at every step would lengthen short steps.

    Of this process, which a forked child must not ask of its parent's.
    """
    return os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
