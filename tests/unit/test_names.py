import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlscope_jax.names import check_name, decode, encode, join, parse_op_name

SEGMENT = st.from_regex(r"[A-Za-z0-9_.+\-]{1,8}( [A-Za-z0-9_.+\-]{1,8})?", fullmatch=True)
PATH = st.lists(SEGMENT, min_size=1, max_size=4).map("/".join)


@given(PATH)
def test_a_name_survives_encoding(name):
    assert decode(encode(check_name(name))) == name


@pytest.mark.parametrize(
    "name", ["", "/", "a//b", "a:b", "a(b)", "a=b", "a/", "é", "a\n", " a", "a  b", "a,b"]
)
def test_a_bad_name_is_refused_with_the_rule(name):
    with pytest.raises(ValueError, match="Use letters, digits"):
        check_name(name)


def test_a_forgotten_pair_of_parentheses_is_explained():
    with pytest.raises(TypeError, match="with the parentheses"):
        check_name(lambda: None)


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        ("", "loss", "loss"),
        ("update", "", "update"),
        ("update", "loss", "update/loss"),
        ("update", "update/loss", "update/loss"),
        ("update", "update", "update"),
        ("train/update", "update/loss", "train/update/loss"),
        ("a/b", "a", "a/b/a"),
    ],
)
def test_join_collapses_what_both_sides_name(outer, inner, expected):
    assert join(outer, inner) == expected


# Every op_name here was read from a compiled program (jax 0.10.2, XLA:CPU).
@pytest.mark.parametrize(
    ("op_name", "path", "direction"),
    [
        ("jit(f)/rls=update/rls=loss/reduce_sum", "update/loss", None),
        ("jit(f)/jit(main)/rls=update/mul", "update", None),
        ("jit(f)/jvp(rls=update/rls=loss)/rls=inner/tanh", "update/loss/inner", "forward"),
        ("jit(f)/transpose(jvp(rls=update/rls=loss))/rls=inner/mul", "update/loss/inner", "backward"),
        ("jit(f)/vmap(transpose(jvp(rls=update)))/transpose", "update", "backward"),
        ("jit(f)/rls=update/transpose(jvp(rls=loss))/mul", "update/loss", "backward"),
        ("jit(f)/rls=update/transpose(jvp())/mul", "update", None),
        ("jit(s)/transpose(jvp())/while/body/closed_call/rls=step/mul", "step", "backward"),
        (
            "jit(s)/transpose(jvp(jvp()))/checkpoint/rematted_computation/rls=roll/while/body/add",
            "roll",
            "recompute",
        ),
        ("jit(s)/transpose(jvp(jvp()))/checkpoint/rls=roll/while/body/add", "roll", "backward"),
        ("jit(f)/while/body/rls=a/rls=a/mul", "a", None),
        ("jit(f)/rls=a/mul;jit(f)/rls=b/broadcast_in_dim", "a", None),
        ("jit(f)/mul;jit(f)/rls=b/broadcast_in_dim", "b", None),
        ("rls=loss/reduce_sum", "loss", None),
        ("jit(step)/rls=env_step/jit(step)/sort", "env_step", None),
        ("jit(step)/rls=rollout/while/body/jit(step)/rls=env/mul", "rollout/env", None),
        ("jit(f)/rls=a/while/jit(f)/rls=a/while/body/add", "a", None),
    ],
)
def test_marks_are_read_from_op_names(op_name, path, direction):
    name = parse_op_name(op_name)
    assert (name.path, name.direction, name.marked) == (path, direction, True)


@pytest.mark.parametrize(
    ("op_name", "path", "direction"),
    [
        ("jit(f)/update/loss/reduce_sum", "update/loss", None),
        ("jit(train)/jvp(policy)/ActorCritic/Dense_2/dot_general", "policy/ActorCritic/Dense_2", "forward"),
        ("jit(train)/transpose(jvp(policy))/ActorCritic/add_any", "policy/ActorCritic", "backward"),
        ("jit(f)/while/body/closed_call/jit(sort)/sort", "", None),
        ("jit(f)/rollout/while/body/closed_call/jit(_split)/rollout.<locals>.body/add", "rollout", None),
        ("jit(f)/cond/branch_1_fun/mul", "", None),
        ("jit(f)/rollout/while/body/closed_call/eval_jaxpr/env_step/sin", "rollout/env_step", None),  # 0.11.2
        ("jit(f)/rollout/while/jit(f)/rollout/while/body/add", "rollout", None),
        ("x", "", None),
        ("args[0]", "", None),
        ("reduce_sum", "", None),
        ("", "", None),
    ],
)
def test_scopes_are_read_from_op_names(op_name, path, direction):
    name = parse_op_name(op_name)
    assert (name.path, name.direction, name.marked) == (path, direction, False)


@given(st.text(max_size=60))
def test_any_text_is_read_without_an_error(text):
    parse_op_name(text)
    parse_op_name(f"jit(f)/{text}")
