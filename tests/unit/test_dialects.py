"""GPU and TPU profiles of known truth: whose device time it is, on which device, and what must not count."""

from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from built_reports import by_path, written
from fuzz.oracle import closes
from fuzz.plain import Op as PlainOp
from fuzz.plain import covered, self_times
from xspace_builder import AMD, NS, NVIDIA, US, GpuTrace, Op, TpuTrace, module_of

several = settings(max_examples=60)
both_vendors = pytest.mark.parametrize("vendor", [AMD, NVIDIA], ids=lambda vendor: vendor.name)
UNATTRIBUTED = "(unattributed)"
DOT, SORT, ADD = "dot.1", "sort.11", "add.3"
OP_NAMES = {DOT: "jit(f)/update/loss/dot_general", SORT: "jit(f)/rollout/sort"}
EXECUTE = "PjRtStreamExecutorLoadedExecutable::ExecuteHelper"
GPU_KERNELS = ("loop_fusion.kd", "Cijk_Ailk_Bljk.kd", "void cutlass::Kernel<gemm>")


def module(program_id=3, name="jit_f"):
    return module_of(name, program_id, [Op(name, 0) for name in (DOT, SORT, ADD)], OP_NAMES)


def by_category(data):
    times = Counter()
    for row in data["operations"]:
        times.update({name: figure["raw"] for name, figure in row["device"]["categories"].items()})
    return +times


def of_devices(data):
    return {device["id"]: device["self"]["raw"] for device in data["devices"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A new folder at every call: hypothesis runs a test many times with one fixture."""
    return lambda: tmp_path_factory.mktemp("logdir")


def call(trace, called, at, duration=100 * US, operation=""):
    """A call of a jitted function, under an operation of the host's."""
    trace.dispatch(called, at, duration)
    trace.python.event(EXECUTE, at + 2_500 * NS, duration - 5 * US)
    if operation:
        trace.annotation(operation, at - US, duration + 2 * US)


def strip(event, *names):
    event.stats = [(key, value) for key, value in event.stats if key not in names]


PROGRAM_STATS = ("tf_op", "name", "hlo_op", "hlo_module", "program_id")


@dataclass
class DrawnGpuTrace:
    """A GPU profile and, of each of its streams, the ops by the path they belong to."""

    trace: GpuTrace
    streams: dict[tuple[int, int], list[PlainOp]] = field(default_factory=dict)

    def on(self, device):
        return [ops for (where, _), ops in self.streams.items() if where == device]


@st.composite
def gpu_traces(draw):
    """Calls under operations; their kernels run later, on any stream, and overlap even within one."""
    devices = draw(st.integers(1, 3))
    drawn = DrawnGpuTrace(GpuTrace(devices + 1, draw(st.sampled_from([AMD, NVIDIA]))))
    trace, now = drawn.trace, 10 * US
    programs = [module(3, "jit_f"), module(4, "jit_g")]
    lines = {
        (device, number): trace.stream(16 + number, device)
        for device in range(devices)
        for number in range(draw(st.integers(1, 3)))
    }
    for _ in range(draw(st.integers(1, 4))):
        called, operation = draw(st.sampled_from(programs)), draw(st.sampled_from(["", "collect", "update"]))
        call(trace, called, now, operation=operation)
        for index in range(draw(st.integers(0, 5))):
            where, at = draw(st.sampled_from(list(lines))), now + (5 + 5 * index) * US
            start, duration = at + draw(st.integers(0, 400 * US)), draw(st.integers(0, 60 * US))
            name, op = draw(st.sampled_from(GPU_KERNELS)), draw(st.sampled_from([DOT, SORT, ADD]))
            launched = trace.kernel(
                name, lines[where], at=at, start=start, duration=duration, module=called, hlo_op=op
            )
            if draw(st.booleans()):  # what the kernel does not say, its launch may know
                strip(launched.device, *PROGRAM_STATS)
            scope = "/".join(OP_NAMES.get(op, "").split("/")[1:-1])
            ops = drawn.streams.setdefault(where, [])
            ops.append(PlainOp(start, start + duration, _joined(operation, scope)))
        now += 120 * US
    return drawn


def _joined(operation, scope):
    if not operation or not scope:
        return operation or scope or UNATTRIBUTED
    return scope if scope.split("/")[0] == operation else f"{operation}/{scope}"


@several
@given(drawn=gpu_traces())
def test_time_goes_to_the_operation_that_launched(drawn, folder):
    report = written(drawn.trace, folder())
    data = closes(report)
    (process,) = report.processes
    expected = Counter()
    for device in range(len(drawn.trace.devices)):
        own = self_times(drawn.on(device))
        expected.update(own)
        cells = process.table.cells
        assert int(cells.self_of_device[device]) == sum(own.values())
        busy = covered((op.start, op.end) for ops in drawn.on(device) for op in ops)
        assert int(cells.busy[device]) == busy
        assert (of_devices(data)[f"vm/gpu:{device}"] is None) == (not drawn.on(device))
    assert by_path(report) == +expected
    everywhere = covered((op.start, op.end) for ops in drawn.streams.values() for op in ops)
    assert int(cells.device_only.sum() + cells.overlap.sum()) == everywhere
    assert data["counts"]["launches"] == data["counts"]["device_ops"] == sum(map(len, drawn.streams.values()))


@both_vendors
def test_launched_in_one_operation_run_in_another(tmp_path, vendor):
    """Never by time: the kernel of `collect` runs wholly within the call of `update`."""
    trace = GpuTrace(vendor=vendor)
    stream, called = trace.stream(), module()
    call(trace, called, 10 * US, operation="collect")
    call(trace, called, 200 * US, operation="update")
    trace.kernel("k", stream, at=20 * US, start=220 * US, duration=30 * US, module=called, hlo_op=ADD)
    trace.kernel("k", stream, at=210 * US, start=500 * US, duration=7 * US, module=called, hlo_op=ADD)
    report = written(trace, tmp_path)
    assert by_path(report) == {"collect": 30 * US, "update": 7 * US}
    rows = {row["path"]: row for row in report.to_dict()["operations"]}
    assert [rows[path]["host"]["dispatches"] for path in ("collect", "update")] == [1, 1]
    assert [rows[path]["device"]["launch_latency"] for path in ("collect", "update")] == [200_000, 290_000]


@both_vendors
def test_library_kernels_belong_to_the_call_that_launched_them(tmp_path, vendor):
    """A kernel of cuDNN, or a copy, names no program; its launch lies in a call all the same."""
    trace = GpuTrace(vendor=vendor)
    stream, called = trace.stream(), module()
    call(trace, called, 10 * US, operation="collect")
    trace.kernel("cudnn_kernel", stream, at=20 * US, start=300 * US, duration=30 * US)
    trace.copy(stream, at=40 * US, start=400 * US, duration=5 * US)
    report = written(trace, tmp_path)
    assert by_path(report) == {"collect": 35 * US}


@both_vendors
def test_a_kernel_that_only_its_launch_knows(tmp_path, vendor):
    trace = GpuTrace(vendor=vendor)
    called = module()
    call(trace, called, 10 * US)
    launch = trace.kernel(
        "k", trace.stream(), at=20 * US, start=90 * US, duration=9 * US, module=called, hlo_op=DOT
    )
    strip(launch.device, *PROGRAM_STATS)
    report = written(trace, tmp_path)
    assert by_path(report) == {"update/loss": 9 * US}
    (program,) = (program for program in report.to_dict()["programs"] if program["device_ops"])
    assert (program["program_id"], program["function"]) == (3, "f")


@both_vendors
def test_two_kernels_of_one_launch(tmp_path, vendor):
    trace = GpuTrace(vendor=vendor)
    called, stream = module(), trace.stream()
    call(trace, called, 10 * US)
    first = trace.kernel("k", stream, at=20 * US, start=90 * US, duration=9 * US, module=called, hlo_op=DOT)
    stats = [("correlation_id", stat) for key, stat in first.device.stats if key == "correlation_id"]
    stream.event("Im2Col.kd", 120 * US, 4 * US, stats)
    report = written(trace, tmp_path)
    assert by_path(report) == {"update/loss": 13 * US}
    counts = report.to_dict()["counts"]
    assert (counts["device_ops"], counts["launches"]) == (2, 1)


@both_vendors
@pytest.mark.parametrize(
    "name", ["__amd_rocclr_copyBuffer.kd", "__amd_rocclr_fillBufferAligned.kd", "MemcpyD2D"]
)
def test_copies_on_a_line_of_kernels_are_copies(tmp_path, vendor, name):
    trace = GpuTrace(vendor=vendor)
    stream = trace.stream()
    trace.copy(stream, at=10 * US, start=30 * US, duration=5 * US, name=name)
    trace.kernel("loop_fusion", stream, at=12 * US, start=50 * US, duration=US)
    assert by_category(written(trace, tmp_path).to_dict()) == {"copy": 5_000, "compute": 1_000}


@pytest.mark.parametrize(
    "name", ["ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclKernel_SendRecv", "mscclKernel"]
)
def test_collectives_are_told_by_their_kernels(tmp_path, name):
    trace = GpuTrace(vendor=NVIDIA)
    trace.kernel(name, trace.stream(), at=10 * US, start=30 * US, duration=5 * US)
    assert by_category(written(trace, tmp_path).to_dict()) == {"collective": 5_000}


@both_vendors
@pytest.mark.parametrize(
    "derived",
    [
        "Steps", "XLA Modules", "XLA Ops", "XLA TraceMe", "TensorFlow Ops", "TensorFlow Name Scope",
        "Framework Ops", "Framework Name Scope", "Source code", "Source", "Launch Stats",
        "XLA Ops - from #16", "Framework Name Scope - from #20",
    ],
)  # fmt: skip
def test_lines_derived_from_streams_count_for_nothing(tmp_path, vendor, derived):
    trace = GpuTrace(vendor=vendor)
    called = module()
    call(trace, called, 10 * US)
    launch = trace.kernel(
        "k", trace.stream(), at=20 * US, start=90 * US, duration=9 * US, module=called, hlo_op=DOT
    )
    plain = written(trace, tmp_path / "plain").to_dict()
    line = trace.devices[0].line(derived, id=99)
    line.event("k", 90 * US, 9 * US, launch.device.stats)
    line.event("jit_f", 60 * US, 39 * US, launch.device.stats)
    derived_too = written(trace, tmp_path / "derived").to_dict()
    assert derived_too["operations"] == plain["operations"]
    assert derived_too["counts"] == plain["counts"]
    assert derived_too["totals"] == plain["totals"]


@both_vendors
@pytest.mark.parametrize(
    "name", ["Stream #16", "Stream #16(Compute)", "Stream #16(MemcpyH2D,Memset,Compute)"]
)
def test_streams_go_by_any_name(tmp_path, vendor, name):
    trace = GpuTrace(vendor=vendor)
    stream = trace.stream()
    stream.name = name
    trace.kernel("k", stream, at=20 * US, start=90 * US, duration=9 * US)
    assert of_devices(written(trace, tmp_path).to_dict()) == {"vm/gpu:0": 9_000}


@both_vendors
def test_a_device_without_data_is_null_not_zero(tmp_path, vendor):
    trace = GpuTrace(devices=3, vendor=vendor)
    trace.kernel("k", trace.stream(device=1), at=20 * US, start=90 * US, duration=9 * US)
    data = closes(written(trace, tmp_path))
    assert of_devices(data) == {"vm/gpu:0": None, "vm/gpu:1": 9_000, "vm/gpu:2": None}
    assert [device["busy"]["raw"] for device in data["devices"]] == [None, 9_000, None]
    (problem,) = data["health"]["problems"]
    assert problem["code"] == "missing_devices"
    assert "vm/gpu:0, vm/gpu:2" in problem["message"]


@both_vendors
def test_a_device_whose_only_op_takes_no_time_is_zero_not_null(tmp_path, vendor):
    trace = GpuTrace(devices=1, vendor=vendor)
    trace.kernel("k", trace.stream(), at=20 * US, start=90 * US, duration=0)
    assert of_devices(written(trace, tmp_path).to_dict()) == {"vm/gpu:0": 0}


@both_vendors
def test_a_device_that_leaves_no_correlation_ids(tmp_path, vendor):
    trace = GpuTrace(vendor=vendor)
    launch = trace.kernel("k", trace.stream(), at=20 * US, start=90 * US, duration=9 * US)
    strip(launch.device, "correlation_id")
    assert by_path(written(trace, tmp_path)) == {UNATTRIBUTED: 9 * US}


def test_launches_recorded_on_a_plane_of_their_own(tmp_path):
    """CUPTI's calls may stand on `/host:CUPTI`."""
    trace = GpuTrace(vendor=NVIDIA)
    called = module()
    call(trace, called, 10 * US)
    launch = trace.kernel(
        "k", trace.stream(), at=20 * US, start=90 * US, duration=9 * US, module=called, hlo_op=DOT
    )
    strip(launch.device, *PROGRAM_STATS)
    space = trace.build()
    line = space.plane("/host:CUPTI").line("Host Threads/2356", id=2356)
    for event in trace.launcher.events:
        line.event(event.name, event.start, event.duration, event.stats)
    trace.launcher.events.clear()
    assert by_path(written(space, tmp_path)) == {"update/loss": 9 * US}


@pytest.mark.parametrize("name", ["cuMemcpyHtoDAsync_v2", "MemcpyH2D", "cudaLaunchKernel", "hipMemcpyAsync"])
def test_a_launch_on_the_thread_of_python_is_no_annotation(tmp_path, name):
    """XLA merges CUPTI's calls into the lines of the threads that made them."""
    trace = GpuTrace(vendor=NVIDIA)
    trace.launcher = trace.python
    trace.annotation("collect", 5 * US, 100 * US)
    launch = trace.copy(trace.stream(), at=50 * US, start=60 * US, duration=9 * US)
    launch.host.name, launch.host.metadata_id = name, trace.host._event_id(name)
    rows = written(trace, tmp_path).to_dict()["operations"]
    assert {row["path"] for row in rows} <= {"collect", UNATTRIBUTED, "(idle)"}


def _graph(operation="update", op="command_buffer.1", extra=()):
    """A captured graph: one launch on the host, several kernels that name no instruction."""
    trace = GpuTrace(vendor=NVIDIA)
    called, stream = module(), trace.stream()
    call(trace, called, 10 * US, operation=operation)
    call(trace, called, 300 * US, operation="eval")
    launch = trace.kernel(
        "kernel_0", stream, at=20 * US, start=320 * US, duration=8 * US, module=called, hlo_op=op
    )
    launch.host.name = "cuGraphLaunch"
    launch.host.metadata_id = trace.host._event_id("cuGraphLaunch")
    for number in range(1, 4):
        stats = [*launch.device.stats, ("cuda_graph_id", 7), ("cuda_graph_node_id", number)]
        stream.event(f"kernel_{number}", (320 + 10 * number) * US, 8 * US, stats)
    for stats in (event.stats for event in stream.events):
        stats.extend(extra)
    return trace, stream


def test_a_command_buffer_stays_with_the_operation_that_dispatched_it(tmp_path):
    trace, _ = _graph()
    report = written(trace, tmp_path)
    data = closes(report)
    assert by_path(report) == {"update": 32 * US}
    assert (data["counts"]["device_ops"], data["counts"]["launches"]) == (4, 1)
    (problem,) = data["health"]["problems"]
    assert problem["code"] == "command_buffers"
    assert "100 %" in problem["message"]
    assert "XLA_FLAGS=--xla_gpu_enable_command_buffer=" in problem["hint"]


def test_kernels_of_a_cuda_graph_without_any_op(tmp_path):
    """The kernels carry a graph's id and nothing else; the launch names the program at most."""
    trace, stream = _graph()
    for event in stream.events:
        strip(event, *PROGRAM_STATS)
        event.stats.append(("cuda_graph_id", 7))
    for event in trace.launcher.events:
        strip(event, "hlo_op", "name")
    report = written(trace, tmp_path)
    assert by_path(report) == {"update": 32 * US}
    assert [p["code"] for p in report.to_dict()["health"]["problems"]] == ["command_buffers"]


def test_without_command_buffers_nothing_is_said(tmp_path):
    trace, _ = _graph(op=DOT)
    for event in trace.devices[0].lines[0].events:
        strip(event, "cuda_graph_id", "cuda_graph_node_id")
    assert written(trace, tmp_path).to_dict()["health"]["problems"] == []


def test_a_program_on_several_gpus_belongs_to_the_one_call(tmp_path):
    """As in mi300_jax08_conv: the call hands each device's share to a thread, by a flow of type 5."""
    trace = GpuTrace(devices=2)
    called = module()
    trace.dispatch(called, 10 * US, 200 * US)
    trace.annotation("update", 9 * US, 210 * US)
    (execute,) = (event for event in trace.python.events if event.name.endswith("::Execute"))
    execute.stats += [("_pt", 5), ("_p", 23)]
    for device in range(2):
        worker = trace.thread(f"py_xla_execute/{device - 5}", id=device - 5)
        worker.event(EXECUTE, 15 * US, 100 * US)
        consumed = {"_ct": 5, "_c": 23}
        worker.event("PjRtStreamExecutorLoadedExecutable::EnqueueExecution", 16 * US, 98 * US, consumed)
        trace.kernel(
            "k", trace.stream(device=device), at=(20 + device) * US, start=400 * US, duration=9 * US,
            module=called, hlo_op=ADD,
        )  # fmt: skip
    report = written(trace, tmp_path)
    assert by_path(report) == {"update": 18 * US}


# TPU


CHIP = [Op(DOT, 5 * US), Op(SORT, 2 * US, gap=300), Op(ADD, US)]


def tpu_call(trace, called, at, operation=""):
    trace.dispatch(called, at)
    if operation:
        trace.annotation(operation, at - US, 52 * US)


@pytest.mark.parametrize("program_id", [0, 19, 2**63 + 11, 2**64 - 5])
def test_programs_named_in_metadata(tmp_path, program_id):
    """Two programs with the same instructions, and ids of every size."""
    trace = TpuTrace()
    other = module_of("jit_g", 77, CHIP, {DOT: "jit(g)/gae/dot_general"})
    trace.run(module(program_id), CHIP, 100 * US)
    trace.run(other, CHIP[:1], 200 * US)
    space = trace.build()
    _sign_keys(space.planes[0])
    report = written(space, tmp_path)
    expected = {"update/loss": 5 * US, "rollout": 2 * US, UNATTRIBUTED: US, "gae": 5 * US}
    assert by_path(report) == expected
    found = {program["program_id"] % 2**64: program["hlo"] for program in report.to_dict()["programs"]}
    assert found == {program_id: True, 77: True}


def _sign_keys(metadata):
    """As TPU profiles have them: the key is the id as a signed number."""
    metadata._events = {
        key - 2**64 if key >= 2**63 else key: entry for key, entry in metadata._events.items()
    }


def test_tpu_ops_without_hlo_keep_the_scope_they_carry(tmp_path):
    trace = TpuTrace()
    trace.run(module(), CHIP, 100 * US)
    space = trace.build()
    space.planes[0]._events.clear()
    report = written(space, tmp_path)
    assert by_path(report) == {"update/loss": 5 * US, "rollout": 2 * US, UNATTRIBUTED: US}
    assert [p["code"] for p in report.to_dict()["health"]["problems"]] == ["no_hlo"]


def test_async_lines_overlap_and_are_summed_by_line(tmp_path):
    """Two transfers at once on the async line: the line is busy once, the ops line besides."""
    trace = TpuTrace()
    called = module()
    trace.run(called, CHIP, 100 * US)
    for start in (101 * US, 103 * US):
        trace.async_op(called, SORT, ADD, start, 4 * US)
    report = written(trace, tmp_path)
    closes(report)
    cells = report.processes[0].table.cells
    assert int(cells.device_self.sum()) == 8 * US + 6 * US
    assert int(cells.busy.sum()) == covered(
        [(100 * US, 105 * US), (105 * US + 300, 108 * US + 300), (101 * US, 107 * US)]
    )


def test_chips_are_told_apart(tmp_path):
    trace = TpuTrace(chips=4)
    for chip in (0, 2, 3):
        trace.run(module(), CHIP[: chip + 1], 100 * US, chip)
    data = closes(written(trace, tmp_path))
    expected = {"vm/tpu:0": 5_000, "vm/tpu:1": None, "vm/tpu:2": 8_000, "vm/tpu:3": 8_000}
    assert of_devices(data) == expected
    assert {device["kind"] for device in data["devices"]} == {"tpu"}
    assert {device["name"] for device in data["devices"]} == {"TPU v6 Lite"}


@pytest.mark.parametrize(
    "derived", ["Steps", "XLA Modules", "XLA TraceMe", "Framework Ops", "Tensor Core", "_counters_"]
)
def test_other_lines_of_a_chip_count_for_nothing(tmp_path, derived):
    trace = TpuTrace()
    trace.run(module(), CHIP, 100 * US)
    plain = written(trace, tmp_path / "plain").to_dict()
    chip = trace.chips[0]
    line = next((line for line in chip.plane.lines if line.name == derived), None)
    line = line or chip.plane.line(derived, id=50)
    line.event("7" if derived == "Steps" else "jit_f(3)", 100 * US, 8 * US)
    derived_too = written(trace, tmp_path / "derived").to_dict()
    assert derived_too["operations"] == plain["operations"]
    assert derived_too["totals"] == plain["totals"]
    assert derived_too["counts"] == plain["counts"]


def test_a_tpu_call_owns_what_it_dispatched(tmp_path):
    """The second call of the same function runs while the host is elsewhere."""
    trace = TpuTrace()
    called = module()
    for at, operation, run in ((10, "collect", 100), (70, "update", 200)):
        tpu_call(trace, called, at * US, operation)
        trace.run(called, [Op(ADD, run * US // 10)], run * US)
    report = written(trace, tmp_path)
    assert by_path(report) == {"collect": 10 * US, "update": 20 * US}
    assert report.to_dict()["counts"]["dispatches"] == 2


@several
@given(
    sizes=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 1)), max_size=8),
    overlapping=st.lists(st.tuples(st.integers(0, 100), st.integers(0, 40)), max_size=5),
)
def test_tpu_sums_close(sizes, overlapping, folder):
    trace = TpuTrace(chips=2)
    called, now = module(), [US, US]
    lines = {0: [], 1: []}
    for dot, sort, chip in sizes:
        ops = [Op(DOT, dot * NS), Op(SORT, sort * NS)]
        run = trace.run(called, ops, now[chip], chip)
        lines[chip] += [PlainOp(p.start, p.end, p.op.name, run.event.start) for p in run.ops]
        now[chip] = run.event.end + NS
    for start, duration in overlapping:
        trace.async_op(called, ADD, ADD, start * NS, duration * NS)
    waiting = [PlainOp(start * NS, (start + duration) * NS, ADD) for start, duration in overlapping]
    report = written(trace, folder())
    closes(report)
    own = [sum(self_times([lines[0], waiting]).values()), sum(self_times([lines[1]]).values())]
    assert report.processes[0].table.cells.self_of_device.tolist() == own
