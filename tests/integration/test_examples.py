"""The examples run as a user would run them, leave a profile that can be read, and learn."""

import os
import re
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from rlscope_jax import load

REPOSITORY = Path(__file__).resolve().parents[2]

PPO_OPERATIONS = {
    "rollout/inference",
    "rollout/env_step",
    "gae",
    "update/shuffle",
    "update/loss",
    "update/optimizer",
    "metrics",
}


@pytest.mark.parametrize("library", ["gymnax", "brax"])
def test_ppo_runs_and_every_operation_is_found(library, tmp_path):
    require(library)
    small = ["--updates=4", "--num-envs=16", "--rollout-length=8", "--profile-after=2", "--profile-updates=2"]
    returns = run_example(f"{library}_ppo/train.py", tmp_path, *small)
    assert len(returns) == 1  # after the first update; the next line would follow the tenth
    device_time = read_device_time(tmp_path)
    assert device_time.keys() >= PPO_OPERATIONS
    assert device_time.get("(unattributed)", 0) <= 0.03 * sum(device_time.values())


@pytest.mark.slow
def test_brax_trains_with_our_names_on_it(tmp_path):
    require("brax")
    returns = run_example("brax_ppo/stock.py", tmp_path, "--epochs=10")
    assert max(returns[-3:]) > 3 * returns[0]
    assert read_device_time(tmp_path).keys() >= {"env_step", "policy_network", "value_network"}


@pytest.mark.slow
@pytest.mark.parametrize("library", ["gymnax", "brax"])
def test_ppo_learns(library, tmp_path):
    require(library)
    returns = run_example(f"{library}_ppo/train.py", tmp_path, "--seed=0")
    assert max(returns[-3:]) > 5 * returns[0]


@pytest.mark.slow
def test_a_cnn_trains_and_is_compared_where_nothing_was_tuned(tmp_path):
    require("optax")
    small = ["--updates=3", "--profile-updates=1"]
    run_example("tune_cnn_ppo/train.py", tmp_path, *small)
    assert read_device_time(tmp_path).keys() >= {
        "rollout/inference/nature_conv1", "rollout/inference/nature_conv2", "rollout/env_step", "advantages",
    }  # fmt: skip
    script = REPOSITORY / "examples" / "tune_cnn_ppo" / "compare.py"
    command = [sys.executable, str(script), str(tmp_path), str(tmp_path), "--record", str(tmp_path / "none")]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert re.search(r"nature_conv1 .* 0\.00 ± 0\.00 +nothing: no winner", said)


def require(library):
    """Skip unless the packages of this example are installed."""
    for package in (library, "flax", "optax"):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install 'rlscope-jax[examples]'")


def run_example(script, logdir, *arguments):
    """Run an example in a process of its own; return the mean returns it printed."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, REPOSITORY / "examples" / script, "--logdir", logdir, *arguments]
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert result.returncode == 0, result.stderr
    assert f"rlscope-jax report {logdir}" in result.stdout
    return [float(number) for number in re.findall(r"mean return +([\d.]+)", result.stdout)]


def read_device_time(logdir):
    """Device self time of each operation path, in ns, both directions together."""
    time = Counter()
    for operation in load(logdir).to_dict()["operations"]:
        time[operation["path"]] += operation["device"]["self"]["raw"]
    return time
