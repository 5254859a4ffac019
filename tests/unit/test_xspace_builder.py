"""What the builder writes is what jax's and XLA's own readers read, and its truth is true."""

import pytest
from hypothesis import given, settings
from jax.profiler import ProfileData

from xspace_builder import (
    AMD,
    INT64_MAX,
    MS,
    NS,
    NVIDIA,
    US,
    CpuTrace,
    DanglingRef,
    GpuTrace,
    HloModuleBuilder,
    Op,
    ProgramIds,
    Ref,
    Session,
    TpuTrace,
    Uint,
    XSpaceBuilder,
    add_programs,
    module_of,
)
from xspace_builder.strategies import cpu_traces, nested_spaces

few = settings(max_examples=40)

EVERY_FIELD = """
planes {
  id: 7
  name: "/host:CPU"
  lines {
    id: 9223372036854775807
    name: "python"
    timestamp_ns: 5000
    events {
      metadata_id: 1
      offset_ps: 4000000
      duration_ps: 250
      stats { metadata_id: 1 int64_value: -4 }
      stats { metadata_id: 1 uint64_value: 18446744073709551615 }
      stats { metadata_id: 1 double_value: 0.5 }
      stats { metadata_id: 1 str_value: "é" }
      stats { metadata_id: 1 bytes_value: "hlo" }
      stats { metadata_id: 1 ref_value: 1 }
      stats { metadata_id: 99 ref_value: 77 }
    }
    events { metadata_id: -12 offset_ps: -4999999 }
    events { metadata_id: 1 duration_ps: 3 num_occurrences: 40 }
    display_name: "shown"
  }
  lines { id: -3 }
  event_metadata {
    key: 1
    value {
      id: 1
      name: "f"
      metadata: "raw"
      display_name: "f()"
      stats { metadata_id: 1 int64_value: 0 }
    }
  }
  stat_metadata { key: 1 value { id: 1 name: "stat" } }
  stats { metadata_id: 1 double_value: 918 }
}
errors: "an error"
warnings: "a warning"
hostnames: "vm"
"""


def test_bytes_are_those_of_the_protobuf_library():
    space = XSpaceBuilder("vm")
    space.errors.append("an error")
    space.warnings.append("a warning")
    plane = space.plane("/host:CPU", id=7)
    plane.stat("stat", 918.0)
    kind = plane.event_metadata("f", display_name="f()", metadata=b"raw", stats={"stat": 0})
    line = plane.line("python", id=INT64_MAX, display_name="shown", timestamp_ns=5000)
    values = [-4, Uint(2**64 - 1), 0.5, "é", b"hlo", Ref("stat")]
    line.event(kind, 9_000_000, 250, [*(("stat", value) for value in values), (99, DanglingRef(77))])
    line.event(-12, 1)
    line.aggregated(kind, occurrences=40, duration=3)
    plane.line(id=-3)
    assert space.to_bytes() == ProfileData.text_proto_to_serialized_xspace(EVERY_FIELD)


def test_other_values_are_refused():
    space = XSpaceBuilder()
    space.plane("p").line().event("e", 0, stats={"when": None})
    with pytest.raises(TypeError, match="when"):
        space.to_bytes()


def test_names_are_stored_once():
    space = XSpaceBuilder()
    line = space.plane("p").line()
    first, second = line.event("f", 0), line.event("f", 5)
    assert first.metadata_id == second.metadata_id


def test_writes_where_the_profiler_would(tmp_path):
    path = XSpaceBuilder("node3").write(tmp_path, session="today")
    assert path == tmp_path / "plugins/profile/today/node3.xplane.pb"
    assert path.read_bytes() == b'"\x05node3'


def read(content):
    """(plane, line) -> [(event name, start and duration in whole ns, statistics)], as jax reads them."""
    planes = ProfileData.from_serialized_xspace(content).planes
    return {
        (plane.name, line.name): [
            (event.name, event.start_ns, event.duration_ns, list(event.stats)) for event in line.events
        ]
        for plane in planes
        for line in plane.lines
    }


def _plain(value):
    return value.text if isinstance(value, Ref) else value.value if isinstance(value, Uint) else value


@few
@given(nested_spaces())
def test_random_lines_read_back(drawn):
    found = read(drawn.space.to_bytes())
    assert len(found) == len(drawn.lines)
    for nested in drawn.lines:
        events = found["/host:CPU", nested.line.name]
        assert len(events) == len(nested.placed)
        for (name, start, duration, stats), event in zip(events, nested.line.events, strict=True):
            assert name == event.name
            assert abs(start * 1000 - event.start) < 1000  # jax cuts off the picoseconds
            assert duration == event.duration // 1000
            assert stats == [(key, _plain(value)) for key, value in event.stats]


@few
@given(nested_spaces())
def test_random_self_times_sum_to_what_the_line_covers(drawn):
    for nested in drawn.lines:
        top = [placed for placed in nested.placed if placed.depth == 0]
        assert sum(nested.self_times.values()) == sum(placed.op.duration for placed in top)


def _loop_module():
    module = HloModuleBuilder("jit_f", program_id=3)
    caller = module.frames.add("train.py", "main", 10)
    frame = module.frames.add("train.py", "loss", 27, parent=caller)
    body = module.computation("body")
    state = body.parameter("state", shape="(f32[8], s32[])")
    value = body.element("value", state, 0)
    counter = body.element("counter", state, 1, shape="s32[]")
    fused = module.computation("fused")
    fused.add("tanh.1", "tanh", [fused.parameter("x")], op_name="jit(f)/while/body/tanh", stack_frame=frame)
    tanh = body.fusion("tanh_fusion", fused, [value], op_name="jit(f)/while/body/tanh", stack_frame=frame)
    body.add("tuple.1", "tuple", [tanh, counter], shape="(f32[8], s32[])")
    condition = module.computation("condition")
    limit = condition.element("limit", condition.parameter("now", shape="(f32[8], s32[])"), 1, shape="s32[]")
    condition.add("less", "compare", [limit, limit], shape="pred[]", extra={63: "LT"})
    start = module.entry.parameter("start", shape="(f32[8], s32[])", op_name="args[0]")
    module.entry.add("while.1", "while", [start], shape="(f32[8], s32[])", calls=[body, condition])
    return module


def test_xla_accepts_the_modules():
    _hlo = pytest.importorskip("jaxlib._hlo", reason="this jaxlib does not offer XLA's HLO parser")
    text = _hlo.HloModule.from_serialized_hlo_module_proto(_loop_module().encode_module()).to_string()
    assert "ENTRY %main (start: (f32[8], s32[])) -> (f32[8], s32[])" in text
    assert "while(%start), condition=%condition, body=%body" in text
    assert "fusion(%value), kind=kLoop, calls=%fused" in text
    assert '1 "train.py"' in text
    assert "file_name_id=1 function_name_id=2 line=27" in text
    assert 'metadata={op_name="jit(f)/while/body/tanh" stack_frame_id=2}' in text


def test_xla_accepts_a_module_of_ops():
    ops = [Op("while.2", 5, [Op("dot.1", 5), Op("dot.1", 5), Op("copy", 1)]), Op("copy", 1)]
    module = module_of("jit_f", 3, ops, {"dot.1": "jit(f)/loss/dot_general"})
    _hlo = pytest.importorskip("jaxlib._hlo", reason="this jaxlib does not offer XLA's HLO parser")
    text = _hlo.HloModule.from_serialized_hlo_module_proto(module.encode_module()).to_string()
    assert "%while.2 = f32[8]{0} call(%main.argument), to_apply=%while.2.body" in text
    assert text.count("%dot.1 = ") == text.count("%copy = ") == 1


PROGRAM = """
planes {{
  event_metadata {{
    key: {key}
    value {{
      id: {key}
      name: "jit_f({unsigned})"
      stats {{ metadata_id: 1 bytes_value: "{hlo}" }}
      {program_id}
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    ("ids", "program_id", "key"),
    [
        (ProgramIds.KEY, 19, 19),
        (ProgramIds.KEY, 2**64 - 5, -5),
        (ProgramIds.KEY, 0, 0),
        (ProgramIds.STAT, 26, 1),
        (ProgramIds.STAT, 2**64 - 5, 1),
    ],
)
def test_program_ids_in_every_encoding(ids, program_id, key):
    module = module_of("jit_f", program_id, [Op("copy", 1)])
    space = XSpaceBuilder()
    add_programs(space, [module], ids)
    stated = ids is ProgramIds.STAT
    text = PROGRAM.format(
        key=key,
        unsigned=program_id,
        hlo="".join(f"\\{byte:03o}" for byte in module.encode()),
        program_id=f"stats {{ metadata_id: 2 uint64_value: {program_id} }}" if stated else "",
    )
    entry = ProfileData.text_proto_to_serialized_xspace(text)[3:]  # without the head of the plane
    assert entry in space.to_bytes()


DOT = Op("dot.1", 5 * US, tail=300 * NS, gap=100 * NS)
LOOP = Op("while.2", 3 * US, [DOT] * 3, tail=200 * NS)
MODULE = module_of("jit_f", 3, [LOOP], {"dot.1": "jit(f)/loss/dot_general"})


def named(events, name):
    return [event for event in events if event[0] == name]


def test_cpu_ops_run_inline_in_their_dispatch():
    trace = CpuTrace(Session(base_ns=7_000))
    run = trace.run(MODULE, [LOOP], at=1 * MS)
    events = read(trace.to_bytes())["/host:CPU", "python"]
    outer, inner = named(events, "PjitFunction(f)")
    (loop,) = named(events, "while.2")
    assert outer[1] < inner[1] < loop[1]
    assert loop[1] + loop[2] < inner[1] + inner[2] < outer[1] + outer[2]
    assert loop[2] * 1000 == LOOP.duration == 18 * US
    assert run.dispatch.end == (outer[1] + outer[2]) * 1000
    assert [each.op.name for each in run.ops] == ["while.2", "dot.1", "dot.1", "dot.1"]


def test_cpu_op_statistics_and_closing_events():
    events = read(_run_on_worker().to_bytes())
    ((_, worker),) = [
        (key, found) for key, found in events.items() if key[1].startswith("tf_XLAPjRtCpuClient/")
    ]
    dots, closings = named(worker, "dot.1"), named(worker, "end: dot.1")
    assert [name for name, _ in dots[0][3]] == [
        *("hlo_op", "hlo_module", "program_id", "run_id", "device_ordinal", "_src", "_pt", "_p", "_src")
    ]
    assert ("hlo_op", "dot.1") in dots[0][3]
    assert ("program_id", 3) in dots[0][3]
    for dot, closing in zip(dots, closings, strict=True):
        assert dict(dot[3])["_p"] == dict(closing[3])["_c"]
        assert dot[1] + dot[2] - closing[1] == 300  # the tail, in ns
        assert closing[2] < 300


def _run_on_worker():
    trace = CpuTrace()
    trace.run(MODULE, [LOOP], at=0, worker=trace.worker())
    return trace


def test_cpu_dispatch_hands_over_to_its_worker():
    events = read(_run_on_worker().to_bytes())
    flat = {event[0]: event for line in events.values() for event in line}
    record, region = flat["ThreadpoolListener::Record"], flat["ThreadpoolListener::StartRegion"]
    assert dict(record[3])["_p"] == dict(region[3])["_c"]
    assert record[1] <= region[1] < flat["while.2"][1]
    assert "while.2" not in {event[0] for event in events["/host:CPU", "python"]}


def test_old_cpu_traces_lack_runs():
    trace = CpuTrace()
    trace.run_ids, trace.program_ids = False, ProgramIds.KEY
    trace.run(MODULE, [LOOP], at=0)
    (loop,) = named(read(trace.to_bytes())["/host:CPU", "python"], "while.2")
    assert "run_id" not in dict(loop[3])


@few
@given(cpu_traces())
def test_random_cpu_traces_hold_their_ops(drawn):
    events = read(drawn.trace.to_bytes())
    found = sum(
        duration for line in events.values() for _, _, duration, stats in line if "hlo_op" in dict(stats)
    )
    placed = [each.op.duration // 1000 for run in drawn.runs for each in run.ops]
    assert found == sum(placed)
    assert sum(drawn.self_times.values()) == sum(each.op.self_time for run in drawn.runs for each in run.ops)


@few
@given(cpu_traces())
def test_ops_of_one_thread_nest(drawn):
    for line in drawn.trace.build().planes[1].lines:
        ends = []
        for event in line.events:
            while ends and ends[-1] <= event.start:
                ends.pop()
            assert not ends or event.end <= ends[-1]
            ends.append(event.end)


@pytest.mark.parametrize("vendor", [AMD, NVIDIA])
def test_gpu_kernels_are_tied_to_their_launch(vendor):
    trace = GpuTrace(devices=2, vendor=vendor)
    stream = trace.stream(16)
    trace.dispatch(MODULE, at=0)
    launch = trace.kernel(
        "fusion_kernel", stream, at=4 * US, start=20 * US, duration=6 * US, module=MODULE, hlo_op="dot.1"
    )
    trace.copy(stream, at=12 * US, start=30 * US, duration=2 * US)
    events = read(trace.to_bytes())
    kernel, copy = events["/device:GPU:0", stream.name]
    host, host_copy = events["/host:CPU", "Host Threads/2356"]
    assert host[0] == vendor.launch
    assert kernel[:3] == ("fusion_kernel", 20_000, 6_000)
    assert dict(kernel[3])["correlation_id"] == dict(host[3])["correlation_id"] == launch.correlation_id
    assert dict(copy[3])["correlation_id"] == dict(host_copy[3])["correlation_id"] != launch.correlation_id
    assert dict(kernel[3])["name"] == "jit(f)/loss/dot_general"
    assert "hlo_op" not in dict(copy[3])
    assert not any(plane == "/device:GPU:1" for plane, _ in events)


def test_tpu_modules_and_ops():
    program_id = 2**63 + 11
    module = module_of("jit_f", program_id, [LOOP], {"dot.1": "jit(f)/loss/dot_general"})
    trace = TpuTrace(chips=2)
    trace.dispatch(module, at=0)
    trace.run(module, [LOOP], at=90 * US, chip=1)
    trace.async_op(module, "dot.1", "dot.1-done", start=95 * US, duration=40 * US, chip=1)
    events = read(trace.to_bytes())
    assert [event[:3] for event in events["/device:TPU:1", "XLA Modules"]] == [
        (f"jit_f({program_id})", 90_000, 18_000)
    ]
    assert [event[2] for event in events["/device:TPU:1", "XLA Ops"]] == [18_000, 5_000, 5_000, 5_000]
    content = trace.to_bytes()
    assert b"%dot.1 = f32[8] negate(f32[8] %while.2.body.argument)" in content
    assert b"jit(f)/loss/dot_general:" in content
