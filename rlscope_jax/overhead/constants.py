"""What profiling costs on one machine: the figures that calibration finds and correction uses."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

_LEAST, _MOST = 1e-6, 1e9
"""Of a figure that is not 0: a ratio or nanoseconds. Beyond it, a file was not written by `calibrate`."""


@dataclass(frozen=True)
class Constant:
    """A figure and the interval that holds nine of ten programs (or, for host costs, the figure itself)."""

    value: float
    low: float
    high: float

    @property
    def relative(self) -> float:
        """Half the interval's width, as a part of the value."""
        return (self.high - self.low) / (2 * self.value) if self.value else 0.0


@dataclass(frozen=True)
class Constants:
    """The costs of one machine, jaxlib, backend and set of profiler options.

    The ratio has no unit: it multiplies what the trace itself measured. The others are nanoseconds.
    """

    tail_ratio: Constant
    """Overhead of an op event over its tail: the time from its own `end:` event to its end."""
    op_floor: float
    """The least that executing an op takes when nobody records it."""
    host_event: Constant
    """An event of the runtime on the path of a call."""
    annotation: Constant
    """One operation or annotation of ours on the host."""
    step: Constant
    """A step as `profile()` records it, beyond its ops and events."""
    wait: Constant
    """A wait for a program that another thread executes, beyond its events."""
    python_call: Constant
    """One Python call under the Python tracer."""
    page_fault: Constant
    """A page of memory that is touched for the first time."""

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @staticmethod
    def from_dict(values: dict[str, Any]) -> Constants:
        """Back from plain values.

        Raises:
            KeyError, TypeError, ValueError: something is missing or is no number.
        """
        names = Constants.__dataclass_fields__
        read = {
            name: _number(values[name]) if name == "op_floor" else _constant(values[name]) for name in names
        }
        return Constants(**read)  # type: ignore[arg-type]


def _constant(values: dict[str, Any]) -> Constant:
    value, low, high = (_number(values[name]) for name in ("value", "low", "high"))
    if not low <= value <= high:
        raise ValueError(f"no interval: {low} to {high} around {value}")
    return Constant(value, low, high)


def _number(value: object) -> float:
    if type(value) not in (int, float):
        raise TypeError(f"no number: {value!r}")
    if not (value == 0 or _LEAST <= value <= _MOST):  # type: ignore[operator]
        raise ValueError(f"no cost: {value!r}")
    return float(value)  # type: ignore[arg-type]
