// What the views show of a report: figures chosen raw or corrected, the tree of operations, the stacked bars.

import type { Direction, Figure, Operation, Report } from "./report";

export interface Chosen {
  value: number | null;
  interval: [number, number] | null;
}

/** A figure as the switch wants it; what has no correction stays as recorded. */
export function choose(figure: Figure | undefined, corrected: boolean): Chosen {
  if (!figure) return { value: null, interval: null };
  if (corrected && figure.corrected !== null) return { value: figure.corrected, interval: figure.interval };
  return { value: figure.raw, interval: null };
}

export function value(figure: Figure | undefined, corrected: boolean): number {
  return choose(figure, corrected).value ?? 0;
}

export function isCorrected(report: Report): boolean {
  return report.overhead.correction !== "none" && report.totals.wall.corrected !== null;
}

export interface Segment {
  key: string;
  value: number;
}

/** The cells of an operation's wall time, in the order they are stacked. */
export function segments(operations: Operation[], corrected: boolean): Segment[] {
  const sum = (read: (operation: Operation) => Figure | undefined) =>
    operations.reduce((total, operation) => total + value(read(operation), corrected), 0);
  const names = new Set(operations.flatMap((operation) => Object.keys(operation.wall.host_only_categories)));
  return [
    { key: "device_only", value: sum((operation) => operation.wall.device_only) },
    { key: "overlap", value: sum((operation) => operation.wall.overlap) },
    ...[...names].map((name) => ({
      key: name,
      value: sum((operation) => operation.wall.host_only_categories[name]),
    })),
    { key: "idle", value: sum((operation) => operation.wall.idle) },
  ].filter((segment) => segment.value > 0);
}

const CELLS = ["device_only", "overlap", "host_only", "idle"] as const;

/** An operation's part of the window. */
export function wallOf(operation: Operation, corrected: boolean): number {
  return CELLS.reduce((total, cell) => total + value(operation.wall[cell], corrected), 0);
}

/** What `wallOf` sums. */
export function wallFigures(operations: Operation[]): Figure[] {
  return operations.flatMap((operation) => CELLS.flatMap((cell) => operation.wall[cell] ?? []));
}

/** The interval of a sum, taken as wide as it can be: errors of one constant go the same way. */
export function intervalOf(figures: Figure[], corrected: boolean): [number, number] | null {
  if (!corrected) return null;
  let [low, high, some] = [0, 0, false];
  for (const figure of figures) {
    const { value: known, interval } = choose(figure, true);
    if (interval) some = true;
    low += interval ? interval[0] : (known ?? 0);
    high += interval ? interval[1] : (known ?? 0);
  }
  return some ? [low, high] : null;
}

/** Whether the interval is narrower than the figure itself; what is not is shown as "?". */
export function isResolved(figure: number, interval: [number, number] | null): boolean {
  return interval === null || interval[1] - figure <= figure;
}

/** One operation, its directions together, and those nested in it. */
export interface Node {
  key: string;
  process: number;
  path: string;
  name: string;
  depth: number;
  rows: Operation[];
  children: Node[];
  special: boolean;
  wall: number;
  wallTotal: number;
  device: number;
  deviceTotal: number;
  host: number;
  hostOnly: number;
  hostOnlyTotal: number;
  directions: Map<Direction, number>;
  ops: number;
  launches: number;
  dispatches: number;
  compiles: number;
  syncs: number;
  callbacks: number;
  evidence: Map<string, number>;
}

export function nodeKey(process: number, path: string): string {
  return `${process}|${path}`;
}

/** The forest of operations, heaviest first; specials last. */
export function tree(report: Report, corrected: boolean): Node[] {
  const nodes = new Map<string, Node>();
  const roots: Node[] = [];
  const find = (process: number, path: string): Node => {
    const key = nodeKey(process, path);
    const known = nodes.get(key);
    if (known) return known;
    const special = path.startsWith("(");
    const cut = special ? -1 : path.lastIndexOf("/");
    const node = emptyNode(key, process, path, path.slice(cut + 1), special);
    nodes.set(key, node);
    if (cut < 0) {
      roots.push(node);
    } else {
      const parent = find(process, path.slice(0, cut));
      node.depth = parent.depth + 1;
      parent.children.push(node);
    }
    return node;
  };
  for (const operation of report.operations) {
    add(find(operation.process, operation.path), operation, corrected);
  }
  roots.forEach(sumUp);
  const order = (a: Node, b: Node) =>
    a.process - b.process || Number(a.special) - Number(b.special) || b.wallTotal - a.wallTotal;
  for (const node of nodes.values()) node.children.sort(order);
  return roots.sort(order);
}

function emptyNode(key: string, process: number, path: string, name: string, special: boolean): Node {
  return {
    key, process, path, name, depth: 0, rows: [], children: [], special,
    wall: 0, wallTotal: 0, device: 0, deviceTotal: 0, host: 0, hostOnly: 0, hostOnlyTotal: 0,
    directions: new Map(), ops: 0, launches: 0, dispatches: 0, compiles: 0, syncs: 0, callbacks: 0,
    evidence: new Map(),
  };
}

function add(node: Node, row: Operation, corrected: boolean): void {
  const device = value(row.device.self, corrected);
  node.rows.push(row);
  node.wall += wallOf(row, corrected);
  node.device += device;
  node.host += value(row.host.self, corrected);
  node.hostOnly += value(row.wall.host_only, corrected);
  node.directions.set(row.direction, (node.directions.get(row.direction) ?? 0) + device);
  node.ops += row.device.ops;
  node.launches += row.device.launches;
  node.dispatches += row.host.dispatches;
  node.compiles += row.host.compiles;
  node.syncs += row.host.syncs;
  node.callbacks += row.host.callbacks;
  const raw = value(row.device.self, false);
  for (const [kind, share] of Object.entries(row.evidence)) {
    node.evidence.set(kind, (node.evidence.get(kind) ?? 0) + share * raw);
  }
}

function sumUp(node: Node): void {
  node.children.forEach(sumUp);
  const sum = (read: (child: Node) => number) => node.children.reduce((total, child) => total + read(child), 0);
  node.wallTotal = node.wall + sum((child) => child.wallTotal);
  node.deviceTotal = node.device + sum((child) => child.deviceTotal);
  node.hostOnlyTotal = node.hostOnly + sum((child) => child.hostOnlyTotal);
}

/** The rows of a node and of all that is nested in it. */
export function rowsUnder(node: Node): Operation[] {
  return flat([node]).flatMap((one) => one.rows);
}

/** Every node, parents before children. */
export function flat(nodes: Node[]): Node[] {
  return nodes.flatMap((node) => [node, ...flat(node.children)]);
}

export interface Bar {
  label: string;
  process: number;
  path: string | null;
  operations: Operation[];
  wall: number;
}

/** One bar per operation, heaviest first; those beyond `most` are one bar together. */
export function bars(report: Report, corrected: boolean, most: number): Bar[] {
  const nodes = flat(tree(report, corrected)).filter((node) => node.wall > 0);
  nodes.sort((a, b) => Number(a.special) - Number(b.special) || b.wall - a.wall);
  const several = report.processes.length > 1;
  const named = nodes.filter((node) => !node.special);
  const shown = named.length > most + 1 ? named.slice(0, most) : named;
  const rest = named.slice(shown.length);
  const bar = (node: Node): Bar => ({
    label: several ? `${node.path} · ${hostOf(report, node.process)}` : node.path,
    process: node.process, path: node.path, operations: node.rows, wall: node.wall,
  });
  const found = shown.map(bar);
  if (rest.length) {
    found.push({
      label: `${rest.length} more operations`,
      process: 0, path: null,
      operations: rest.flatMap((node) => node.rows),
      wall: rest.reduce((total, node) => total + node.wall, 0),
    });
  }
  return [...found, ...nodes.filter((node) => node.special).map(bar)];
}

export function hostOf(report: Report, process: number): string {
  const host = report.processes[process]?.host ?? "";
  const same = report.processes.filter((one) => one.host === host).length;
  return same > 1 ? `${host} #${process}` : host;
}
