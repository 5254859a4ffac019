"""A progress bar on stderr for what takes longer than a second."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 1.0  # seconds: shorter work needs no bar


@contextmanager
def late_progress(label: str) -> Iterator[Callable[[float], None]]:
    """Yield a function to be told the share done (0 to 1); the bar shows once a second has passed.

    Nothing is shown where stderr is no terminal.
    """
    began = time.monotonic()
    bar: Progress | None = None

    def tell(share: float) -> None:
        nonlocal bar
        if bar is None and sys.stderr.isatty() and time.monotonic() - began > PATIENCE:
            bar = _start(label)
        if bar is not None:
            bar.update(bar.task_ids[0], completed=share)

    try:
        yield tell
    finally:
        if bar is not None:
            bar.stop()


def _start(label: str) -> Progress:
    from rich.console import Console  # loading rich takes a while: only who shows a bar waits for it
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    bar.add_task(label, total=1.0)
    bar.start()
    return bar
