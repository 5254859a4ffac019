"""Does rlscope_jax work on this machine's GPU? `make gpu-check`, or `python -m gpu_check [VARIANT ...]`.

Records PPO in several ways, reads each profile back, and prints what came of it. Needs jax, flax, optax,
numpy and numba; installs nothing. Exits with 0 when every sum closes, else with 1 and the reasons.
"""

import argparse
import os
import sys
import tarfile
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from gpu_check.check import USUAL, VARIANTS, Check


def main() -> int:
    """Check every variant asked for; leaves an archive of each and a summary."""
    options = _arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    summary = Summary(options.out / "summary.txt")
    failures = []
    for name in options.variants:
        with TemporaryDirectory() as scratch:
            started = time.perf_counter()
            check = Check(VARIANTS[name], Path(scratch), options)
            check.run()
            seconds = time.perf_counter() - started
            with tarfile.open(options.out / f"{name}.tar.gz", "w:gz") as archive:
                archive.add(scratch, arcname=name)
        summary.say(f"{name} ({seconds:.0f} s)", *check.lines)
        for reason in check.failures:
            summary.say(f"  FAILED      {reason}")
            failures.append(f"FAILED {name}: {reason}")
    summary.say(*failures or ["Everything closes."], f"Profiles, reports and raw facts: {options.out}")
    return int(bool(failures))


class Summary:
    """What is printed, kept in a file too: a run that is cut off has left what it said so far."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.write_text("")

    def say(self, *lines: str) -> None:
        """Print lines."""
        print(*lines, sep="\n", flush=True)
        with self._path.open("a") as file:
            print(*lines, sep="\n", file=file)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="gpu_check", description=__doc__)
    parser.add_argument("variants", nargs="*", metavar="VARIANT", help=", ".join(VARIANTS))
    out = Path(os.environ.get("OUT") or "gpu_check_out")
    parser.add_argument("--out", type=Path, default=out, help="where the archives go (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=70, help="seconds to record one variant in")
    parser.add_argument("--small", action="store_true", help="as little work as shows anything")
    options = parser.parse_args()
    options.variants = options.variants or USUAL
    unknown = set(options.variants) - set(VARIANTS)
    if unknown:
        parser.error(f"no variant {', '.join(sorted(unknown))}; there are {', '.join(VARIANTS)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
