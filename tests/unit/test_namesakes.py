"""What tells functions of one name apart."""

from rlscope_jax.attribution.functions import namesakes_of


class Frames:
    def __init__(self, *found):
        self.found = set(found)

    def definitions(self):
        return self.found


class Module:
    def __init__(self, *found):
        self.frames = Frames(*found)


def test_the_end_of_the_path_that_no_other_has():
    one = Module(("make.<locals>.step", "/a/ppo.py"), ("step", "/a/envs/utils.py"), ("reset", "/a/ppo.py"))
    other = Module(("step", "/a/agents/utils.py"))
    assert namesakes_of([one, other]) == {
        ("step", "/a/ppo.py"): "ppo.py",
        ("step", "/a/envs/utils.py"): "envs:utils.py",
        ("step", "/a/agents/utils.py"): "agents:utils.py",
    }


def test_libraries_modules_and_lambdas_are_passed_over():
    library = "/v/lib/python3.11/site-packages/flax/linen/module.py"
    one = Module(("apply", library), ("<module>", "/a/x.py"), ("<lambda>", "/a/x.py"), ("apply", "/a/x.py"))
    assert namesakes_of([one, Module(("<module>", "/a/y.py"), ("<lambda>", "/a/y.py"))]) == {}


def test_paths_of_windows():
    one, other = Module(("step", r"C:\rl\ppo\main.py")), Module(("step", r"C:\rl\sac\main.py"))
    assert set(namesakes_of([one, other]).values()) == {"ppo:main.py", "sac:main.py"}
