"""The sound files that are spoilt: small ones that the builder writes, and those that were recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from xspace_builder import (
    AMD,
    NVIDIA,
    US,
    CpuTrace,
    GpuTrace,
    GpuVendor,
    HloModuleBuilder,
    Op,
    ProgramIds,
    TpuTrace,
    XSpaceBuilder,
    module_of,
)

SHARED = Path(__file__).resolve().parents[3] / "shared" / "traces"
_TREE = [
    Op("while.2", 3 * US, [Op("dot.1", US, tail=200, gap=100), Op("copy", 400, tail=100)], tail=300),
    Op("sort.11", 2 * US, gap=50),
]
_NAMES = {"dot.1": "jit(f)/rls=rollout/rls=env_step/dot", "sort.11": "jit(f)/transpose(jvp(rls=update))/sort"}


def _module(program_id: int = 3) -> HloModuleBuilder:
    return module_of("jit_f", program_id, _TREE, _NAMES)


def _cpu(run_ids: bool = True) -> CpuTrace:
    trace = CpuTrace()
    trace.run_ids = run_ids
    trace.program_ids = ProgramIds.STAT if run_ids else ProgramIds.KEY
    module, worker, eigen = _module(), trace.worker(), trace.worker("XLAEigen")
    for number in range(3):
        begin = number * 400 * US + US
        trace.step(number, begin, 380 * US)
        trace.annotation("rls=rollout", begin + 100, 150 * US)
        trace.run(module, _TREE, begin + 200)
        run = trace.run(module, _TREE, begin + 50 * US, worker=worker)
        trace.also(run, _TREE[1:], begin + 90 * US, eigen)
        trace.annotation("np.asarray(jax.Array)", begin + 200 * US, 100 * US)
    return trace


def _gpu(vendor: GpuVendor) -> GpuTrace:
    trace = GpuTrace(devices=2, vendor=vendor)
    module, streams = _module(), [trace.stream(16), trace.stream(17)]
    for number in range(3):
        begin = number * 200 * US
        trace.step(number, begin, 190 * US)
        trace.dispatch(module, begin + US)
        for index, op in enumerate(("dot.1", "sort.11", "")):
            at = begin + 5 * US * index
            trace.kernel(
                f"kernel_{index}", streams[index % 2], at=at + 6 * US, start=at + 60 * US, duration=8 * US,
                module=module if op else None, hlo_op=op,
            )  # fmt: skip
        trace.copy(streams[0], at=begin + 30 * US, start=begin + 100 * US, duration=5 * US)
    return trace


def _tpu() -> TpuTrace:
    trace = TpuTrace(chips=2)
    module = _module(2**63 + 11)
    for number in range(3):
        begin = number * 200 * US
        trace.step(number, begin, 190 * US)
        trace.dispatch(module, begin + US)
        for chip in range(2):
            trace.run(module, _TREE, begin + 70 * US, chip)
        trace.async_op(module, "dot.1", "dot.1", begin + 75 * US, 20 * US)
    return trace


def _bare() -> XSpaceBuilder:
    space = XSpaceBuilder()
    space.plane("/host:CPU").line("python").event("main", 0, US, {"_r": 1})
    return space


_BUILT: dict[str, Callable[[], bytes]] = {
    "cpu": lambda: _cpu().to_bytes(),
    "cpu without run ids": lambda: _cpu(run_ids=False).to_bytes(),
    "amd": lambda: _gpu(AMD).to_bytes(),
    "nvidia": lambda: _gpu(NVIDIA).to_bytes(),
    "tpu": lambda: _tpu().to_bytes(),
    "bare": lambda: _bare().to_bytes(),
}


def built() -> dict[str, bytes]:
    """The built files by name."""
    return {name: build() for name, build in _BUILT.items()}


def recorded() -> dict[str, bytes]:
    """The recorded files by name; none where the folder is not at hand."""
    return {path.name: path.read_bytes() for path in sorted(SHARED.glob("*/*.xplane.pb"))}
