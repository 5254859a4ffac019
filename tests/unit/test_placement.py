"""Which operation an instruction gets, on hand-written programs of known owners."""

import pytest

from rlscope_jax.attribution.placement import NOWHERE, ModulePlacements
from rlscope_jax.xla_events.hlo import HloModule, Instruction
from xspace_builder import wire
from xspace_builder.shapes import encode_shape

SUMMED_OVER_1 = wire.packed(1, [1])


def module(*instructions: Instruction, name: str = "jit_f") -> ModulePlacements:
    return ModulePlacements(HloModule(name, list(instructions), {}, 1))


def main(placements, name):
    return placements.shares(name)[0][0]


def op(id, name, op_name="", opcode="add", computation=1, operands=(), called=(), **more):
    return Instruction(name, opcode, op_name, id, computation, list(operands), list(called), **more)


def test_a_mark_is_taken_as_it_stands():
    placed = main(module(op(1, "dot.1", "jit(f)/rls=update/rls=loss/dot_general")), "dot.1")
    assert (placed.path, placed.evidence, placed.kind) == ("update/loss", "mark", "mark")


def test_an_undecorated_part_is_not_given_to_a_neighbour():
    placements = module(op(1, "sin.1", "jit(f)/rls=a/sin"), op(2, "mul.1", "jit(f)/mul", operands=[1]))
    placed = main(placements, "mul.1")
    assert (placed.path, placed.evidence) == ("f", "function")


def test_a_copy_between_two_ops_of_one_operation_is_that_operations():
    placements = module(
        op(1, "sin.1", "jit(f)/rls=a/rls=x/sin"),
        op(2, "copy.1", opcode="copy", operands=[1]),
        op(3, "cos.1", "jit(f)/rls=a/rls=y/cos", operands=[2]),
    )
    placed = main(placements, "copy.1")
    assert (placed.path, placed.evidence) == ("a", "inherited")


def test_a_copy_in_a_loop_belongs_to_the_loop_when_neighbours_disagree():
    placements = module(
        op(1, "while.1", "jit(f)/rls=rollout/while", "while", called=[2]),
        op(2, "sin.1", "jit(f)/rls=rollout/while/body/rls=env/sin", computation=2),
        op(3, "copy.1", opcode="copy", computation=2, operands=[2]),
        op(4, "cos.1", "jit(f)/rls=rollout/while/body/rls=act/cos", computation=2, operands=[3]),
    )
    placed = main(placements, "copy.1")
    assert (placed.path, placed.evidence) == ("rollout", "inherited")


def test_a_copy_looks_through_tuples():
    placements = module(
        op(1, "sin.1", "jit(f)/rls=a/sin"),
        op(2, "tuple.1", opcode="tuple", operands=[1]),
        op(3, "get.1", opcode="get-tuple-element", operands=[2]),
        op(4, "copy.1", opcode="copy", operands=[3]),
    )
    assert main(placements, "copy.1").path == "a"


def test_a_nameless_fusion_of_one_operation_is_that_operations():
    placements = module(
        op(1, "fusion.1", opcode="fusion", called=[2]),
        op(3, "b.1", "jit(f)/rls=b/cos", computation=2),
        op(4, "b.2", "", computation=2),
    )
    ((placed, _),) = placements.shares("fusion.1")
    assert (placed.path, placed.evidence) == ("b", "inherited")


def test_a_fusion_of_two_operations_is_divided_by_what_their_instructions_cost():
    placements = module(
        op(1, "fusion.1", "jit(f)/rls=a/add", opcode="fusion", called=[2]),
        op(2, "a.1", "jit(f)/rls=a/add", computation=2, shape=encode_shape("f32[8,4]")),
        op(3, "b.1", "jit(f)/rls=b/dot", "dot", 2, [2, 2], shape=encode_shape("f32[8]"), dot=SUMMED_OVER_1),
        op(4, "c.1", "jit(f)/rls=c/broadcast", "broadcast", computation=2, shape=encode_shape("f32[999]")),
    )
    shares = [(place.path, place.evidence, weight) for place, weight in placements.shares("fusion.1")]
    assert shares == [("b", "split", 2 * 8 * 4), ("a", "split", 8 * 4)]


@pytest.mark.parametrize(
    ("grouping", "path", "kind"),
    [
        ("auto", "update", "mark"),
        ("operation", "update", "mark"),
        ("scope", "update/Dense_0", "mark"),
        ("function", "f", "function"),
    ],
)
def test_what_names_an_operation_can_be_chosen(grouping, path, kind):
    instruction = op(1, "dot.1", "jit(f)/rls=update/Dense_0/dot_general")
    placements = ModulePlacements(HloModule("jit_f", [instruction], {}, 1), grouping)
    placed = main(placements, "dot.1")
    assert (placed.path, placed.kind) == (path, kind)


def test_a_fragment_keeps_its_mark_below_its_owner():
    placements = module(
        op(1, "while.1", "jit(f)/rls=update/while", "while", called=[2]),
        op(2, "add.1", "rls=loss/reduce_sum", computation=2),
    )
    assert main(placements, "add.1").path == "update/loss"


def test_a_single_root_mark_is_found_and_two_are_none():
    one = module(op(1, "a", "jit(f)/rls=update/rls=x/sin"), op(2, "b", "jit(f)/rls=update/cos"))
    two = module(op(1, "a", "jit(f)/rls=update/sin"), op(2, "b", "jit(f)/rls=gae/cos"))
    assert one.root_mark == "update"
    assert two.root_mark is None


def test_a_module_that_calls_itself_does_not_hang():
    placements = module(op(1, "call.1", opcode="call", computation=1, called=[1]))
    assert main(placements, "call.1") == NOWHERE


def test_an_unknown_instruction_is_nowhere():
    assert main(module(), "gone") == NOWHERE
