"""The page as a file: whole, safe against what names hold, and without anything from outside."""

import base64
import hashlib
import json
import os
import re
from pathlib import Path

import pytest

from rlscope_jax import load
from rlscope_jax.__main__ import main
from rlscope_jax.reporters.html import to_page
from rlscope_jax.reporters.overhead import wall_of_row
from xspace_builder import US, CpuTrace, Op, module_of

HOSTILE = "</script><script>window.hacked=1</script><!--<img src=x onerror=window.hacked=1>"


def write_trace(folder, text=""):
    trace, tree = CpuTrace(), [Op(f"dot.1{text}", 5 * US)]
    names = {tree[0].name: f"jit(f)/rls=update{text}/dot"}
    trace.run(module_of(f"jit_f{text}", 7, tree, names), tree, at=10 * US)
    trace.annotation(f"note{text}", 50 * US, 20 * US)
    trace.write(folder, "s")
    return folder


def test_the_page_holds_the_report_its_ops_and_its_timeline(tmp_path):
    report = load(write_trace(tmp_path))
    data = json.loads(re.search(r'id="rlscope-data">(.*?)</script>', to_page(report), re.S)[1])
    assert data["report"] == report.to_dict()
    assert data["ops"]["0||update"]["ops"][0]["name"] == "dot.1"
    assert [lane["side"] for lane in data["timelines"][0]["lanes"]] == ["host", "device"]


def test_names_end_no_element(tmp_path):
    page = to_page(load(write_trace(tmp_path, HOSTILE)))
    assert len(re.findall("<script", page)) == len(re.findall("</script", page)) == 2
    assert "<img" not in page
    assert "<!--" not in page
    data = json.loads(re.search(r'id="rlscope-data">(.*?)</script>', page, re.S)[1])
    assert any(HOSTILE in path for path, _ in data["timelines"][0]["operations"])


def test_the_policy_lets_only_our_script_run_and_nothing_be_fetched(tmp_path):
    page = to_page(load(write_trace(tmp_path)))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    script = re.search(r'<script type="module">(.*?)</script>', page, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "connect-src" not in policy


def test_the_command_writes_it(tmp_path, capsys):
    write_trace(tmp_path / "run")
    out = tmp_path / "out.html"
    assert main(["report", str(tmp_path / "run"), "--html", str(out)]) == 0
    assert out.read_text("utf-8").startswith("<!doctype html>")
    assert str(out) in capsys.readouterr().out


def test_a_file_that_cannot_be_written_is_told(tmp_path, capsys):
    write_trace(tmp_path / "run")
    assert main(["report", str(tmp_path / "run"), "--html", str(tmp_path / "no/such/out.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_json_and_html_are_one_or_the_other(tmp_path):
    with pytest.raises(SystemExit):
        main(["report", str(tmp_path), "--json", "--html", "x.html"])


def test_a_notebook_shows_names_as_text(tmp_path):
    shown = load(write_trace(tmp_path, "<img src=x onerror=alert>"))._repr_html_()
    assert "<img" not in shown
    assert "<script" not in shown
    assert "&lt;img" in shown


def test_a_notebook_shows_bars_that_need_no_script(tmp_path):
    report = load(write_trace(tmp_path))
    shown = report._repr_html_()
    bars = re.findall(r'nowrap">([^<]+)</td><td style="width:60%">', shown)
    wall = {row["path"]: wall_of_row(row, "raw") for row in report.to_dict()["operations"]}
    assert bars == sorted(bars, key=lambda path: -wall[path])
    assert "update" in bars


def test_a_directory_whose_name_is_no_utf8_does_no_harm(tmp_path):
    report = load(write_trace(tmp_path / os.fsdecode(b"run\xff")))
    assert "run\ufffd" in json.loads(json.dumps(report._repr_html_()))
    to_page(report).encode("utf-8")
    report._repr_html_().encode("utf-8")


def test_the_page_is_never_handed_markup():
    """What its framework is given as text stays text."""
    sources = [*(Path(__file__).parents[2] / "rlscope_jax/tb_plugin/frontend/src").rglob("*.ts*")]
    assert len(sources) > 10
    assert [path.name for path in sources if "innerhtml" in path.read_text("utf-8").lower()] == []
