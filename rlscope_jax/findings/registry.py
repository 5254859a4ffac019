"""All rules, and what they find in a report."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rlscope_jax.errors import RlscopeError
from rlscope_jax.findings import (
    annotation_inside_jit,
    blocked_on_device,
    both_branches,
    callback_slow_dispatch,
    compile_dominates,
    data_transfer_bound,
    debug_callbacks,
    device_idle,
    dispatch_bound,
    event_flood,
    host_callback_bound,
    large_copies,
    not_jitted,
    recompiles,
    serial_scan,
    small_kernels,
)
from rlscope_jax.findings.facts import Facts
from rlscope_jax.findings.finding import Finding

if TYPE_CHECKING:
    from rlscope_jax.breakdown.report import Process

RULES = (
    recompiles,
    compile_dominates,
    not_jitted,
    dispatch_bound,
    host_callback_bound,
    debug_callbacks,
    callback_slow_dispatch,
    both_branches,
    large_copies,
    blocked_on_device,
    data_transfer_bound,
    serial_scan,
    small_kernels,
    annotation_inside_jit,
    event_flood,
    device_idle,
)
"""Of findings with the same gain, that of the earlier rule comes first."""

CODES = {rule.__name__.rpartition(".")[2]: rule for rule in RULES}
_ONLY_ALONE = frozenset({"device_idle"})
"""Rules that only say that something is wrong: silent when another says what."""


def find_all(data: Mapping[str, Any], processes: Sequence[Process]) -> list[Finding]:
    """What all rules find in all processes of a report, most gain first.

    Args:
        data: `Report.to_dict()`, its findings aside.
        processes: what the report was made of.
    """
    found: list[Finding] = []
    for number, process in enumerate(processes):
        facts = Facts(data, number, process)
        mine = [finding for rule in RULES for finding in rule.find(facts)]
        if any(finding.severity != "low" for finding in mine if finding.code not in _ONLY_ALONE):
            mine = [finding for finding in mine if finding.code not in _ONLY_ALONE]
        found += mine
    return sorted(found, key=lambda finding: -finding.gain_ns)


def explain(code: str) -> str:
    """The story of a rule: what its finding means, how it is told, and what to do.

    Raises:
        RlscopeError: there is no such code.
    """
    if code not in CODES:
        raise RlscopeError(f"no finding is called {code!r}; there are: {', '.join(sorted(CODES))}")
    return f"{code}: {textwrap.dedent(CODES[code].__doc__ or '').strip()}\n"
