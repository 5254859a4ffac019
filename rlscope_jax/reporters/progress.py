"""A progress bar on stderr for what takes longer than a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress

PATIENCE = 1.0  # seconds: shorter work needs no bar


@contextmanager
def late_progress(label: str, console: Console | None = None) -> Iterator[Callable[[float], None]]:
    """Yield a function to be told the share done (0 to 1); the bar shows once a second has passed.

    Nothing is shown where stderr is no terminal.
    """
    console = console or Console(stderr=True)
    progress = Progress(console=console, transient=True, disable=not console.is_terminal)
    task = progress.add_task(label, total=1.0)
    began = time.monotonic()

    def tell(share: float) -> None:
        if not progress.live.is_started and time.monotonic() - began > PATIENCE:
            progress.start()
        progress.update(task, completed=share)

    try:
        yield tell
    finally:
        progress.stop()
