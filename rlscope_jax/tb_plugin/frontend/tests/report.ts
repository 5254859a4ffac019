import type { Direction, Figure, Operation, Report } from "../src/report";

export function figure(raw: number | null, corrected: number | null = null): Figure {
  return { raw, corrected, interval: corrected === null ? null : [corrected - 1, corrected + 1] };
}

interface Times {
  device?: number;
  deviceOnly?: number;
  overlap?: number;
  python?: number;
  idle?: number;
  direction?: Direction;
  process?: number;
  corrected?: number;
}

export function operation(path: string, times: Times = {}): Operation {
  const { device = 0, deviceOnly = 0, overlap = 0, python = 0, idle = 0, direction = null, process = 0 } = times;
  return {
    process, path, kind: path.startsWith("(") ? "special" : "mark", direction,
    device: { self: figure(device), total: figure(device), ops: device ? 1 : 0, launches: 0, categories: {} },
    host: { self: figure(python), categories: {}, dispatches: 0, compiles: 0, syncs: 0, callbacks: 0 },
    wall: {
      device_only: figure(deviceOnly, times.corrected ?? null), overlap: figure(overlap), host_only: figure(python),
      host_only_categories: { python: figure(python) }, idle: figure(idle),
    },
    evidence: device ? { mark: 0.75, split: 0.25 } : {},
  };
}

export function report(operations: Operation[], hosts = ["vm"]): Report {
  return {
    schema: "rlscope_jax.report/1",
    session: { logdir: "run", name: "s", hosts, files: [] },
    processes: hosts.map((host, id) => ({ id, host, name: null, pid: null })),
    devices: [],
    environment: { jax: null, jaxlib: null, platform: null, python_tracer: false },
    health: { verdict: "ok", problems: [] },
    window: { start_unix_ns: 0, wall_ns: 100, steps: 0, first_step: null, last_step: null, step_source: "none" },
    steps: { wall: null },
    overhead: { correction: "none", inflation: null, removed: null, constants: {}, anchors: null },
    totals: {
      wall: figure(100), device_only: figure(0), overlap: figure(0), host_only: figure(0), idle: figure(0),
      device_busy: figure(0), device_self: figure(0),
    },
    operations, programs: [], counts: {}, findings: [],
  };
}
