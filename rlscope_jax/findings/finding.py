"""What one rule found, in words and numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

SEVERITIES = ("high", "medium", "low")
_HIGH, _MEDIUM = 0.2, 0.05


@dataclass(frozen=True)
class Finding:
    """One thing to do next."""

    code: str
    message: str
    """One sentence: what happens, where, with its numbers."""
    hint: str
    """The next step, with a line of code."""
    gain_ns: int
    """Wall time of the window that would be gained at most, were the whole of it gone (Amdahl's bound)."""
    severity: str
    """high, medium or low: see `severity`."""
    operation: str | None = None
    program: str | None = None
    """The XLA module's name, as in the report's `programs`."""
    function: str | None = None
    """The Python function the program was compiled from."""
    evidence: dict[str, Any] = field(default_factory=dict)
    """The numbers of the message, and more."""

    def to_dict(self) -> dict[str, Any]:
        """The finding as the report's JSON has it."""
        return asdict(self)


def severity(gain: int, wall: int, most: str = "high") -> str:
    """high from a fifth of the window on, medium from a twentieth; never above `most`.

    Args:
        gain: what would be gained at most, ns.
        wall: the window, ns.
        most: for a rule that cannot be sure, or that tells of the capture rather than of the program.
    """
    share = gain / wall if wall else 0.0
    level = 0 if share >= _HIGH else 1 if share >= _MEDIUM else 2
    return SEVERITIES[max(level, SEVERITIES.index(most))]
