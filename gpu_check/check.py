"""One variant: record it in a process of its own, describe what it left, judge what the report says."""

import argparse
import json
import os
import subprocess
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Variant:
    """A program and the XLA flags it runs under."""

    program: str
    flags: str = ""


VARIANTS = {
    "command_buffers_on": Variant("compiled"),  # XLA's default
    "command_buffers_off": Variant("compiled", "--xla_gpu_enable_command_buffer="),
    "host_loop": Variant("host_loop"),
    # XLA calls it experimental, so it runs only when asked for.
    "command_buffers_kept": Variant("compiled", "--xla_enable_command_buffers_during_profiling=true"),
}
USUAL = ("command_buffers_on", "command_buffers_off", "host_loop")


@dataclass
class Check:
    """What was done with a variant, in a directory of its own."""

    variant: Variant
    directory: Path
    options: argparse.Namespace
    lines: list[str] = field(default_factory=list)
    """What to print."""
    failures: list[str] = field(default_factory=list)

    def run(self) -> None:
        """Try each stage: a device we have not met may break one, and what the others leave is of use."""
        for stage in (self._record, self._describe, self._judge):
            try:
                stage()
            except Exception as error:
                self.failures.append(f"{type(error).__name__}: {error}")
                with (self.directory / "errors.txt").open("a") as file:
                    traceback.print_exc(file=file)
                if not self._profiles():
                    return

    def _profiles(self) -> list[Path]:
        return list(self.directory.rglob("*.xplane.pb"))

    def _record(self) -> None:
        command = [sys.executable, "-m", "gpu_check.record", self.variant.program, str(self.directory)]
        log = self.directory / "record.log"
        with log.open("w") as output:
            done = subprocess.run(
                command + ["--small"] * self.options.small,
                env=self._environment(), stdout=output, stderr=subprocess.STDOUT,
                timeout=self.options.limit, check=False,
            )  # fmt: skip
        if done.returncode:
            tail = log.read_text(errors="replace").strip().splitlines()[-5:]
            raise RuntimeError(f"recording ended with code {done.returncode}: " + " | ".join(tail))

    def _environment(self) -> dict[str, str]:
        path = [str(ROOT), str(ROOT / "examples"), *filter(None, [os.environ.get("PYTHONPATH")])]
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path),
            "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {self.variant.flags}".strip(),  # the last wins
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false",  # leave the GPU's memory to whoever shares it
            "JAX_ENABLE_COMPILATION_CACHE": "false",  # a cached program may have lost its names
        }

    # jax and numba are imported where they are used: a missing package fails a check, in words.

    def _describe(self) -> None:
        from gpu_check.facts import describe

        for path in self._profiles():
            (self.directory / "facts.txt").write_text(describe(path), encoding="utf-8")

    def _judge(self) -> None:
        from gpu_check.judge import judge

        run = json.loads((self.directory / "run.json").read_text())
        if run["platform"] == "cpu":
            self.lines.append("  NO GPU      jax found none, so this checks the CPU")
        lines, failures = judge(self.directory, run)
        self.lines += lines
        self.failures += failures
