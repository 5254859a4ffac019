"""What the system says of this process, cheap enough to ask at every training step, and of its machine."""

from __future__ import annotations

import os
import platform
from functools import cache
from typing import NamedTuple

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

ASK_AGAIN_NS = 1_000_000
"""Between two times that the system is asked: it takes microseconds, more than a short step can bear."""


def resident_bytes() -> int:
    """The memory that the process holds; 0 where the system does not tell."""
    try:
        return int(os.pread(_statm(os.getpid()), 64, 0).split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


class Usage(NamedTuple):
    """What a process made the system do: since it began, or between two instants.

    Args:
        page_faults: how often it touched memory for the first time.
        system_ns: processor time within the system, of all threads: what handling these took, and other
            calls. Told by a clock that ticks every 4 ms on many systems.
        switches: how often a thread of it went to sleep.
    """

    page_faults: int
    system_ns: int
    switches: int

    def since(self, before: Usage) -> Usage:
        """What came after an earlier instant."""
        return Usage(*(now - then for now, then in zip(self, before, strict=True)))


def usage() -> Usage | None:
    """Of this process, until now; None where the system does not tell."""
    if resource is None:
        return None
    told = resource.getrusage(resource.RUSAGE_SELF)
    return Usage(told.ru_minflt, round(told.ru_stime * 1e9), told.ru_nvcsw)


@cache
def _statm(process: int) -> int:
    """A descriptor that stays open: to open the file at every step would lengthen short steps.

    Of this process, which a forked child must not ask of its parent's.
    """
    return os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)


@cache
def processor() -> str:
    """The model of the processor and how many of them this process may see."""
    try:
        with open("/proc/cpuinfo") as lines:
            model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or platform.machine()  # may run a program to find out
    return f"{model} x{os.cpu_count()}"
