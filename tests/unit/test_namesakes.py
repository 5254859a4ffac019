"""What tells functions of one name apart."""

from rlscope_jax.attribution.functions import namesakes_of


def test_the_end_of_the_path_that_no_other_has():
    met = {("step", "/a/ppo.py"), ("step", "/a/envs/utils.py"), ("step", "/a/agents/utils.py")}
    assert namesakes_of({*met, ("reset", "/a/ppo.py")}) == {
        ("step", "/a/ppo.py"): "ppo.py",
        ("step", "/a/envs/utils.py"): "envs:utils.py",
        ("step", "/a/agents/utils.py"): "agents:utils.py",
    }


def test_lambdas_have_lines_for_names():
    assert namesakes_of({("<lambda:3>", "/a/x.py"), ("<lambda:3>", "/a/y.py")}) == {}


def test_paths_of_windows():
    met = {("step", r"C:\rl\ppo\main.py"), ("step", r"C:\rl\sac\main.py")}
    assert set(namesakes_of(met).values()) == {"ppo:main.py", "sac:main.py"}
