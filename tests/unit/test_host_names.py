import pytest

from rlscope_jax.attribution import host_names
from rlscope_jax.attribution.runs import plain


@pytest.mark.parametrize(
    ("event", "function"),
    [
        ("PjitFunction(train_step)", "train_step"),
        ("PjitFunction(<lambda>)", "<lambda>"),
        ("PjitFunction(jit(<lambda>))", "<lambda>"),  # compiled ahead of time
        ("PjitFunction(jitter)", "jitter"),
        ("PmapFunction(f)", "f"),
        ("ParseArguments", None),
    ],
)
def test_the_function_called(event, function):
    assert host_names.function_name(event) == function


@pytest.mark.parametrize(
    ("called", "module"), [("<lambda>", "_lambda"), ("_split", "_split"), ("f", "f"), ("ünï", "__n__")]
)
def test_a_call_and_its_module_spell_alike(called, module):
    assert plain(called) == plain(module)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("PjitFunction(f)", host_names.DISPATCH),
        ("CommonPjRtLoadedExecutable::Execute (jit_f)", host_names.DISPATCH),
        ("backend_compile_and_load", host_names.COMPILE),
        ("DevicePutWithSharding", host_names.TRANSFER),
        ("np.asarray(jax.Array)", host_names.WAIT),
        ("SomethingNew::Method", host_names.RUNTIME),
        ("agent::act", host_names.ANNOTATION),
        ("Await replies", host_names.ANNOTATION),
        ("backend_compile_x", host_names.ANNOTATION),
        ("device_get_batch", host_names.ANNOTATION),
        ("collect", host_names.ANNOTATION),
    ],
)
def test_categories(name, expected):
    assert host_names.category(name) == expected
