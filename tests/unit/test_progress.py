import io

from rich.console import Console

from rlscope_jax.reporters import progress


def shown(monkeypatch, seconds, terminal=True):
    clock = iter([0.0, seconds, seconds, seconds])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    out = io.StringIO()
    with progress.late_progress("reading", Console(file=out, force_terminal=terminal)) as tell:
        tell(0.5)
    return out.getvalue()


def test_a_bar_shows_only_when_it_takes_long(monkeypatch):
    assert "reading" in shown(monkeypatch, 1.5)
    assert "reading" not in shown(monkeypatch, 0.5)
    assert "reading" not in shown(monkeypatch, 1.5, terminal=False)
