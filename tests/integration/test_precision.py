"""Small programs: the troubled are told their trouble first, the healthy of none that is grave."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from case_table import finds_first
from rlscope_jax import load

SCRIPT = Path(__file__).resolve().parents[1] / "programs" / "record.py"
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_each_program_is_told_its_own_trouble_and_no_other(tmp_path):
    pytest.importorskip("optax")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_"))}
    environment = {**kept, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, SCRIPT, tmp_path]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    programs = json.loads(done.stdout.splitlines()[-1])
    assert len(programs) >= 40
    wrong = {}
    for name, code in programs.items():
        try:
            finds_first(load(tmp_path / name).to_dict(), code)
        except AssertionError as error:
            wrong[name] = f"{code or 'healthy'}: {error}"
    assert wrong == {}
