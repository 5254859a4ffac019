"""`rlscope-jax record`: run a program unmodified, with windows recorded beside it."""

from __future__ import annotations

import argparse
import atexit
import os
import signal
import sys
import tempfile
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rlscope_jax.commands.arguments import positive
from rlscope_jax.errors import RlscopeError

if TYPE_CHECKING:
    from rlscope_jax.record.windows import Length, Windows


class RecordCommand:
    """Run a program as Python would, record windows of it, and print the report at its end.

    Everything after SCRIPT (or -m MODULE) belongs to the program, as do its standard output, its signals and
    its exit code. What rlscope-jax has to say goes to standard error.
    """

    name = "record"
    runs_a_program = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the verb's options."""
        parser.add_argument("--logdir", metavar="DIR", help="where profiles go (default: runs/<time>)")
        parser.add_argument(
            "--skip",
            metavar="LENGTH",
            type=_length,
            help="begin this long after jax is up: seconds (2.5) or runs of one of the program's jitted "
            "functions (3runs); default: once a function has been compiled, and nothing for a second",
        )
        parser.add_argument(
            "--window",
            metavar="LENGTH",
            type=_positive_length,
            help="the longest window, seconds or runs (default: 0.1, longer where ops are long)",
        )
        parser.add_argument(
            "--every",
            metavar="LENGTH",
            type=_length,
            help="from one window to the next, seconds or runs (default: ever longer, to cover the whole run "
            "at a small part of its time)",
        )
        parser.add_argument("--windows", metavar="N", type=positive, default=20, help="the most windows (20)")
        parser.add_argument(
            "--max-events",
            metavar="N",
            type=positive,
            default=200_000,
            help="about the most events in a window; later windows are made shorter (default: 200000)",
        )
        parser.add_argument(
            "--auto",
            action="store_true",
            help="name the parts of brax, gymnax, gymnasium, rejax, optax and flax that the program uses",
        )
        parser.add_argument("--no-report", action="store_true", help="do not print the report at the end")
        parser.add_argument("-m", dest="module", action="store_true", help="SCRIPT is a module's name")
        parser.add_argument("script", metavar="SCRIPT", help="the program")
        parser.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="its arguments")

    def run(self, options: argparse.Namespace) -> int:
        """Run the program; returns its exit code."""
        from rlscope_jax.record import script
        from rlscope_jax.record.watchdog import Watchdog, report
        from rlscope_jax.record.windows import Plan, Windows

        if "://" in (options.logdir or ""):
            raise RlscopeError(f"--logdir {options.logdir}: record into a local directory and copy it there")
        ending = script.Ending(0)
        if options.own_process:
            atexit.register(lambda: _end_by_ctrl_c(ending.interrupted))  # the first one runs last
        logdir = _writable(Path(options.logdir or f"runs/{datetime.now():%Y_%m_%d_%H_%M_%S}").absolute())
        plan = Plan(options.skip, options.window, options.every, options.windows, options.max_events)
        windows = Windows(logdir, plan, _tell)
        watchdog = Watchdog(str(logdir), reports=not options.no_report)
        began, process = time.monotonic(), os.getpid()

        def finish() -> None:
            if os.getpid() != process:  # a fork of the program ends here too, and is not recorded
                return
            windows.close()
            watchdog.dismiss()
            _say_what_was_kept(windows, time.monotonic() - began)
            if windows.kept and not options.no_report:
                with suppress(OSError, ValueError, AttributeError):  # the program may have closed it
                    sys.stdout.flush()
                with suppress(KeyboardInterrupt):
                    report(str(logdir))
            _remove_if_empty(logdir)

        if options.own_process:  # once threads and pools have ended, as they do when Python alone ends
            atexit.register(finish)
        windows.start()
        try:
            if options.auto:
                from rlscope_jax.annotate.auto import auto_annotate

                auto_annotate()
            run = script.run_module if options.module else script.run_script
            ending = run(options.script, options.arguments)
        except RlscopeError:  # there is no such program
            atexit.unregister(finish)
            windows.close()
            watchdog.dismiss()
            _remove_if_empty(logdir)
            raise
        if not options.own_process:
            finish()
        return ending.code


def _remove_if_empty(logdir: Path) -> None:
    with suppress(OSError):
        logdir.rmdir()


def _writable(logdir: Path) -> Path:
    """The directory, made; where it cannot be written another one, for the program must run all the same."""
    try:
        logdir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=logdir):
            return logdir
    except OSError as error:
        instead = Path(tempfile.mkdtemp(prefix="rlscope_jax_"))
        _tell(f"{logdir} cannot be written ({error.strerror or error}): windows go to {instead}")
        return instead


def _end_by_ctrl_c(interrupted: bool) -> None:
    """End as Python ends a program that Ctrl-C interrupted: by the signal, which shells look for."""
    if not interrupted:
        return
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)


def _say_what_was_kept(windows: Windows, seconds: float) -> None:
    if windows.failed:
        return  # which has been told
    if "jax" not in sys.modules:
        _tell("the program did not load jax in this process: there is nothing to record")
        return
    if not windows.kept:
        _tell(
            f"the program ended after {seconds:.1f} s, before the first window; "
            "--skip 0 records from its start"
        )
        return
    _tell(
        f"recorded {len(windows.kept)} windows, {windows.open_seconds:.2f} s of {seconds:.1f} s, into "
        f"{windows.logdir}; collecting took {windows.writing_seconds:.1f} s beside the program"
    )


def _tell(message: str) -> None:
    if sys.stderr is not None:
        with suppress(OSError, ValueError):  # closed: what is said matters less than the program
            print(f"rlscope-jax: {message}", file=sys.stderr)


def _length(text: str) -> Length:
    from rlscope_jax.record.windows import RunCount

    number = text.removesuffix("runs").removesuffix("run")
    if number != text and number.isdecimal() and int(number) > 0:
        return RunCount(int(number))
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is neither seconds (2.5) nor runs (3runs)")
    return seconds


def _positive_length(text: str) -> Length:
    length = _length(text)
    if length == 0:
        raise argparse.ArgumentTypeError("a window of no length holds nothing")
    return length
