"""Real profiles: device self time worked out a second time, by jax's own reader and plain Python."""

import re
import runpy
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from fuzz.messages import number, split
from fuzz.oracle import closes
from fuzz.plain import CONTROL, Op, self_times
from rlscope_jax import load
from rlscope_jax.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
READABLE = (
    "amd_tracelens/mi300_jax08_attention", "amd_tracelens/mi300_jax08_conv",
    "amd_tracelens/mi300_jax_conv_legacy", "amd_tracelens/te_fused_attn_934987a2fc2f",
    "cpu_ours/jax0.10.2_ppo_loop", "cpu_ours/jax0.10.2_ppo_scan", "cpu_ours/jax0.4.38_ppo_loop",
    "cpu_ours/jax0.6.2_ppo_loop", "cpu_ours/jax0.8.1_ppo_loop", "nvidia_tf/gpu_multi_worker_tf2",
    "tpu_xprof/tpu_inference_2",
)  # fmt: skip
DERIVED = re.compile(r"Steps|XLA .*|TensorFlow .*|Framework .*|Source.*|Launch Stats.*")
COPY = re.compile(r"__amd_rocclr_copyBuffer|Memcpy|Memset")
UINT64 = 2**64


def profile_of(shared, name):
    return shared / "traces" / f"{name}.xplane.pb"


def children(message, wanted):
    return [field.content for field in split(message) if field.tag >> 3 == wanted]


def value(message, wanted):
    return next((number(content, 0)[0] for content in children(message, wanted)), 0)


def exact_times(path):
    """(start, duration) of every event in ps, line by line; ProfileData cuts them to whole ns."""
    for plane in children(path.read_bytes(), 1):
        for line in children(plane, 3):
            base = value(line, 3) * 1000
            yield [(base + value(event, 2), value(event, 3)) for event in children(line, 4)]


def instructions(path):
    """{(program id, instruction): (opcode, op_name)} of the HLO in the file."""
    found = {}
    for plane in children(path.read_bytes(), 1):
        if children(plane, 2) != [b"/host:metadata"]:
            continue
        for entry in children(plane, 4):
            stats = children(children(entry, 2)[0], 5)
            ids = [value(stat, 3) or value(stat, 4) for stat in stats if not children(stat, 6)]
            for proto in (content for stat in stats for content in children(stat, 6)):
                for module in children(proto, 1):
                    program = (ids or [value(entry, 1)])[0] % UINT64
                    found |= {(program, name): rest for name, rest in _instructions_of(module)}
    return found


def _instructions_of(module):
    for computation in children(module, 3):
        for instruction in children(computation, 2):
            name, opcode = (children(instruction, field)[0].decode() for field in (1, 2))
            op_names = [text.decode() for part in children(instruction, 7) for text in children(part, 2)]
            yield name, (opcode, op_names[0] if op_names else "")


@cache
def op_lines(path):
    """[(device plane, ops of one of its lines)] for the whole file."""
    from jax.profiler import ProfileData

    known, times, lines = instructions(path), exact_times(path), []
    planes = list(ProfileData.from_file(str(path)).planes)
    accelerated = any(plane.name.startswith("/device:") for plane in planes)
    for plane in planes:
        found = [(line.name, list(zip(line.events, next(times), strict=True))) for line in plane.lines]
        if plane.name.startswith("/device:TPU:"):
            modules = [timed for name, timed in found if name == "XLA Modules"]
            ops = [_tpu_ops(timed, modules, known) for name, timed in found if name.endswith("XLA Ops")]
        elif plane.name.startswith("/device:GPU:"):
            ops = [_ops(timed, known) for name, timed in found if not DERIVED.fullmatch(name)]
        elif plane.name == "/host:CPU" and not accelerated:
            ops = [_ops((t for t in timed if "hlo_op" in dict(t[0].stats)), known) for _, timed in found]
        else:
            ops = []
        lines += [(plane.name, line) for line in ops if line]
    return lines


def _ops(timed, known):
    ops = []
    for event, (start, duration) in timed:
        stats = dict(event.stats)
        program = int(stats.get("program_id", -1)) % UINT64
        opcode, op_name = known.get((program, stats.get("hlo_op")), ("", ""))
        run = (program, stats.get("run_id"))
        op_name = op_name or stats.get("name", "")
        ops.append(Op(start, start + duration, (event.name, op_name), run, opcode in CONTROL))
    return ops


def _tpu_ops(timed, modules, known):
    ops = []
    runs = sorted((start, start + span, event.name) for line in modules for event, (start, span) in line)
    for event, (start, duration) in timed:
        run = next((run for run in reversed(runs) if run[0] <= start <= run[1]), (0, 0, "(-1)"))
        program = int(run[2].rpartition("(")[2].rstrip(")")) % UINT64
        short = event.name.split(" = ")[0].lstrip("%")
        opcode, op_name = known.get((program, short), ("", ""))
        ops.append(Op(start, start + duration, (short, op_name), run, opcode in CONTROL))
    return ops


def by_device(path):
    """{device plane: self time of its ops by (kernel, op_name)}."""
    grouped = {}
    for device, ops in op_lines(path):
        grouped.setdefault(device, []).append(ops)
    return {device: self_times(lines) for device, lines in grouped.items()}


def nanoseconds(picoseconds):
    return (picoseconds + 500) // 1000


@pytest.mark.parametrize("name", READABLE)
def test_device_self_time_is_that_of_another_reader(shared, name):
    path = profile_of(shared, name)
    report = load(path)
    expected = {device: sum(times.values()) for device, times in by_device(path).items()}
    (process,) = report.processes
    assert int(process.table.cells.device_self.sum()) == sum(expected.values())
    data = closes(report)
    found = {device["id"].rpartition("/")[2]: device["self"]["raw"] for device in data["devices"]}
    planes = {name: "/host:CPU" if name == "cpu:0" else f"/device:{name.upper()}" for name in found}
    assert {planes[name]: own for name, own in found.items() if own is not None} == {
        plane: nanoseconds(own) for plane, own in expected.items()
    }
    assert data["counts"]["device_ops"] == sum(len(ops) for _, ops in op_lines(path))


@pytest.mark.parametrize("name", READABLE)
def test_every_op_keeps_its_self_time(shared, name):
    path = profile_of(shared, name)
    expected = Counter()
    for times in by_device(path).values():
        for (kernel, _), time in times.items():
            expected[kernel] += time
    (process,) = load(path).processes
    found, ops = Counter(), process.trace.ops
    for owner, time in zip(process.attribution.owners, process.table.cells.device_self.tolist(), strict=True):
        found[ops.kernel[owner.op] or ops.name[owner.op]] += time
    assert +found == +expected


def direction(op_name):
    return "backward" if "transpose(jvp(" in op_name else "forward" if "jvp(" in op_name else None


def test_forward_and_backward_are_told_apart(shared):
    path = profile_of(shared, "amd_tracelens/te_fused_attn_934987a2fc2f")
    (times,) = by_device(path).values()
    expected, found = Counter(), Counter()
    for (_, op_name), time in times.items():
        expected[direction(op_name)] += time
    for row in load(path).processes[0].table.rows:
        found[row.direction] += row.device_self
    assert +found == expected
    assert set(expected) == {"forward", "backward"}


def test_an_eight_gpu_run(shared):
    name = "amd_tracelens/mi300_jax08_conv"
    data = load(profile_of(shared, name)).to_dict()
    assert len(data["devices"]) == 8
    assert all(device["self"]["raw"] > 0 for device in data["devices"])
    assert "missing_devices" not in {problem["code"] for problem in data["health"]["problems"]}
    # Two kernels share a correlation id.
    assert (data["counts"]["device_ops"], data["counts"]["launches"]) == (235, 234)
    copies = sum(
        time
        for times in by_device(profile_of(shared, name)).values()
        for (kernel, _), time in times.items()
        if COPY.match(kernel)
    )
    found = sum(row["device"]["categories"]["copy"]["raw"] for row in data["operations"])
    assert found == nanoseconds(copies) > 0


def test_four_chips(shared):
    devices = load(profile_of(shared, "tpu_xprof/tpu_inference_2")).to_dict()["devices"]
    assert [(device["id"], device["kind"]) for device in devices] == [
        (f"host/tpu:{number}", "tpu") for number in range(4)
    ]
    assert all(device["busy"]["raw"] for device in devices)


def test_a_profile_of_tensorflow_is_usable_without_hlo(shared):
    data = load(profile_of(shared, "nvidia_tf/gpu_multi_worker_tf2")).to_dict()
    assert data["health"]["verdict"] != "unusable"
    assert not any(program["hlo"] for program in data["programs"])
    assert data["totals"]["device_self"]["raw"] > 0
    assert data["totals"]["host_only"]["raw"] > 0


def test_idle_devices_are_null_not_zero(shared):
    devices = load(profile_of(shared, "amd_tracelens/mi300_jax_conv_legacy")).to_dict()["devices"]
    known = {device["id"].rpartition(":")[2] for device in devices if device["self"]["raw"] is not None}
    assert known == {"0", "7"}
    assert all(device["busy"]["raw"] is None for device in devices if device["self"]["raw"] is None)


def test_jax_06_on_cpu_has_no_op_data(shared):
    data = load(profile_of(shared, "cpu_ours/jax0.6.2_ppo_loop")).to_dict()
    (problem,) = (p for p in data["health"]["problems"] if p["code"] == "no_device_ops")
    assert "no op data" in problem["message"]
    assert data["totals"]["device_self"]["raw"] is data["totals"]["device_busy"]["raw"] is None
    assert data["counts"]["dispatches"] > 0


def test_the_damaged_file_is_refused_by_name(shared, capsys):
    assert main(["report", str(profile_of(shared, "corrupt/utf8_damaged_tpu"))]) == 2
    said = capsys.readouterr()
    assert "utf8_damaged_tpu.xplane.pb" in said.err
    assert said.err.count("\n") == 1
    assert not said.out


def test_the_page_of_profiles_is_what_the_code_gives(shared):
    page = runpy.run_path(str(ROOT / "docs" / "traces_table.py"))["page"]
    assert (ROOT / "docs" / "traces.md").read_text() == page(shared / "traces")
