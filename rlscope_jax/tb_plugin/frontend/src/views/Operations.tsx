import { useMemo, useRef, useState } from "preact/hooks";
import type { Page } from "../App";
import { OperationColors } from "../colors";
import { Icicle } from "../components/Icicle";
import { Details } from "../components/Details";
import { count, percent, unitOf, type Unit } from "../format";
import { Time } from "../components/Time";
import { flat, hostOf, rowsUnder, tree, value, wallFigures, type Node } from "../model";
import type { Figure, Report } from "../report";
import type { ViewProps } from "./registry";

interface Column {
  key: string;
  title: string;
  help: string;
  /** What it sorts by. */
  read: (node: Node) => number;
  /** What that is the sum of, where it may be corrected. */
  figures?: (node: Node) => Figure[];
  /** Shown as a time, else as a count. */
  time?: boolean;
  /** Left out where nothing has any. */
  optional?: boolean;
}

const COLUMNS: Column[] = [
  { key: "wallTotal", title: "wall total", time: true, read: (node) => node.wallTotal,
    figures: (node) => wallFigures(rowsUnder(node)), help: "its part of the window, with all that is nested in it" },
  { key: "wall", title: "wall self", time: true, read: (node) => node.wall,
    figures: (node) => wallFigures(node.rows), help: "its own part of the window" },
  { key: "deviceTotal", title: "device total", time: true, read: (node) => node.deviceTotal,
    figures: (node) => rowsUnder(node).map((row) => row.device.self),
    help: "device time summed over lines, with all that is nested in it" },
  { key: "device", title: "device self", time: true, read: (node) => node.device,
    figures: (node) => node.rows.map((row) => row.device.self),
    help: "device time of its own ops, summed over lines" },
  { key: "hostOnly", title: "host only", time: true, read: (node) => node.hostOnly,
    figures: (node) => node.rows.map((row) => row.wall.host_only),
    help: "wall time in which the host worked and no device did" },
  { key: "ops", title: "ops", optional: true, read: (node) => node.ops, help: "device ops that ran" },
  { key: "launches", title: "launches", optional: true, read: (node) => node.launches,
    help: "kernels or graphs launched" },
  { key: "dispatches", title: "disp.", optional: true, read: (node) => node.dispatches,
    help: "program executions asked for" },
  { key: "compiles", title: "comp.", optional: true, read: (node) => node.compiles, help: "programs compiled" },
  { key: "callbacks", title: "calls", optional: true, read: (node) => node.callbacks,
    help: "host callbacks made from compiled code" },
];

const METRICS: Record<string, [string, (node: Node) => number]> = {
  wall: ["wall time", (node) => node.wallTotal],
  device: ["device time", (node) => node.deviceTotal],
  host: ["host only", (node) => node.hostOnlyTotal],
};

const MOST_ROWS = 300; // a longer table is slow, and nobody reads it
const DEEPEST = 12; // indents further than this would push the names out of sight

export function Operations({ page, report, asked }: ViewProps) {
  const { state, change, dark } = page;
  const roots = useMemo(() => tree(report, state.corrected), [report, state.corrected]);
  const all = useMemo(() => flat(roots), [roots]);
  const colors = useMemo(() => new OperationColors(roots.map((node) => node.path)), [roots]);
  const [metric, setMetric] = useState("wall");
  const [closed, setClosed] = useState<Set<string>>(new Set());
  const [most, setMost] = useState(MOST_ROWS);
  const chosen = all.find((node) => node.key === state.operation) ?? null;
  const columns = COLUMNS.filter((column) => !column.optional || all.some((node) => column.read(node) > 0));
  const shown = visible(roots, state.sort, state.filter, closed);
  const unit = unitOf(value(report.totals.wall, state.corrected));
  const choose = (node: Node) => change({ operation: node.key === state.operation ? null : node.key });
  const toggle = (node: Node, open: boolean) => {
    const next = new Set(closed);
    if (open) next.delete(node.key);
    else next.add(node.key);
    setClosed(next);
  };

  return (
    <div class="operations">
      <section aria-labelledby="icicle-title">
        <div class="heading">
          <h2 id="icicle-title">Operations</h2>
          <div class="switch" role="group" aria-label="What the boxes show">
            {Object.entries(METRICS).map(([key, [title]]) => (
              <button type="button" key={key} aria-pressed={metric === key} onClick={() => setMetric(key)}>{title}</button>
            ))}
          </div>
          <input
            type="search" placeholder="Filter by name" aria-label="Filter operations by name" value={state.filter}
            onInput={(event) => change({ filter: event.currentTarget.value })}
          />
        </div>
        <Icicle
          roots={roots} read={METRICS[metric]![1]} colors={colors} dark={dark} chosen={state.operation} onChoose={choose}
        />
      </section>
      <div class={chosen ? "beside" : ""}>
        <Table
          report={report} nodes={shown.slice(0, most)} more={shown.length - most} onMore={() => setMost(2 * most)} columns={columns} unit={unit} page={page} colors={colors} closed={closed}
          onToggle={toggle} onChoose={choose}
        />
        {chosen && <Details page={page} report={report} asked={asked} node={chosen} unit={unit} />}
      </div>
    </div>
  );
}

/** The rows to show: sorted within their parents; with a filter, what matches and what stands above it. */
export function visible(roots: Node[], sort: string, filter: string, closed: Set<string>): Node[] {
  const read = sort === "name" ? null : (COLUMNS.find((column) => column.key === sort) ?? COLUMNS[0]!).read;
  const wanted = filter.trim().toLowerCase();
  const some = (node: Node): boolean => COLUMNS.some((column) => column.read(node) > 0) || node.children.some(some);
  const matches = (node: Node): boolean => node.path.toLowerCase().includes(wanted) || node.children.some(matches);
  // Sorted by a total, or by a name, a parent stands by its own; else by the best it holds.
  const best = (node: Node): number => Math.max(read!(node), ...node.children.map(best));
  const order = (a: Node, b: Node) =>
    a.process - b.process ||
    Number(a.special) - Number(b.special) ||
    (read ? best(b) - best(a) : a.name.localeCompare(b.name));
  const walk = (nodes: Node[]): Node[] =>
    nodes
      .filter((node) => some(node) && (!wanted || matches(node)))
      .sort(order)
      .flatMap((node) => [node, ...(closed.has(node.key) && !wanted ? [] : walk([...node.children]))]);
  return walk([...roots]);
}

interface TableProps {
  report: Report;
  nodes: Node[];
  /** How many rows are not shown. */
  more: number;
  onMore: () => void;
  columns: Column[];
  unit: Unit;
  page: Page;
  colors: OperationColors;
  closed: Set<string>;
  onToggle: (node: Node, open: boolean) => void;
  onChoose: (node: Node) => void;
}

function Table({ report, nodes, more, onMore, columns, unit, page, colors, closed, onToggle, onChoose }: TableProps) {
  const { state, change, dark } = page;
  const wall = value(report.totals.wall, state.corrected);
  const several = report.processes.length > 1;
  const body = useRef<HTMLTableSectionElement>(null);
  const focused = nodes.some((node) => node.key === state.operation) ? state.operation : nodes[0]?.key;
  const move = (event: KeyboardEvent, node: Node) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      const rows = [...body.current!.querySelectorAll<HTMLElement>("tr")];
      rows[rows.indexOf(event.currentTarget as HTMLElement) + step]?.focus();
    } else if (event.key === "ArrowRight") onToggle(node, true);
    else if (event.key === "ArrowLeft") onToggle(node, false);
    else if ((event.key === "Enter" || event.key === " ") && event.target === event.currentTarget) onChoose(node);
    else return;
    event.preventDefault();
  };
  const heading = (key: string, title: string, help: string, className = "number", time = false) => (
    <th scope="col" class={className} aria-sort={state.sort === key ? (key === "name" ? "ascending" : "descending") : "none"}>
      <button type="button" title={help} onClick={() => change({ sort: key })}>{title}</button>
      {time && <div>{unit.name}</div>}
    </th>
  );
  return (
    <div class="scroll">
      <table class="tree" role="treegrid" aria-label="Operations">
        <thead>
          <tr>
            {heading("name", "operation", "sort by name", "name")}
            {columns.map((column) => heading(column.key, column.title, column.help, "number", column.time))}
            <th scope="col" title="device self time by direction of differentiation">forward / backward</th>
            <th scope="col" title="why the device time was given to this operation">evidence</th>
          </tr>
        </thead>
        <tbody ref={body}>
          {nodes.map((node) => (
            <tr
              key={node.key} role="row" tabIndex={node.key === focused ? 0 : -1} aria-level={node.depth + 1}
              aria-expanded={node.children.length ? !closed.has(node.key) : undefined}
              aria-selected={node.key === state.operation} data-path={node.path}
              onKeyDown={(event) => move(event, node)} onClick={() => onChoose(node)}
            >
              <th scope="row" class="name">
                <div style={{ paddingLeft: `${Math.min(node.depth, DEEPEST) * 16}px` }} title={node.path}>
                  {node.children.length ? (
                    <button
                      type="button" class="twist" tabIndex={-1} aria-label={closed.has(node.key) ? "Open" : "Close"}
                      onClick={(event) => {
                        event.stopPropagation();
                        onToggle(node, closed.has(node.key));
                      }}
                    >
                      {closed.has(node.key) ? "▸" : "▾"}
                    </button>
                  ) : <span class="twist" />}
                  <i class="swatch" style={{ background: colors.of(node.path, null, dark) }} />
                  <span class="text">{node.name}</span>
                  {several && node.depth === 0 && <span class="faint"> · {hostOf(report, node.process)}</span>}
                </div>
              </th>
              {columns.map((column) => (
                <td key={column.key} class="number" data-figure={column.key} data-value={column.read(node)}>
                  {column.key === "wallTotal" && (
                    <i class="fill" style={{ width: `${Math.min((100 * node.wallTotal) / (wall || 1), 100)}%` }} />
                  )}
                  {column.time
                    ? <Time value={column.read(node)} figures={column.figures?.(node) ?? []} corrected={state.corrected} unit={unit} />
                    : count(column.read(node))}
                </td>
              ))}
              <td><Directions node={node} /></td>
              <td><Evidence node={node} /></td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && (
        <p class="note">
          {more.toLocaleString("en")} more rows. <button type="button" class="action" onClick={onMore}>Show more</button>
        </p>
      )}
      {!nodes.length && state.filter && <p class="note">No operation has “{state.filter}” in its name.</p>}
      {!nodes.length && !state.filter && <p class="note">Nothing ran within the window.</p>}
    </div>
  );
}

const DIRECTIONS = ["forward", "recompute", "backward"] as const;

function Directions({ node }: { node: Node }) {
  const parts = DIRECTIONS.map((name) => [name, node.directions.get(name) ?? 0] as const);
  const whole = parts.reduce((sum, [, time]) => sum + time, 0);
  if (!whole) return null;
  const words = parts.filter(([, time]) => time).map(([name, time]) => `${name} ${percent(time, whole)}`).join(", ");
  return (
    <div class="mini directions" role="img" aria-label={words} title={words}>
      {parts.map(([name, time]) => <span key={name} class={name} style={{ width: `${(100 * time) / whole}%` }} />)}
    </div>
  );
}

const TRUST = ["mark", "annotation", "scope", "function", "split", "inherited", "host", "none"];

function Evidence({ node }: { node: Node }) {
  const whole = [...node.evidence.values()].reduce((sum, time) => sum + time, 0);
  if (!whole) return null;
  const parts = TRUST.flatMap((kind) => (node.evidence.get(kind) ? [[kind, node.evidence.get(kind)!] as const] : []));
  const words = parts.map(([kind, time]) => `${kind} ${percent(time, whole)}`).join(", ");
  const most = parts.reduce((best, part) => (part[1] > best[1] ? part : best));
  return (
    <div class="evidence" title={words}>
      <div class="mini" role="img" aria-label={words}>
        {parts.map(([kind, time]) => <span key={kind} class={`e-${kind}`} style={{ width: `${(100 * time) / whole}%` }} />)}
      </div>
      <span class="faint">{most[0]}</span>
    </div>
  );
}
