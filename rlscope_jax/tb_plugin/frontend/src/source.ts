// Where the page's data come from: TensorBoard's server, or the HTML file itself.

import type { Report } from "./report";
import type { Tuning } from "./tuning";

export interface Recording {
  run: string;
  name: string;
  /** Its windows, in order; more than one where a run was recorded in several. */
  sessions: string[];
  files: number;
  bytes: number;
  changed: number;
}

/** A file in which `rlscope-jax tune` noted its searches. */
export interface TuningRecord {
  run: string;
  changed: number;
  bytes: number;
}

export interface Listing {
  looking: boolean;
  recordings: Recording[];
  tunings: TuningRecord[];
  looked_in: { path: string; directories: number; problem: string | null }[];
  unreadable: { path: string; reason: string }[];
  lost: string[];
  truncated: boolean;
}

export interface Progress {
  state: string;
  progress: number;
  stage: string;
  ahead: number;
}

export interface Op {
  name: string;
  kernel: string;
  program: string;
  opcode: string;
  op_name: string;
  source: { function: string; file: string; line: number }[];
  self: number;
  count: number;
  evidence: string;
}

export interface OpList {
  ops: Op[];
  more: number;
  more_self: number;
}

export interface LaneData {
  process: number;
  side: "host" | "device";
  name: string;
  pieces: number;
  start: number[];
  duration: number[];
  key: number[];
  label: number[];
  count: number[];
  cover: number[];
}

export interface TimelineData {
  begin: number;
  end: number;
  wall: number;
  window: number;
  /** When each window of the recording began (unix ns, where known), and how long it was (ns). */
  windows: [number | null, number][];
  operations: [string, string | null][];
  categories: string[];
  labels: Record<string, [number, string]>;
  steps: [number, number, number][];
  /** Program, start and duration of what was compiled in this window. */
  compiles: [number, number, number][];
  lanes: LaneData[];
}

export interface Hit {
  lane: number;
  start: number;
  end: number;
}

export interface Asked {
  run: string;
  name: string;
  group: string;
}

/** An answer in words that the page shows. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

export interface Source {
  /** Whether the page is a file: then there is one recording and no more detail than it holds. */
  readonly embedded: boolean;
  recordings(refresh: boolean): Promise<Listing>;
  report(asked: Asked, again: boolean): Promise<Report | Progress>;
  ops(asked: Asked, process: number, path: string, direction: string | null): Promise<OpList>;
  timeline(asked: Asked, window: number, begin: number, end: number | null, columns: number): Promise<TimelineData>;
  find(asked: Asked, window: number, text: string, after: number): Promise<Hit | null>;
  tuning(run: string): Promise<Tuning>;
  traceViewer(asked: Asked): Promise<string | null>;
}

export function isProgress(answer: Report | Progress): answer is Progress {
  return "state" in answer;
}

/** The plugin's routes, at addresses relative to the page, so that any --path_prefix works. */
export class Server implements Source {
  readonly embedded = false;

  recordings(refresh: boolean): Promise<Listing> {
    return get("recordings", refresh ? { refresh: 1 } : {});
  }

  report(asked: Asked, again: boolean): Promise<Report | Progress> {
    return get("report", { ...asked, ...(again ? { again: 1 } : {}) });
  }

  ops(asked: Asked, process: number, path: string, direction: string | null): Promise<OpList> {
    return get("ops", { ...asked, process, path, direction: direction ?? "" });
  }

  timeline(
    asked: Asked, window: number, begin: number, end: number | null, columns: number,
  ): Promise<TimelineData> {
    const until = end === null ? {} : { end: Math.ceil(end) };
    return get("timeline", { ...asked, window, begin: Math.floor(begin), ...until, columns });
  }

  async find(asked: Asked, window: number, text: string, after: number): Promise<Hit | null> {
    return (await get<{ found: Hit | null }>("find", { ...asked, window, text, after: Math.floor(after) })).found;
  }

  tuning(run: string): Promise<Tuning> {
    return get("tuning", { run });
  }

  /** The same session in xprof's trace viewer, where that plugin is installed. */
  async traceViewer(asked: Asked): Promise<string | null> {
    try {
      const plugins = (await (await fetch("../../plugins_listing")).json()) as Record<string, { enabled: boolean }>;
      if (!plugins["profile"]?.enabled) return null;
      const run = asked.run === "." ? asked.name : `${asked.run}/${asked.name}`;
      const query = new URLSearchParams({ run, tag: "trace_viewer@" });
      return `${window.parent.location.pathname}?${query}#profile`;
    } catch {
      return null;
    }
  }
}

async function get<T>(route: string, query: object): Promise<T> {
  const words = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]));
  let response: Response;
  try {
    response = await fetch(`./${route}?${words}`);
  } catch {
    throw new Refused("TensorBoard does not answer.", "Is it still running? Then reload this page.");
  }
  let content: unknown;
  try {
    content = await response.json();
  } catch {
    throw new Refused(`TensorBoard answered with status ${response.status} and no data.`, "Its log says more.");
  }
  const error = (content as { error?: { message?: string; hint?: string } }).error;
  if (response.ok && !error) return content as T;
  throw new Refused(error?.message ?? `TensorBoard answered with status ${response.status}.`, error?.hint ?? "");
}

/** A recording, the searches beside it, or both. */
export interface Embedded {
  report?: Report;
  ops?: Record<string, OpList>;
  timelines?: TimelineData[];
  tuning?: Tuning;
  /** Where the searches were read, if not beside the recording. */
  record?: string;
}

/** What `rlscope-jax report --html` or `tune report --html` wrote into the file. */
export class File implements Source {
  readonly embedded = true;

  constructor(private readonly content: Embedded) {}

  async recordings(): Promise<Listing> {
    const { report, tuning, record } = this.content;
    const recordings = report ? [recordingOf(report)] : [];
    const run = record ?? report?.session.logdir ?? "";
    return {
      looking: false, recordings, tunings: tuning ? [{ run, changed: 0, bytes: 0 }] : [], looked_in: [], unreadable: [],
      lost: [], truncated: false,
    };
  }

  async report(): Promise<Report> {
    if (!this.content.report) throw new Refused("This file holds no recording.", "");
    return this.content.report;
  }

  async tuning(): Promise<Tuning> {
    if (!this.content.tuning) throw new Refused("This file holds no searches.", "");
    return this.content.tuning;
  }

  async ops(_: Asked, process: number, path: string, direction: string | null): Promise<OpList> {
    return this.content.ops?.[`${process}|${direction ?? ""}|${path}`] ?? { ops: [], more: 0, more_self: 0 };
  }

  async timeline(_: Asked, window: number): Promise<TimelineData> {
    const known = this.content.timelines?.[window];
    if (!known) throw new Refused("This file holds no such timeline.", "");
    return known;
  }

  async find(asked: Asked, window: number, text: string, after: number): Promise<Hit | null> {
    const timeline = await this.timeline(asked, window);
    const wanted = text.toLowerCase();
    const matches = (label: number) => {
      const known = timeline.labels[label];
      if (!known) return false;
      return known[1].toLowerCase().includes(wanted) || timeline.operations[known[0]]![0].toLowerCase().includes(wanted);
    };
    let best: (Hit & { around: boolean }) | null = null;
    timeline.lanes.forEach((lane, number) => {
      lane.label.forEach((label, place) => {
        if (!matches(label)) return;
        const start = lane.start[place]!;
        const around = start <= after;
        if (best && (best.around !== around ? around : best.start <= start)) return;
        best = { lane: number, start, end: start + lane.duration[place]!, around };
      });
    });
    return best;
  }

  async traceViewer(): Promise<null> {
    return null;
  }
}

function recordingOf({ session }: Report): Recording {
  return {
    run: session.logdir, name: session.name, sessions: [session.name], files: session.files.length,
    bytes: session.files.reduce((total, file) => total + (file.bytes ?? 0), 0), changed: 0,
  };
}

export function openSource(): Source {
  const content = document.getElementById("rlscope-data")?.textContent;
  return content ? new File(JSON.parse(content) as Embedded) : new Server();
}
