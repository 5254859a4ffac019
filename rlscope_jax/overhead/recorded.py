"""Correct a recording by what is known of it: its own unprofiled steps, its machine's constants."""

from __future__ import annotations

from rlscope_jax.attribution.attribute import Attribution
from rlscope_jax.overhead.anchors import read_anchors
from rlscope_jax.overhead.choose import NOT_CALIBRATED, choose
from rlscope_jax.overhead.constants import Constants
from rlscope_jax.overhead.correct import Overhead
from rlscope_jax.overhead.figures import Figures
from rlscope_jax.overhead.new_memory import new_memory
from rlscope_jax.overhead.store import read, store_path
from rlscope_jax.xla_events.trace import Step, Trace


def corrected_figures(attribution: Attribution, steps: list[Step], sidecar: dict) -> Figures:
    """The figures of one process."""
    constants, anchors = stored_constants(attribution.trace), read_anchors(sidecar)
    if constants is None and anchors is None:
        return Figures.uncorrected(NOT_CALIBRATED)
    memory = new_memory(attribution.trace, sidecar, steps, constants)
    return Figures(choose(Overhead(attribution, memory), steps, constants, anchors))


def stored_constants(trace: Trace) -> Constants | None:
    """The constants of the machine that recorded a trace, where it has been calibrated."""
    environment = trace.environment
    return read(store_path(trace.host, environment.get("jaxlib"), environment.get("platform")))
