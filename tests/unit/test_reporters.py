"""The faces of a report: how wide, in what order, what is left out."""

import io

import pytest
from rich.console import Console

from rlscope_jax import RlscopeError, load
from rlscope_jax.__main__ import main
from rlscope_jax.reporters.rows import select
from rlscope_jax.reporters.terminal import render
from xspace_builder import US, CpuTrace, Op, module_of

TREE = [Op("big.1", 900 * US), Op("small.1", 90 * US), Op("tiny.1", US // 10)]
NAMES = {
    "big.1": "jit(f)/rls=update/rls=loss/dot",
    "small.1": "jit(f)/rls=rollout/<b>[red]policy/mul",
    "tiny.1": "jit(f)/rls=metrics/add",
}


@pytest.fixture
def logdir(tmp_path):
    trace = CpuTrace()
    trace.run(module_of("jit_f", 3, TREE, NAMES), TREE, 10 * US)
    trace.write(tmp_path)
    return tmp_path


def shown(logdir, width=110, **options):
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False, force_terminal=True, color_system=None)
    render(load(logdir), console, **options)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [110, 100, 80, 60, 44])
def test_the_table_fits_its_terminal_and_crops_nothing(logdir, width):
    lines = shown(logdir, width)
    begin = next(i for i, line in enumerate(lines) if line.startswith("operation"))
    table = lines[begin - 1 : begin + 9]
    assert max(map(len, table)) <= width
    assert not any("…" in line for line in table)
    assert any(line.startswith("total ") for line in table)


def test_rows_stand_by_weight_below_their_parents(logdir):
    data = load(logdir).to_dict()
    paths = [row["path"] for row in select(data).shown if not row["path"].startswith("(")]
    assert paths == ["update", "update/loss", "rollout"]
    by_name = [row["path"] for row in select(data, sort="name").shown]
    assert by_name[:3] == ["rollout", "update", "update/loss"]


def test_what_took_nothing_is_left_out_and_summed_up(logdir):
    lines = shown(logdir)
    assert not any("metrics" in line for line in lines)
    assert any(line.startswith("1 more rows, 0.0 %") for line in lines)


def test_the_heaviest_rows_keep_their_parents(logdir):
    rows = select(load(logdir).to_dict(), top=1)
    assert [row["path"] for row in rows.shown] == ["update", "update/loss"]


def test_a_notebook_shows_the_same_and_no_markup_of_a_name(logdir):
    html = load(logdir)._repr_html_()
    assert "loss" in html
    assert "<script" not in html


def test_pandas_has_a_row_per_operation(logdir):
    pytest.importorskip("pandas")
    report = load(logdir)
    frame = report.to_pandas()
    assert len(frame) == len(report.to_dict()["operations"])
    assert frame.set_index("path").loc["update/loss", "device.self.raw"] == 900_000


def test_a_process_that_is_not_there_is_said(logdir, capsys):
    assert main(["report", str(logdir), "--process", "3"]) == 2
    assert "processes 0 only" in capsys.readouterr().err
    assert RlscopeError.exit_code == 2


def test_an_unknown_grouping_is_refused(logdir):
    with pytest.raises(ValueError, match="group must be one of auto, operation, scope, function"):
        load(logdir, group="kernel")
