"""The rules on profiles written by hand, and what every rule owes its reader."""

import re
from pathlib import Path

import pytest

from rlscope_jax import load
from rlscope_jax.__main__ import main
from rlscope_jax.breakdown.report import report_schema
from rlscope_jax.errors import RlscopeError
from rlscope_jax.findings import CODES, explain, find_all
from rlscope_jax.findings.finding import severity
from rlscope_jax.findings.shapes import signature, size
from xspace_builder import MS, US, CpuTrace, GpuTrace, HloModuleBuilder, Op, module_of

PAGES = Path(__file__).resolve().parents[2] / "docs" / "findings"
ADD = "add.1"


def module():
    return module_of("jit_f", 7, [Op(ADD, US)], {ADD: "jit(f)/gae/add"})


def gpu(folder, kernels, duration, gap, copies=0, name="MemcpyH2D"):
    """Kernels of one call on one stream, then copies, each a gap after the last."""
    trace, called, now = GpuTrace(), module(), 100 * US
    stream = trace.stream()
    trace.dispatch(called, 10 * US, 80 * US)
    for _ in range(kernels):
        trace.kernel("k", stream, at=20 * US, start=now, duration=duration, module=called, hlo_op=ADD)
        now += duration + gap
    for _ in range(copies):
        trace.copy(stream, at=20 * US, start=now, duration=duration, name=name)
        now += duration + gap
    trace.write(folder, "s")
    return load(folder).to_dict()["findings"]


def test_kernels_shorter_than_the_gaps_between_them(tmp_path):
    (found,) = gpu(tmp_path, 1200, 2 * US, 3 * US)
    assert (found["code"], found["severity"]) == ("small_kernels", "high")
    assert (found["operation"], found["program"], found["function"]) == ("gae", "jit_f", "f")
    assert found["evidence"] == {
        "kernels": 1200,
        "median_kernel_ns": 2000,
        "gaps": 1199,
        "median_gap_ns": 3000,
        "gap_ns": 1199 * 3000,
    }
    assert found["gain_ns"] == 1199 * 3000


@pytest.mark.parametrize(("duration", "gap"), [(40 * US, 3 * US), (2 * US, US // 10)])
def test_long_or_dense_kernels_are_healthy(tmp_path, duration, gap):
    assert gpu(tmp_path, 1200, duration, gap) == []


@pytest.mark.parametrize(
    ("opcodes", "codes"), [(("multiply", "add"), ["serial_scan"]), (("multiply", "add", "tanh"), [])]
)
def test_a_loop_that_is_a_linear_recurrence(tmp_path, opcodes, codes):
    called = HloModuleBuilder("jit_f", 7)
    state = called.entry.parameter("state")
    body = called.computation("body")
    last = body.parameter("carried")
    for opcode in opcodes:
        last = body.add(f"{opcode}.1", opcode, [last], op_name=f"jit(f)/gae/while/body/{opcode}")
    called.entry.add("while.1", "while", [state], calls=[body], op_name="jit(f)/gae/while")
    trace, now = GpuTrace(), 100 * US
    stream = trace.stream()
    trace.dispatch(called, 10 * US, 80 * US)
    for _ in range(200):
        for opcode in opcodes:
            trace.kernel("k", stream, at=20 * US, start=now, duration=US, module=called, hlo_op=f"{opcode}.1")
            now += 4 * US
    trace.write(tmp_path, "s")
    found = load(tmp_path).to_dict()["findings"]
    assert [finding["code"] for finding in found] == codes
    if found:
        assert (found[0]["operation"], found[0]["evidence"]["turns"]) == ("gae", 200)
        assert found[0]["gain_ns"] == 200 * 2 * 1000


@pytest.mark.parametrize("name", ["MemcpyH2D", "MemcpyD2H", "CopyHostToDevice", "Memcpy HtoD"])
def test_copies_between_host_and_device(tmp_path, name):
    (found,) = gpu(tmp_path, 1, 5 * MS, US, copies=12, name=name)
    assert (found["code"], found["severity"]) == ("data_transfer_bound", "high")
    assert found["evidence"]["transfers"] == 12
    assert found["gain_ns"] == 12 * 5_000_000


def test_copies_within_the_device_are_no_transfers(tmp_path):
    assert gpu(tmp_path, 1, 5 * MS, US, copies=12, name="MemcpyD2D") == []


def test_gains_are_those_of_corrected_figures(tmp_path):
    gpu(tmp_path, 1, 5 * MS, US, copies=12)
    report = load(tmp_path)
    data = report.to_dict()
    (raw,) = data["findings"]
    for figure in data["totals"].values():
        figure["corrected"] = figure["raw"] // 2
    (corrected,) = find_all(data, report.processes)
    wall = data["totals"]["wall"]["corrected"]
    assert corrected.gain_ns == min(raw["gain_ns"], wall) == wall


def test_severity_is_the_share_of_the_window():
    assert [severity(gain, 100) for gain in (20, 19, 5, 4, 0)] == ["high", "medium", "medium", "low", "low"]
    assert severity(90, 100, most="medium") == "medium"
    assert severity(1, 0) == "low"


def test_a_profile_without_anything_has_no_finding(tmp_path):
    CpuTrace().write(tmp_path, "s")
    assert load(tmp_path).to_dict()["findings"] == []


def test_the_schema_knows_every_code():
    known = report_schema()["properties"]["findings"]["items"]["properties"]["code"]["enum"]
    assert sorted(known) == sorted(CODES)


@pytest.mark.parametrize("code", CODES)
def test_every_rule_tells_its_story(code, capsys):
    assert main(["report", "--explain", code]) == 0
    story = capsys.readouterr().out
    assert story.startswith(f"{code}: ")
    assert "How we tell:" in story
    assert "What to do:" in story
    assert story == explain(code)


@pytest.mark.parametrize("code", CODES)
def test_every_page_tells_the_story_of_its_rule(code):
    page = _plain((PAGES / f"{code}.md").read_text())
    for paragraph in (CODES[code].__doc__ or "").strip().split("\n\n"):
        assert _plain(paragraph) in page
    assert f"({code}.md)" in (PAGES / "index.md").read_text()


def _plain(text):
    """Words alone: a page may set code and bold."""
    return re.sub(r"\s+", " ", text.replace("`", "").replace("*", ""))


def test_an_unknown_code_names_the_known_ones(capsys):
    assert main(["report", "--explain", "slow"]) == 2
    assert "recompiles" in capsys.readouterr().err
    with pytest.raises(RlscopeError, match="slow"):
        explain("slow")


def test_a_report_needs_a_directory(capsys):
    assert main(["report"]) == 2
    assert "LOGDIR" in capsys.readouterr().err


F32, PRED = bytes([2 << 3, 11]), bytes([2 << 3, 1])
SIZES = bytes([3 << 3 | 2, 2, 5, 7])  # dimensions [5, 7], packed


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (F32 + SIZES, 5 * 7 * 4),
        (PRED + SIZES, 5 * 7),
        (F32, 4),  # a scalar
        (bytes([2 << 3, 13, 4 << 3 | 2, 6]) + F32 + SIZES + bytes([4 << 3 | 2, 2]) + PRED, 5 * 7 * 4 + 1),
        (b"", 0),
        (F32 + SIZES[:2], 0),  # cut short
    ],
)
def test_bytes_of_a_shape(shape, expected):
    assert size(shape) == expected


def test_shapes_of_another_layout_are_the_same():
    assert signature(F32 + SIZES + bytes([5 << 3 | 2, 0])) == signature(F32 + SIZES)
    assert signature(F32 + SIZES) != signature(PRED + SIZES)
