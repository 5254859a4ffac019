"""Numbers in the words of a finding."""

from __future__ import annotations

from collections.abc import Sequence

from rlscope_jax.attribution.attribute import UNATTRIBUTED


def milliseconds(nanoseconds: float) -> str:
    """A time: "12.3 ms"; seconds from ten of them on, microseconds below one."""
    if nanoseconds >= 1e10:
        return f"{nanoseconds / 1e9:.1f} s"
    if nanoseconds >= 1e8:
        return f"{nanoseconds / 1e6:,.0f} ms"
    return f"{nanoseconds / 1e6:.1f} ms" if nanoseconds >= 1e6 else f"{nanoseconds / 1e3:.1f} us"


def size(octets: float) -> str:
    """A size: "25.6 MB"."""
    for scale, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if octets >= scale:
            return f"{octets / scale:.1f} {unit}"
    return f"{octets:.0f} B"


def steps(numbers: Sequence[int]) -> str:
    """ " (steps 0, 1)", "" for none; many are cut short."""
    if not numbers:
        return ""
    shown = ", ".join(map(str, numbers[:6]))
    return f" (steps {shown}{', …' if len(numbers) > 6 else ''})"


def named(path: str) -> str:
    """An operation's path as the subject of a sentence."""
    return "code that nothing names" if path == UNATTRIBUTED else path


def share(part: float, whole: float) -> str:
    """A percentage."""
    return f"{100 * part / whole:.0f} %" if whole else "0 %"
