"""How one recording is corrected: by this machine's constants, by unprofiled steps, or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rlscope_jax.overhead.constants import Constant


@dataclass(frozen=True)
class Method:
    """The factors that turn what a trace tells into overhead. Times are picoseconds."""

    name: str
    """calibrated | anchored."""
    ratio: Constant
    """Overhead of an op event over its tail (over 1 ps where ops left no tails: then it is a time)."""
    op_spread: float
    """Relative half-width for a single operation; its ratio differs more than that of a whole program."""
    op_floor: float = 0.0
    host_event: float = 0.0
    annotation: float = 0.0
    """An event of our own operations."""
    python_call: float = 0.0
    """A call that the Python tracer recorded."""
    host_spread: float = 0.3
    """Relative half-width of what is taken from the host."""
    step: float = 0.0
    wait: float = 0.0
    """A wait for another thread's work, beyond its events."""
    wait_spread: float = 0.5
    """Relative half-width of that."""
    constants: dict[str, Any] = field(default_factory=dict)
    """What the report says of the factors."""
    anchors: dict[str, Any] | None = None
    """What the report says of the unprofiled steps."""
