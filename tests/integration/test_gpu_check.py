"""The GPU check runs here too, on the CPU: what it prints, what it leaves, and when it fails."""

import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from rlscope_jax import load

pytest.importorskip("flax")
pytest.importorskip("optax")

REPOSITORY = Path(__file__).resolve().parents[2]
VARIANTS = ["command_buffers_off", "command_buffers_on", "host_loop"]


def run_check(directory, *arguments, **environment):
    """Run it as `make gpu-check` does; returns (exit code, what it printed)."""
    command = [sys.executable, "-m", "gpu_check", "--limit=600", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "OUT": str(directory), **environment}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_small_check_closes_and_leaves_what_it_saw(tmp_path):
    code, printed = run_check(tmp_path, "--small", "host_loop", JAX_PLATFORMS="cpu")
    assert code == 0, printed
    assert "NO GPU" in printed
    assert "Everything closes." in printed
    assert (tmp_path / "summary.txt").read_text() in printed
    with tarfile.open(tmp_path / "host_loop.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    kept = tmp_path / "host_loop"
    assert json.loads((kept / "report.json").read_text())["counts"] == load(kept).to_dict()["counts"]
    facts = (kept / "facts.txt").read_text()
    assert "warnings []" in facts
    assert re.search(r"plane '/host:CPU'.*statistic hlo_op: on \d+ events", facts, re.DOTALL)


def test_what_broke_is_said_and_kept(tmp_path):
    code, printed = run_check(tmp_path, "host_loop", XLA_FLAGS="--no_such_flag=1")
    assert code == 1
    assert re.search("FAILED host_loop: RuntimeError: .*no_such_flag", printed)
    with tarfile.open(tmp_path / "host_loop.tar.gz") as archive:
        assert {"host_loop/record.log", "host_loop/errors.txt"} <= set(archive.getnames())


@pytest.mark.slow
def test_every_variant_closes_and_fits_what_a_device_tool_brings_back(tmp_path):
    code, printed = run_check(tmp_path, JAX_PLATFORMS="cpu")
    assert code == 0, printed
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *(f"{name}.tar.gz" for name in VARIANTS),
        "summary.txt",
    ]
    sizes = [int(size.replace(",", "")) for size in re.findall(r"profile +([\d,]+) bytes", printed)]
    assert len(sizes) == len(VARIANTS)
    assert max(sizes) < 2_000_000


@pytest.mark.parametrize("name", ["amd_tracelens/mi300_jax08_attention", "nvidia_tf/gpu_multi_worker_tf2"])
def test_facts_and_sums_of_gpu_profiles(shared, name, monkeypatch):
    monkeypatch.syspath_prepend(REPOSITORY)
    from gpu_check.facts import describe
    from gpu_check.judge import closing

    path = shared / "traces" / f"{name}.xplane.pb"
    assert closing(load(path)) == []
    assert re.search(r"line 'Stream #.*statistic correlation_id: on \d+ events", describe(path), re.DOTALL)
