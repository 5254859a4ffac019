// The report as the server sends it: the JSON contract of rlscope_jax.report/1, as far as the page reads it.

export interface Figure {
  raw: number | null;
  corrected: number | null;
  interval: [number, number] | null;
}

export type Direction = "forward" | "backward" | "recompute" | null;

export interface Operation {
  process: number;
  path: string;
  kind: string;
  direction: Direction;
  device: {
    self: Figure;
    total: Figure;
    ops: number;
    launches: number;
    launch_latency?: number | null;
    categories: Record<string, Figure>;
  };
  host: {
    self: Figure;
    categories: Record<string, Figure>;
    dispatches: number;
    compiles: number;
    syncs: number;
    callbacks: number;
  };
  wall: {
    device_only: Figure;
    overlap: Figure;
    host_only: Figure;
    host_only_categories: Record<string, Figure>;
    idle?: Figure;
  };
  evidence: Record<string, number>;
}

export interface Program {
  program_id: number;
  name: string;
  function: string | null;
  runs: number | null;
  dispatches: number | null;
  compiles: number | null;
  compile: Figure;
  device: Figure;
  device_ops: number | null;
  hlo: boolean;
}

export interface Finding {
  code: string;
  severity: string;
  message: string;
  hint?: string;
  operation?: string | null;
  program?: string | null;
  function?: string | null;
  evidence?: Record<string, unknown>;
  gain_ns?: number | null;
}

export interface Report {
  schema: string;
  session: {
    logdir: string;
    name: string;
    hosts: string[];
    files: { path: string; bytes: number | null; events: number | null }[];
  };
  processes: { id: number; host: string; name: string | null; pid: number | null }[];
  devices: { id: string; process: number; kind: string; name: string | null; busy: Figure; self: Figure }[];
  environment: { jax: string | null; jaxlib: string | null; platform: string | null; python_tracer: boolean };
  health: {
    verdict: "ok" | "degraded" | "unusable";
    covered?: number | null;
    problems: { code: string; message: string; hint: string }[];
  };
  window: {
    start_unix_ns: number | null;
    windows?: number;
    wall_ns: number;
    steps: number;
    first_step: number | null;
    last_step: number | null;
    step_source: string;
  };
  steps: { wall: { median: Figure; p10: Figure; p90: Figure } | null };
  overhead: {
    correction: "none" | "calibrated" | "anchored";
    inflation: number | null;
    removed: { ns: number; interval: [number, number] | null } | null;
    constants: Record<string, unknown>;
    anchors: Record<string, unknown> | null;
    reason?: string | null;
  };
  totals: Record<
    "wall" | "device_only" | "overlap" | "host_only" | "idle" | "device_busy" | "device_self",
    Figure
  >;
  operations: Operation[];
  programs: Program[];
  counts: Record<string, number | null>;
  findings: Finding[];
}
