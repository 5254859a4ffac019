"""`rlscope-jax report`: findings and the table of operations, all of it as JSON, or a page to look at."""

from __future__ import annotations

import argparse
import gc
import sys
from pathlib import Path

from rlscope_jax.commands.arguments import positive
from rlscope_jax.commands.output import write_file
from rlscope_jax.errors import RlscopeError


class ReportCommand:
    """Show where the time of each operation went.

    Reads the newest session under LOGDIR (a directory given to the profiler, a session's directory, or
    an xplane.pb file).
    """

    name = "report"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the verb's options."""
        parser.add_argument("logdir", metavar="LOGDIR", nargs="?", help="where the profile was recorded")
        parser.add_argument("--session", metavar="NAME", help="a session other than the newest")
        parser.add_argument(
            "--group",
            choices=("auto", "operation", "scope", "function"),
            default="auto",
            help="what names an operation: marks and annotations, scopes, or Python functions; "
            "auto takes the first of these that an op has",
        )
        parser.add_argument(
            "--sort",
            choices=("wall", "device", "host", "name"),
            default="wall",
            help="order rows by wall time, device or host self time, or name",
        )
        parser.add_argument("--top", metavar="N", type=positive, help="show only the N heaviest rows")
        parser.add_argument("--process", metavar="N", type=int, help="show only this process of several")
        parser.add_argument("--raw", action="store_true", help="show times as recorded, not corrected")
        parser.add_argument("--explain", metavar="CODE", help="tell what a finding means, and what to do")
        shown = parser.add_mutually_exclusive_group()
        shown.add_argument("--json", action="store_true", help="print the report as JSON")
        shown.add_argument(
            "--html",
            metavar="FILE",
            type=Path,
            help="write what the TensorBoard tab shows as one HTML file, to be opened without a network",
        )

    def run(self, options: argparse.Namespace) -> int:
        """Print the report, or the story of a finding."""
        if options.explain is not None:
            from rlscope_jax.findings import explain

            sys.stdout.write(explain(options.explain))
            return 0
        if options.logdir is None:
            raise RlscopeError("report needs LOGDIR: where the profile was recorded, or --explain CODE")
        # The stages load numba: only a command that reads a profile should pay for that.
        if options.own_process:
            gc.disable()  # short-lived, and what importing numba makes is no garbage: saves a tenth or more
            from rlscope_jax.xla_events.compiled import skip_linear_algebra

            skip_linear_algebra()
        from rlscope_jax.facade import load
        from rlscope_jax.reporters.progress import late_progress

        with late_progress("reading") as tell:
            report = load(options.logdir, options.session, progress=tell, group=options.group)
        if options.json:
            sys.stdout.write(report.to_json() + "\n")
            return 0
        if options.html is not None:
            from rlscope_jax.reporters.html import to_page

            write_file("--html", options.html, to_page(report))
            return 0
        from rlscope_jax.reporters.terminal import render

        processes = len(report.processes)
        if options.process is not None and not 0 <= options.process < processes:
            numbers = f"0 to {processes - 1}" if processes > 1 else "0 only"
            raise RlscopeError(f"--process {options.process}: this session has processes {numbers}")
        render(report, sort=options.sort, top=options.top, process=options.process, raw=options.raw)
        return 0
