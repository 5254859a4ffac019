"""A small process that outlives the recorded program: it tells what was kept when the program is killed.

It reads its standard input, whose other end the program holds open. Whatever ends the program, the pipe
closes; when the program said goodbye before, there is nothing left to tell.
"""

from __future__ import annotations

import os
import subprocess
import sys

GOODBYE = b"done\n"


class Watchdog:
    """Watches this process until `dismiss` is called.

    Args:
        logdir: where the windows are.
        reports: whether it prints the report when the program is killed.
    """

    def __init__(self, logdir: str, reports: bool = True) -> None:
        self._pid = os.getpid()
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, logdir, *(["report"] if reports else [])],
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the program
        )
        if self._process.stdin is not None and hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._process.stdin.close)  # a child may outlive the program

    def dismiss(self) -> None:
        """Say goodbye: the program ends as it should."""
        if os.getpid() != self._pid or self._process.stdin is None:
            return  # a fork of the program
        try:
            self._process.stdin.write(GOODBYE)
            self._process.stdin.close()
        except OSError:
            return
        self._process.wait()


def main(logdir: str, reports: bool) -> int:
    """Wait for the program's end; tell and report if it said no goodbye."""
    if sys.stdin.buffer.read() == GOODBYE:
        return 0
    from rlscope_jax.xla_events.sessions import NoProfileError, sessions

    try:
        kept = len(sessions(logdir))
    except NoProfileError:
        kept = 0
    print(
        f"rlscope-jax: the program ended without returning (killed, or os._exit); {kept} windows are kept in "
        f"{logdir}",
        file=sys.stderr,
    )
    return report(logdir) if kept and reports else 0


def report(logdir: str) -> int:
    """Print the report on stderr, in a process of its own: it is none of the program's business."""
    command = [sys.executable, "-m", "rlscope_jax", "report", logdir]
    return subprocess.run(command, stdout=sys.stderr, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "report" in sys.argv[2:]))
