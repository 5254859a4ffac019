"""`rlscope-jax doctor`: the installation that runs these tests, captures good and bad."""

import pytest

from rlscope_jax.__main__ import main
from rlscope_jax.commands import doctor


def test_this_installation_can_record_and_read(capsys):
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    states = {line.split(":")[0].split()[-1]: line.split()[0] for line in lines if not line.startswith(" ")}
    assert states["profiler"] == states["backend"] == states["versions"] == "ok"


def test_a_check_that_breaks_is_a_finding(monkeypatch, capsys):
    def broken():
        raise OSError("the driver is gone")

    monkeypatch.setattr(doctor, "_backend", broken)
    assert main(["doctor"]) == 1
    assert "failed   backend: OSError: the driver is gone" in capsys.readouterr().out


def test_a_capture_with_problems_names_them(shared, capsys):
    path = str(shared / "traces/cpu_ours/jax0.6.2_ppo_loop.xplane.pb")
    assert main(["doctor", path]) == 0
    out = capsys.readouterr().out
    assert "verdict: degraded" in out
    assert "no_device_ops" in out


@pytest.mark.parametrize("arguments", [["/nowhere"], ["--session", "x", "/nowhere"]])
def test_a_missing_capture_is_one_line(arguments, capsys):
    assert main(["doctor", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
