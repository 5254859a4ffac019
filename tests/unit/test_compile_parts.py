"""What the compiler does within a compilation is compile time, whatever its events are called."""

import pytest

from rlscope_jax import load
from xspace_builder import MS, CpuTrace


@pytest.mark.parametrize("part", ["JitCompiler::Compile", "ThunkEmitter::EmitEntryComputation"])
def test_parts_of_a_compile_are_compile_time(tmp_path, part):
    """Seen in profiles of jax 0.8.0 and 0.11.2, where they are most of a compile."""
    trace = CpuTrace()
    trace.python.event("PjitFunction(update)", 0, 20 * MS)
    trace.python.event("backend_compile_and_load", 5 * MS, 12 * MS)
    trace.python.event(part, 6 * MS, 10 * MS)
    trace.write(tmp_path)
    rows = load(tmp_path).to_dict()["operations"]
    compile_time = sum(row["host"]["categories"]["compile"]["raw"] for row in rows)
    assert compile_time == 17_000_000  # tracing and lowering come first, within the call
    assert sum(row["host"]["categories"]["runtime"]["raw"] for row in rows) == 0
