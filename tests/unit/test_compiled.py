"""The cache of compiled loops: never of other sources, never in the way."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rlscope_jax

PACKAGE = Path(rlscope_jax.__file__).parent
COUNT = """
import numpy as np
from rlscope_jax.xla_events import rows
table = rows.rows_for(2)
values, kinds = np.ones((1, 2), np.int64), np.ones((1, 2), np.uint8)
rows._add_all(table, 0, values, kinds, 1, np.zeros(1, np.int32))
stats = rows._add_all.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "rlscope_jax", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def hits_and_misses(copy):
    environment = {**os.environ, "PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": ""}
    environment.pop("NUMBA_CACHE_DIR")
    done = subprocess.run(
        [sys.executable, "-c", COUNT], cwd=copy, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_code_kept_from_other_sources_is_not_run(copy):
    assert hits_and_misses(copy) == ["0", "1"]
    assert hits_and_misses(copy) == ["1", "0"]
    other = copy / "rlscope_jax" / "xla_events" / "wire.py"  # `rows` does not even import it
    other.write_text(other.read_text() + "# a change\n")
    assert hits_and_misses(copy) == ["0", "1"]


def test_a_spoilt_cache_is_done_without(copy):
    hits_and_misses(copy)
    for kept in (copy / "rlscope_jax").rglob("*.nb[ic]"):
        kept.write_bytes(b"")
    assert hits_and_misses(copy)[0] == "0"


def test_a_full_disk_is_no_fault(copy):
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64));" + COUNT
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
