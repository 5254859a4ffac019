"""One file per verb of the command line."""

from __future__ import annotations

import argparse
from typing import Protocol

from rlscope_jax.commands.calibrate import CalibrateCommand
from rlscope_jax.commands.doctor import DoctorCommand
from rlscope_jax.commands.record import RecordCommand
from rlscope_jax.commands.report import ReportCommand
from rlscope_jax.commands.tune import TuneCommand


class Command(Protocol):
    """A verb: its docstring is its help."""

    name: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the verb's options."""

    def run(self, options: argparse.Namespace) -> int:
        """Do it; returns the exit code. Raises RlscopeError for what the person can mend."""


COMMANDS: list[Command] = [
    RecordCommand(),
    ReportCommand(),
    CalibrateCommand(),
    DoctorCommand(),
    TuneCommand(),
]
