"""Times and counts in words."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def unit_of(nanoseconds: int) -> tuple[float, str]:
    """(nanoseconds in it, name) of the unit to show a time and its parts in."""
    for scale, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if nanoseconds >= 10 * scale:
            return scale, unit
    return 1e3, "us"


def duration(nanoseconds: int) -> str:
    """A time with its unit: "12.34 ms"."""
    scale, unit = unit_of(nanoseconds)
    return f"{nanoseconds / scale:,.2f} {unit}"


def cell(nanoseconds: int | None, scale: float) -> str:
    """A time for a table: a dot for nothing, and in words what is not known."""
    if nanoseconds is None:
        return "no data"
    return f"{nanoseconds / scale:,.2f}" if nanoseconds else "·"


def count(number: int) -> str:
    """A count for a table."""
    if number >= 100_000:
        return f"{number / 1000:,.0f}k" if number < 10_000_000 else f"{number / 1e6:,.1f}M"
    return f"{number:,}" if number else "·"


def as_text(text: str) -> str:
    """A text that can be sent: names of files need not be UTF-8; what is not is held as lone surrogates."""
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def as_line(text: str) -> str:
    """A text that is one line of a terminal and does nothing else to it."""
    return _CONTROL.sub(" ", as_text(text))
