import pytest

from rlscope_jax.attribution.device_category import CATEGORIES, device_category
from rlscope_jax.xla_events.hlo import Instruction


@pytest.mark.parametrize(
    ("opcode", "target", "expected"),
    [
        ("fusion", "", "compute"),
        ("call", "", "compute"),
        ("while", "", "loop"),
        ("conditional", "", "loop"),
        ("copy", "", "copy"),
        ("copy-start", "", "copy"),
        ("all-reduce-start", "", "collective"),
        ("custom-call", "xla_ffi_python_cpu_callback", "host_call"),
        ("custom-call", "lapack_sgetrf_ffi", "compute"),
        ("outfeed", "", "host_call"),
    ],
)
def test_categories(opcode, target, expected):
    instruction = Instruction(opcode=opcode, custom_call_target=target)
    assert CATEGORIES[device_category(instruction)] == expected


def test_an_unknown_instruction_computes():
    assert CATEGORIES[device_category(None)] == "compute"
