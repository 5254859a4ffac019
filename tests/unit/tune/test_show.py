"""What a search tells in the terminal, whatever its tasks are called and however it ended."""

import io
from types import SimpleNamespace

import pytest
from rich.console import Console

from rlscope_jax.tune.measure import Verdict
from rlscope_jax.tune.session import Tuned
from rlscope_jax.tune.show import Live, show_results
from rlscope_jax.tune.timing import Paired
from rlscope_jax.tune.trial import Trial
from tuning_record import space_of

POINT, OTHER = list(space_of().every())[:2]
FASTER = Paired(0.5, 0.4, 0.6, 2e-3, 4e-3, 15)
NOTHING = Verdict(None, None, ())


def shown(verdict, *trials, name="conv", per=None):
    task = SimpleNamespace(name=name, space=space_of(), weight=1e-2)
    console = Console(width=160, file=io.StringIO())
    show_results([Tuned(SimpleNamespace(task=task, trials=trials), verdict)], per, console)
    return console.file.getvalue()


@pytest.mark.parametrize("name", ["[red]x[/bold]", "[/]", "con\x1b[31mv\x07\n"])
def test_a_name_is_shown_as_it_is_without_its_control_characters(name):
    text = shown(Verdict(POINT, FASTER, (POINT,)), Trial(POINT, 2e-3, 0.5, 0.4, 0.6, 15), name=name)
    clean = name.replace("\x1b", " ").replace("\x07", " ").replace("\n", " ")
    assert clean.strip() in text
    assert f"{clean}: tiles: rows=1, order=xy\n" in text
    assert not set(text) & set("\x1b\x07")


@pytest.mark.parametrize("per", ["step", "window"])
def test_savings_are_of_what_the_profile_has(per):
    text = shown(Verdict(POINT, FASTER, (POINT,)), per=per)
    assert f"predicted saving, ms/{per}" in text
    assert "5.00 (4.00 to 6.00)" in text
    task = SimpleNamespace(name="[red]", weight=1e-2)
    live = Live(8, per)
    live.heard([SimpleNamespace(task=task, cost=4e-3, ratio=0.4)], [None] * 4)
    assert f"4/8  [red] 2.50x; saves 6.00 ms a {per}; " in live._bar.tasks[0].description
    live.deciding(task)
    assert live._bar.tasks[0].description == "comparing the best of [red]"


def test_finalists_that_failed_are_told():
    timed = Trial(POINT, 2e-3, 0.5, 0.4, 0.6, 15)
    text = shown(Verdict(None, None, (POINT, OTHER), {POINT: "no g++", OTHER: "no g++"}), timed)
    assert "the best could not be compared" in text
    assert "conv: 2 of the best 2 could not be compared inside jit: no g++\n" in text
    text = shown(Verdict(None, None, (POINT, OTHER), {POINT: "no g++"}), timed)
    assert "nothing beat the reference" in text
    assert "conv: 1 of the best 2 could not be compared inside jit: no g++\n" in text
    assert "compared" not in shown(Verdict(None, None, (POINT, OTHER)), timed)


def test_the_first_failure_is_told_where_nothing_could_be_timed():
    text = shown(NOTHING, Trial(POINT, error="it hung\nfor long"), Trial(OTHER, error="it crashed"))
    assert "no candidate could be timed" in text
    assert "conv: the first failed: it hung for long\n" in text
    text = shown(NOTHING)
    assert "nothing was tried" in text
    assert "failed:" not in text
