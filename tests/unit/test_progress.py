import io

import pytest

from rlscope_jax.reporters import progress


class Terminal(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.mark.parametrize(
    ("seconds", "terminal", "shown"), [(1.5, True, True), (0.5, True, False), (1.5, False, False)]
)
def test_a_bar_shows_only_when_it_takes_long(monkeypatch, seconds, terminal, shown):
    clock = iter([0.0, seconds, seconds, seconds])
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress.sys, "stderr", Terminal(terminal))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock, seconds))
    with progress.late_progress("reading") as tell:
        tell(0.5)
    assert ("reading" in progress.sys.stderr.getvalue()) == shown
