"""The command line: `rlscope-jax VERB …`. The only place that prints errors and picks exit codes."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from rlscope_jax import __version__
from rlscope_jax.commands import COMMANDS
from rlscope_jax.errors import RlscopeError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code (2: the request or its input was wrong)."""
    parser = _parser()
    options = parser.parse_args(arguments)
    options.own_process = arguments is None
    if options.command is None:
        parser.print_help()
        return 2
    if not getattr(options.command, "runs_a_program", False):  # whose output is its own
        for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a sign shows "?", not a traceback
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
    try:
        return options.command.run(options)
    except RlscopeError as error:
        print(f"rlscope-jax: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:  # the reader of a pipe (`| head`) has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rlscope-jax", description="See where the time of each operation of a JAX RL program goes."
    )
    parser.add_argument("--version", action="version", version=f"rlscope-jax {__version__}")
    parser.set_defaults(command=None)
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        summary = (command.__doc__ or "").strip().splitlines()[0]
        verb = verbs.add_parser(command.name, help=summary, description=command.__doc__)
        command.add_arguments(verb)
        verb.set_defaults(command=command)
    return parser


if __name__ == "__main__":
    sys.exit(main())
