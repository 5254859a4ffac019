"""Every limit of a capture is said: for each code a profile that has it, and its twin that has not."""

import ast
import inspect
import json
from collections.abc import Callable

import pytest

from fuzz.oracle import closes
from rlscope_jax import load
from rlscope_jax.__main__ import main
from rlscope_jax.xla_events import health
from xspace_builder import NVIDIA, US, CpuTrace, GpuTrace, Op, ProgramIds, XSpaceBuilder, module_of

OPS = [Op("dot.1", 5 * US)]
MODULE = module_of("jit_f", 3, OPS, {"dot.1": "jit(f)/loss/dot_general"})
TWINS: dict[str, list[Callable[[bool], XSpaceBuilder]]] = {}


def twins(code):
    """Register a builder of two profiles: the one that has the code's problem, and the one without."""

    def register(build):
        TWINS.setdefault(code, []).append(build)
        return build

    return register


def cpu(runs=2):
    trace = CpuTrace()
    worker = trace.worker()
    for number in range(runs):
        trace.run(MODULE, OPS, (1 + 100 * number) * US, worker=worker)
    return trace


def gpu(kernels=1, devices=1, hlo_op="dot.1"):
    trace = GpuTrace(devices=devices, vendor=NVIDIA)
    stream = trace.stream()
    for number in range(kernels):
        at = (1 + 20 * number) * US
        trace.kernel("k", stream, at=at, start=at + 9 * US, duration=US, module=MODULE, hlo_op=hlo_op)
    return trace


@twins("no_device_ops")
def nothing_recorded(sick):
    space = XSpaceBuilder()
    space.plane("/host:CPU")
    return space if sick else cpu().build()


@twins("no_device_ops")
def the_host_alone(sick):
    trace = CpuTrace()
    trace.run(MODULE, [] if sick else OPS, US)
    return trace.build()


@twins("no_device_ops")
def a_gpu_that_could_not_be_read(sick):
    trace = gpu(kernels=0 if sick else 1)
    trace.dispatch(MODULE, 500 * US)
    return trace.build()


@twins("window_closed_early")
def a_call_at_the_end_without_ops(sick):
    trace = cpu()
    if sick:
        trace.run(MODULE, [], 900 * US)
    return trace.build()


@twins("window_closed_early")
def a_call_in_between_had_nothing_to_do(sick):
    trace = cpu(runs=1)
    trace.run(MODULE, [], 400 * US)
    trace.run(MODULE, [] if sick else OPS, 900 * US)
    return trace.build()


@twins("window_closed_early")
def a_jax_that_records_no_ops(sick):
    """jax 0.6 on CPU: that workers ran shows the programs were done; it is no_device_ops instead."""
    trace = CpuTrace()
    trace.run(MODULE, [], US)
    if not sick:
        trace.worker().event("ThunkExecutor::Execute", 20 * US, 5 * US)
    return trace.build()


@twins("window_closed_early")
def launches_without_kernels(sick):
    trace = gpu(kernels=4)
    if sick:
        trace.devices[0].lines[0].events.pop()
    return trace.build()


@twins("truncated")
def the_device_stops_while_the_host_goes_on(sick):
    trace = gpu(kernels=40)
    if sick:
        del trace.devices[0].lines[0].events[20:]
    return trace.build()


@twins("truncated")
def a_few_launches_at_the_end(sick):
    trace = gpu(kernels=40)
    del trace.devices[0].lines[0].events[-15 if sick else -3 :]
    return trace.build()


@twins("dropped_events")
def the_profiler_complains(sick):
    space = gpu().build()
    space.warnings.append(
        "Some GPU events were dropped. 17 events dropped." if sick else "Failed to get the hostname."
    )
    return space


@twins("missing_devices")
def a_silent_device(sick):
    return gpu(devices=2 if sick else 1).build()


@twins("no_hlo")
def without_hlo(sick):
    space = cpu().build()
    if sick:
        space.planes[0]._events.clear()
    return space


@twins("no_hlo")
def the_hlo_of_another_program(sick):
    trace = cpu()
    space = trace.build()
    if sick:
        other = CpuTrace()
        other.add_program(module_of("jit_g", 4, OPS))
        space.planes[0] = other.build().planes[0]
    return space


def test_a_program_filed_under_another_id_is_known_by_its_name(tmp_path):
    """One from the persistent compilation cache: its ops keep the id of the process that compiled it."""
    trace = cpu()
    trace.program_ids = ProgramIds.KEY
    space = trace.build()
    entries = space.planes[0]._events
    entries[99] = entries.pop(3)
    space.write(tmp_path)
    assert not load(tmp_path).to_dict()["health"]["problems"]


@twins("command_buffers")
def a_captured_graph(sick):
    trace = gpu(kernels=3)
    if sick:
        stream = trace.devices[0].lines[0]
        at = 500 * US
        trace.kernel("g", stream, at=at, start=at, duration=US, module=MODULE, hlo_op="command_buffer.2")
    return trace.build()


class WithSidecar:
    """A profile and what our own capture wrote beside it."""

    def __init__(self, space, **sidecar):
        self.space, self.sidecar = space, sidecar

    def write(self, folder, session):
        self.space.write(folder, session)
        path = folder / "plugins" / "rlscope" / f"{session}.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(self.sidecar))


@twins("truncated")
def ended_for_lack_of_room(sick):
    stopped = {"limit_events": 2000, "estimated_events": 1900, "planned_last_step": 7}
    return WithSidecar(cpu().build(), stopped_early=stopped if sick else None)


@twins("stale_names")
def a_cached_program_without_the_names(sick):
    names = {"traced": {"f": ["policy" if sick else "loss"]}, "from_cache": ["f"]}
    return WithSidecar(cpu().build(), names=names)


@twins("stale_names")
def a_cached_lambda(sick):
    module = module_of("jit__lambda", 3, OPS, {"dot.1": "jit(<lambda>)/rls=update/rls=loss/dot_general"})
    trace = CpuTrace()
    trace.run(module, OPS, US, worker=trace.worker())
    traced = {"<lambda>": ["update/loss/norm" if sick else "update/loss", "loss"]}
    return WithSidecar(trace.build(), names={"traced": traced, "from_cache": ["<lambda>"]})


@twins("stale_names")
def only_what_came_from_the_cache_can_be_stale(sick):
    names = {"traced": {"f": ["policy"], "g": ["value"]}, "from_cache": ["g", *["f"] * sick]}
    return WithSidecar(cpu().build(), names=names)


@twins("clock_skew")
def kernels_before_their_launch(sick):
    trace = gpu(kernels=200)
    for event in trace.devices[0].lines[0].events[: 10 if sick else 1]:
        event.start -= 10 * US
    return trace.build()


@twins("python_tracer_on")
def frames_of_python(sick):
    trace = cpu()
    trace.python.event("$train.py:30 main" if sick else "main", US, 300 * US)
    return trace.build()


def problems(space, folder):
    """{code: problem} of what is written, and the verdict; the report closes whatever is wrong."""
    space.write(folder, "s")
    found = closes(load(folder))["health"]
    return {problem["code"]: problem for problem in found["problems"]}, found["verdict"]


PAIRS = [pytest.param(code, build, id=build.__name__) for code, builds in TWINS.items() for build in builds]


@pytest.mark.parametrize(("code", "build"), PAIRS)
def test_it_is_said_and_only_where_it_is_so(tmp_path, code, build):
    sick, verdict = problems(build(True), tmp_path / "sick")
    well, _ = problems(build(False), tmp_path / "well")
    assert code in sick
    assert code not in well
    assert sick[code]["message"]
    assert sick[code]["hint"]
    assert verdict == ("unusable" if build is nothing_recorded else "degraded")


@pytest.mark.parametrize(
    "sidecar",
    [
        {"names": 3, "stopped_early": 3},
        {"names": {"traced": {"f": 3}, "from_cache": ["f", 3]}, "stopped_early": {"limit_events": "x"}},
        {"names": {"traced": {"f": [3, None]}, "from_cache": ["f"]}, "stopped_early": []},
        {"names": {"traced": [], "from_cache": {}}},
    ],
)
def test_a_spoilt_sidecar_is_no_problem(tmp_path, sidecar):
    assert problems(WithSidecar(cpu().build(), **sidecar), tmp_path) == ({}, "ok")


@pytest.mark.parametrize("trace", [cpu(), gpu()], ids=["cpu", "gpu"])
def test_a_whole_capture_is_ok(tmp_path, trace):
    assert problems(trace.build(), tmp_path) == ({}, "ok")


def test_a_twin_stands_for_every_code():
    calls = (node for node in ast.walk(ast.parse(inspect.getsource(health))) if isinstance(node, ast.Call))
    codes = {ast.literal_eval(call.args[0]) for call in calls if ast.unparse(call.func) == "Problem"}
    assert set(TWINS) == codes


def test_full_buffers_have_dropped_events(tmp_path, monkeypatch):
    """CUPTI keeps 2,097,152 events and drops the rest without a word."""
    monkeypatch.setattr(health, "_BUFFER_LIMIT", 30)
    assert "dropped_events" in problems(gpu(kernels=30).build(), tmp_path / "full")[0]
    assert "dropped_events" not in problems(gpu(kernels=29).build(), tmp_path / "room")[0]


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (the_host_alone, "no op data"),
        (launches_without_kernels, "1 launches"),
        (the_device_stops_while_the_host_goes_on, "20 launches"),
        (the_profiler_complains, "17 events dropped"),
        (a_silent_device, "1 of 2 devices: vm/gpu:1"),
        (without_hlo, "1 of 1 programs"),
        (a_captured_graph, "25 %"),
        (kernels_before_their_launch, "10 of 200 kernels"),
        (ended_for_lack_of_room, "not after step 7, as its schedule said: it held about 1,900 events"),
        (a_cached_program_without_the_names, "(f): policy"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_messages_hold_the_numbers(tmp_path, build, says):
    found, _ = problems(build(True), tmp_path)
    assert any(says in problem["message"] for problem in found.values())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"PK\x03\x04 a zip",
        gpu().to_bytes()[:-9],
        cpu().to_bytes().decode("utf-8", "replace").encode(),
    ],
    ids=["empty", "a line", "another format", "cut", "re-encoded"],
)
def test_what_cannot_be_read_ends_with_code_2(tmp_path, capsys, content):
    path = tmp_path / "plugins/profile/s/node7.xplane.pb"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert main(["report", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert "node7.xplane.pb" in said.err
    assert said.err.count("\n") == 1
    assert not said.out
