"""Which operation an instruction gets, on hand-written programs of known owners."""

from rlscope_jax.attribution.placement import NOWHERE, ModulePlacements
from rlscope_jax.xla_events.hlo import HloModule, Instruction


def module(*instructions: Instruction, name: str = "jit_f") -> ModulePlacements:
    return ModulePlacements(HloModule(name, list(instructions), {}, 1))


def op(id, name, op_name="", opcode="add", computation=1, operands=(), called=()):
    return Instruction(name, opcode, op_name, id, computation, list(operands), list(called))


def test_a_mark_is_taken_as_it_stands():
    placed = module(op(1, "dot.1", "jit(f)/rls=update/rls=loss/dot_general")).named("dot.1")
    assert (placed.path, placed.evidence, placed.kind) == ("update/loss", "mark", "mark")


def test_an_undecorated_part_is_not_given_to_a_neighbour():
    placements = module(op(1, "sin.1", "jit(f)/rls=a/sin"), op(2, "mul.1", "jit(f)/mul", operands=[1]))
    assert placements.named("mul.1") == NOWHERE


def test_a_copy_between_two_ops_of_one_operation_is_that_operations():
    placements = module(
        op(1, "sin.1", "jit(f)/rls=a/rls=x/sin"),
        op(2, "copy.1", opcode="copy", operands=[1]),
        op(3, "cos.1", "jit(f)/rls=a/rls=y/cos", operands=[2]),
    )
    placed = placements.named("copy.1")
    assert (placed.path, placed.evidence) == ("a", "inherited")


def test_a_copy_in_a_loop_belongs_to_the_loop_when_neighbours_disagree():
    placements = module(
        op(1, "while.1", "jit(f)/rls=rollout/while", "while", called=[2]),
        op(2, "sin.1", "jit(f)/rls=rollout/while/body/rls=env/sin", computation=2),
        op(3, "copy.1", opcode="copy", computation=2, operands=[2]),
        op(4, "cos.1", "jit(f)/rls=rollout/while/body/rls=act/cos", computation=2, operands=[3]),
    )
    placed = placements.named("copy.1")
    assert (placed.path, placed.evidence) == ("rollout", "inherited")


def test_a_copy_looks_through_tuples():
    placements = module(
        op(1, "sin.1", "jit(f)/rls=a/sin"),
        op(2, "tuple.1", opcode="tuple", operands=[1]),
        op(3, "get.1", opcode="get-tuple-element", operands=[2]),
        op(4, "copy.1", opcode="copy", operands=[3]),
    )
    assert placements.named("copy.1").path == "a"


def test_a_nameless_fusion_takes_the_vote_of_its_instructions():
    placements = module(
        op(1, "fusion.1", opcode="fusion", called=[2]),
        op(2, "a.1", "jit(f)/rls=a/sin", computation=2),
        op(3, "b.1", "jit(f)/rls=b/cos", computation=2),
        op(4, "b.2", "jit(f)/rls=b/cos", computation=2),
    )
    assert placements.named("fusion.1").path == "b"


def test_a_fragment_keeps_its_mark_below_its_owner():
    placements = module(
        op(1, "while.1", "jit(f)/rls=update/while", "while", called=[2]),
        op(2, "add.1", "rls=loss/reduce_sum", computation=2),
    )
    assert placements.named("add.1").path == "update/loss"


def test_a_single_root_mark_is_found_and_two_are_none():
    one = module(op(1, "a", "jit(f)/rls=update/rls=x/sin"), op(2, "b", "jit(f)/rls=update/cos"))
    two = module(op(1, "a", "jit(f)/rls=update/sin"), op(2, "b", "jit(f)/rls=gae/cos"))
    assert one.root_mark == "update"
    assert two.root_mark is None


def test_a_module_that_calls_itself_does_not_hang():
    placements = module(op(1, "call.1", opcode="call", computation=1, called=[1]))
    assert placements.named("call.1") == NOWHERE


def test_an_unknown_instruction_is_nowhere():
    assert module().named("gone") == NOWHERE
