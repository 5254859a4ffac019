"""`rlscope-jax calibrate`: what does profiling cost on this machine?"""

from __future__ import annotations

import argparse
import json
import statistics
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rlscope_jax.errors import RlscopeError

if TYPE_CHECKING:
    from rlscope_jax.overhead.calibrate import Sample
    from rlscope_jax.overhead.constants import Constants


class CalibrateCommand:
    """Measure what profiling costs on this machine, for reports to subtract.

    Runs small programs with and without the profiler for about ten seconds and keeps the result in the
    user's cache directory. Reports of recordings made on this machine, with this jaxlib, use it from then on.
    """

    name = "calibrate"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the verb's options."""
        parser.add_argument(
            "--check", action="store_true", help="measure again and compare with what is stored"
        )
        parser.add_argument("--json", action="store_true", help="print the constants as JSON")

    def run(self, options: argparse.Namespace) -> int:
        """Measure and store, or compare; returns 1 when what is stored no longer fits."""
        import jaxlib

        from rlscope_jax import _jax
        from rlscope_jax.overhead.calibrate import calibrate
        from rlscope_jax.overhead.store import measuring, read, save, store_path
        from rlscope_jax.reporters.progress import late_progress

        path = store_path(_jax.host_name(), jaxlib.__version__, _backend())
        stored = read(path)
        if options.check and stored is None:
            print("nothing is stored for this machine and jaxlib; run: rlscope-jax calibrate")
            return 1
        try:
            with measuring(path):
                with late_progress("calibrating") as tell:
                    constants, samples = calibrate(tell)
                if not options.check:
                    save(path, constants, datetime.now(UTC).isoformat(timespec="seconds"))
        except OSError as error:
            raise RlscopeError(
                f"{path} cannot be written: {error.strerror or error}. "
                "Set XDG_CACHE_HOME to a directory you may write."
            ) from error
        if stored is not None and options.check:
            return _compare(stored, constants, options.json)
        if options.json:
            print(json.dumps(constants.to_dict(), indent=1))
        else:
            _show(constants, samples)
            print(f"stored in {path}")
        return 0


def _backend() -> str:
    import jax

    try:
        return jax.default_backend()
    except Exception as error:  # a RuntimeError, or an assertion of jax's own where JAX_PLATFORMS names none
        first = str(error).partition("\n")[0] or type(error).__name__
        raise RlscopeError(f"jax finds no backend to calibrate: {first}; see: rlscope-jax doctor") from error


def _show(constants: Constants, samples: list[Sample]) -> None:
    ratio = constants.tail_ratio
    if ratio.value:
        print(f"device op    {ratio.value:8.2f} x its tail   [{ratio.low:.2f}, {ratio.high:.2f}]")
        for sample in samples:
            if sample.ratios:
                print(f"  {sample.name:12} {statistics.median(sample.ratios):6.2f}")
    else:
        print("device op      no tails: device times are left as they are")
    for label, cost in (
        ("host event", constants.host_event),
        ("annotation", constants.annotation),
        ("step", constants.step),
        ("wait", constants.wait),
        ("python call", constants.python_call),
        ("new page", constants.page_fault),
    ):
        print(f"{label:12} {cost.value:8.0f} ns           [{cost.low:.0f}, {cost.high:.0f}]")


def _compare(stored: Constants, now: Constants, as_json: bool) -> int:
    was, is_now = stored.tail_ratio, now.tail_ratio
    fits = was.low <= is_now.value <= was.high
    if as_json:
        print(json.dumps({"fits": fits, "stored": stored.to_dict(), "now": now.to_dict()}, indent=1))
    else:
        print(
            f"stored {was.value:.2f} [{was.low:.2f}, {was.high:.2f}], now {is_now.value:.2f}: "
            + ("it still fits" if fits else "it no longer fits; run: rlscope-jax calibrate")
        )
    return 0 if fits else 1
