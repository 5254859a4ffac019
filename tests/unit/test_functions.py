"""Which function an instruction came from: built modules with the traps that real ones hold."""

import pytest

from rlscope_jax.attribution.placement import ModulePlacements
from rlscope_jax.xla_events.hlo import parse_hlo_proto
from xspace_builder.hlo import HloModuleBuilder

SITE = "/usr/lib/python3/site-packages/"
TRAIN, STEP, EPOCH = (
    "make.<locals>.train",
    "make.<locals>.train.<locals>.step",
    "make.<locals>.train.<locals>.epoch",
)


class Program:
    """A module `jit_train` whose stacks are given as functions, or (function, file) pairs."""

    def __init__(self, name="jit_train"):
        self.module = HloModuleBuilder(name, 1)

    def frames(self, *calls):
        frame = 0
        for line, call in enumerate(calls, 1):
            function, file = call if isinstance(call, tuple) else (call, "/home/me/ppo.py")
            frame = self.module.frames.add(file, function, line, frame)
        return frame

    def add(self, name, op_name, *calls, computation=None, opcode="add", runs=()):
        where = computation or self.module.entry
        where.add(name, opcode, op_name=op_name, stack_frame=self.frames(*calls), calls=runs)
        return self

    def loop(self, name, op_name, *calls, computation=None):
        body = self.module.computation(f"{name}_body")
        self.add(name, op_name, *calls, computation=computation, opcode="while", runs=[body])
        return body

    def path(self, name, grouping="auto"):
        placements = ModulePlacements(parse_hlo_proto(self.module.encode()), grouping)
        placed = placements.shares(name)[0][0]
        assert placed.evidence in ("function", "inherited")
        return placed.path


def test_the_chain_begins_at_the_compiled_function():
    program = Program().add("a", "jit(train)/mul", "<module>", "main", TRAIN, STEP)
    assert program.path("a") == "train/step"


def test_stacks_that_repeat_themselves_at_loops_are_told_once():
    """As jax 0.10 stacks them."""
    calls = ["<module>", TRAIN, TRAIN, STEP, "gae", STEP, "gae", "advantage"]
    assert Program().add("a", "jit(train)/mul", *calls).path("a") == "train/step/gae/advantage"


def test_a_stack_cut_to_its_innermost_frames_hangs_below_the_compiled_function():
    program = Program().add("whole", "jit(train)/add", "<module>", TRAIN).add("cut", "jit(train)/mul", STEP)
    assert program.path("cut") == "train/step"


def test_functions_of_libraries_fold_into_the_users_that_calls_them():
    calls = ["<module>", TRAIN, STEP, ("Env.step", SITE + "gymnax/env.py"), ("clip", SITE + "chex/ops.py")]
    program = Program().add("a", "jit(train)/mul", *calls)
    assert program.path("a") == "train/step"
    assert program.path("a", "function") == "train/step/Env.step/clip"


def test_a_program_all_of_a_librarys_shows_the_librarys_functions():
    """Brax's own training loop, called from a script."""
    brax = SITE + "brax/training/ppo/train.py"
    calls = ["<module>", ("train", brax), ("train.<locals>.training_epoch", brax), ("sgd_step", brax)]
    program = Program("jit_training_epoch").add("a", "jit(training_epoch)/mul", *calls)
    assert program.path("a") == "training_epoch/sgd_step"


def test_machinery_between_the_functions_is_left_out():
    calls = [TRAIN, ("wrapper", "/x/site-packages/rlscope_jax/annotate/_operation.py"), STEP]
    assert Program().add("a", "jit(train)/mul", *calls).path("a") == "train/step"


@pytest.mark.parametrize("stacked", [True, False], ids=["jax 0.10", "jax 0.8"])
def test_a_helper_traced_once_is_not_where_it_was_called_first(stacked):
    """`jax.random.split`, called in `step`, then in `epoch`: what it holds keeps the frames of `step`."""
    program = Program()
    step = program.loop("while.1", "jit(train)/while", TRAIN)
    epoch = program.loop("while.2", "jit(train)/while", TRAIN)
    nest = "jit(train)/while/body/closed_call"
    program.add("in_step", f"{nest}/mul", TRAIN, STEP, computation=step)
    program.add("in_epoch", f"{nest}/mul", TRAIN, EPOCH, computation=epoch)
    program.add("plumbing", "jit(train)/while/body/dynamic_slice", TRAIN, computation=epoch)
    stale = (TRAIN, EPOCH, STEP) if stacked else (TRAIN, STEP)
    program.add("first", f"{nest}/jit(_split)/xor", TRAIN, STEP, computation=step)
    program.add("second", f"{nest}/jit(_split)/xor", *stale, computation=epoch)
    inner = program.loop("while.3", f"{nest}/jit(_split)/while", *stale, computation=epoch)
    program.add("third", f"{nest}/jit(_split)/while/body/closed_call/xor", *stale, computation=inner)
    assert program.path("first") == "train/step"
    assert program.path("second") == program.path("third") == "train/epoch"


def test_a_function_made_of_helpers_alone_is_not_its_neighbours():
    """All that `sample` does is call `jnp.sort`, which jax compiles on its own."""
    program = Program().add("a", "jit(train)/jit(sort)/sort", "<module>", TRAIN, "sample")
    program.add("b", "jit(train)/sin", "<module>", TRAIN, "normalize")
    body = program.loop("while.1", "jit(train)/while", "<module>", TRAIN)
    nest = "jit(train)/while/body/closed_call"
    program.add("c", f"{nest}/jit(sort)/sort", "<module>", TRAIN, STEP, "sample", computation=body)
    program.add("d", f"{nest}/sin", "<module>", TRAIN, STEP, "normalize", computation=body)
    assert program.path("a") == "train/sample"
    assert program.path("c") == "train/step/sample"


def test_a_compiled_function_is_below_the_one_that_calls_it():
    program = Program().add("a", "jit(train)/jit(forward)/dot", "<module>", TRAIN, "actor", "forward")
    program.add("b", "jit(train)/sin", "<module>", TRAIN, "rank")
    assert program.path("a") == "train/actor/forward"


def test_a_stack_that_lost_its_middle_loses_its_callers_too():
    """Rematerialisation: the stack is the caller's, then that of the function run anew."""
    program = Program().add("whole", "jit(train)/add", "<module>", "main", TRAIN)
    program.add("cut", "jit(train)/jvp()/checkpoint/dot", "<module>", "main", "layer")
    assert program.path("cut") == "train/layer"


@pytest.mark.parametrize("folder", ["jax", "rlscope_jax/examples", "mujoco", "python3", "brax"])
def test_a_folder_may_be_called_as_a_library_is(folder):
    calls = ["<module>", TRAIN, ("loss", f"/home/me/{folder}/functools.py")]
    assert Program().add("a", "jit(train)/mul", *calls).path("a") == "train/loss"


def test_a_function_of_the_users_compiled_on_its_own_is_named_wherever_it_is_called():
    program = Program()
    step = program.loop("while.1", "jit(train)/while", TRAIN)
    epoch = program.loop("while.2", "jit(train)/while", TRAIN)
    nest = "jit(train)/while/body/closed_call"
    program.add("in_step", f"{nest}/mul", TRAIN, STEP, computation=step)
    program.add("in_epoch", f"{nest}/mul", TRAIN, EPOCH, computation=epoch)
    for name, body in (("first", step), ("second", epoch)):
        program.add(name, f"{nest}/jit(policy)/tanh", TRAIN, STEP, "policy", "mlp", computation=body)
    assert program.path("first") == "train/step/policy/mlp"
    assert program.path("second") == "train/epoch/policy/mlp"


def test_a_loop_body_traced_once_belongs_to_the_loop_that_runs_it():
    program = Program()
    collect = program.loop("while.1", "jit(train)/while", TRAIN, "collect")
    evaluate = program.loop("while.2", "jit(train)/while", TRAIN, "evaluate")
    for name, body in (("a", collect), ("b", evaluate)):
        nest = "jit(train)/while/body/closed_call"
        program.add(name, f"{nest}/mul", TRAIN, "collect", STEP, computation=body)
        program.add(f"{name}_env", f"{nest}/add", TRAIN, "collect", STEP, "env", computation=body)
    assert program.path("a_env") == "train/collect/step/env"
    assert program.path("b") == "train/evaluate/step"
    assert program.path("b_env") == "train/evaluate/step/env"


def test_what_xla_inserts_into_a_body_belongs_to_the_loop():
    program = Program()
    body = program.loop("while.1", "jit(train)/while", TRAIN, STEP)
    program.add("copy.1", "", computation=body, opcode="copy")
    assert program.path("copy.1") == "train/step"


def test_a_lambda_is_named_by_its_line():
    program = Program("jit__lambda").add("a", "jit(<lambda>)/mul", "<module>", "<lambda>", "loss")
    assert program.path("a") == "<lambda:2>/loss"


def test_the_compiled_lambda_is_not_one_that_called_it():
    outer = ["<module>", "<lambda>", "main", "main.<locals>.<lambda>"]
    program = (
        Program("jit__lambda")
        .add("a", "jit(<lambda>)/mul", *outer)
        .add("b", "jit(<lambda>)/mul", *outer, "f")
    )
    assert program.path("b") == "<lambda:4>/f"


def test_what_jax_compiles_under_a_name_of_its_own_is_named_after_the_users():
    """pmap of jax 0.10 compiles everything as `_fun`."""
    program = Program("jit__fun")
    program.add("a", "jit(_fun)/mul", "<module>", "main", "training_epoch")
    program.add("b", "jit(_fun)/add", "<module>", "main", "training_epoch", "loss")
    assert program.path("b") == "training_epoch/loss"
    placements = ModulePlacements(parse_hlo_proto(program.module.encode()))
    assert placements.function == "training_epoch"


def test_a_program_of_jaxs_own_is_not_its_first_callers():
    program = Program("jit_multiply").add("a", "jit(multiply)/mul", "<module>", "main", "step")
    assert program.path("a") == "multiply"
