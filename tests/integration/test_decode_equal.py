"""Our decoder against jax's own, event for event, on every readable file of ../shared/traces."""

import pytest

from rlscope_jax.xla_events.xspace import read_xspace

FILES = [
    "amd_tracelens/mi300_jax08_attention", "amd_tracelens/mi300_jax08_conv",
    "amd_tracelens/mi300_jax_conv_legacy",
    "amd_tracelens/te_fused_attn_934987a2fc2f", "cpu_ours/jax0.4.38_ppo_loop",
    "cpu_ours/jax0.6.2_ppo_loop",
    "cpu_ours/jax0.8.1_ppo_loop", "cpu_ours/jax0.10.2_ppo_loop", "cpu_ours/jax0.10.2_ppo_scan",
    "nvidia_tf/gpu_multi_worker_tf2", "tpu_xprof/tpu_inference_2",
]  # fmt: skip
STATS = ("hlo_op", "hlo_module", "program_id", "run_id", "device_ordinal", "step_num")


@pytest.mark.parametrize("name", FILES)
def test_every_event_equals_profile_data(shared, name):
    from jax.profiler import ProfileData

    path = shared / "traces" / f"{name}.xplane.pb"
    ours = read_xspace(path)
    theirs = list(ProfileData.from_file(str(path)).planes)
    assert [plane.name for plane in ours.planes] == [plane.name for plane in theirs]
    for plane, reference in zip(ours.planes, theirs, strict=True):
        lines = list(reference.lines)
        assert [line.name for line in plane.lines] == [line.name for line in lines]
        for line, reference_line in zip(plane.lines, lines, strict=True):
            events = list(reference_line.events)
            assert len(line) == len(events)
            assert [plane.event_names[event] for event in line.event] == [event.name for event in events]
            # ProfileData cuts times to whole nanoseconds.
            assert (line.start // 1000).tolist() == [int(event.start_ns) for event in events]
            assert (line.duration // 1000).tolist() == [int(event.duration_ns) for event in events]
            _equal_stats(line, events)


def _equal_stats(line, events):
    strings = {stat: line.strings(stat) for stat in STATS}
    for index, event in enumerate(events):
        row = line.row[index]
        expected = dict(event.stats)
        for stat in STATS:
            if stat in expected:
                value = expected[stat]
                found = strings[stat][row]
                assert found == str(value) or int(found) % 2**64 == int(value) % 2**64
            else:
                assert not line.has(stat)[row]
