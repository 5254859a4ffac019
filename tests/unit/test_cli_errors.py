"""Bad input: one line that says what and where, exit code 2, no traceback."""

import subprocess
import sys

import pytest

from rlscope_jax.__main__ import main


@pytest.mark.parametrize(
    "content", [b"", b"\x00" * 40, b"hello, this is no profile", b"\x0a\xff\xff\xff\xff\x0f", b"{}"]
)
def test_foreign_or_damaged_files(tmp_path, capsys, content):
    path = tmp_path / "plugins/profile/s/vm.xplane.pb"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert main(["report", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "vm.xplane.pb" in error


def test_a_directory_without_profiles_says_where_it_looked(tmp_path, capsys):
    assert main(["report", str(tmp_path)]) == 2
    assert "plugins/profile/<session>" in capsys.readouterr().err


def test_a_missing_directory(tmp_path, capsys):
    assert main(["report", str(tmp_path / "nowhere")]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_no_command_prints_help(capsys):
    assert main([]) == 2
    assert "report" in capsys.readouterr().out


def test_the_damaged_tpu_profile_is_refused_by_name(shared, capsys):
    assert main(["report", str(shared / "traces/corrupt/utf8_damaged_tpu.xplane.pb")]) == 2
    assert "utf8_damaged_tpu.xplane.pb" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error(shared):
    path = shared / "traces/cpu_ours/jax0.10.2_ppo_scan.xplane.pb"
    command = f"{sys.executable} -m rlscope_jax report {path} --json | head -1"
    run = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False
    )
    assert run.stderr == ""
    assert run.stdout == "{\n"
