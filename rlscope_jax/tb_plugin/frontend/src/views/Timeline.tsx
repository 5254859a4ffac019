import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { inOrder, OperationColors } from "../colors";
import { Legend } from "../components/StackedBar";
import { Message } from "../components/Message";
import { duration, shortPath } from "../format";
import { hostOf, tree } from "../model";
import type { Report } from "../report";
import { Refused, type LaneData, type TimelineData } from "../source";
import { describe, layout, paint, pieceAt, type Look, type Stretch } from "../timeline/paint";
import { clamp, pan, zoom } from "../timeline/stretch";
import type { ViewProps } from "./registry";

const SETTLE = 90; // ms without a change before more detail is asked for
const MOST_COLUMNS = 2400;
const GUTTER = 150; // px, for the names of the lanes
const MOST_LANES = 200; // a canvas has a largest height

export function Timeline({ page, report, asked }: ViewProps) {
  const { source, state, change, dark } = page;
  const [data, setData] = useState<TimelineData | Refused | null>(null);
  const [width, setWidth] = useState(0);
  const [search, setSearch] = useState("");
  const [answer, setAnswer] = useState("");
  const holder = useRef<HTMLDivElement>(null);
  const last = (report.window.windows ?? 1) - 1;
  const number = Math.min(state.window, last);
  // What is known is of the window shown before while another one is on its way.
  const shown = data && !(data instanceof Refused) && data.window === number ? data : null;
  const wall = shown ? shown.wall : report.window.wall_ns;
  const windows = useRef<TimelineData["windows"]>([]);
  if (shown) windows.current = shown.windows;
  const stretch = useMemo(
    () => clamp({ begin: state.begin ?? 0, end: state.end ?? wall }, wall), [state.begin, state.end, wall],
  );
  // The colours that the operations have in the other views.
  const colors = useMemo(() => new OperationColors(tree(report, false).map((node) => node.path)), [report]);
  const show = useCallback(
    (next: Stretch) => {
      const { begin, end } = clamp(next, wall);
      const whole = begin <= 0 && end >= wall;
      change({ begin: whole ? null : begin, end: whole ? null : end });
    },
    [change, wall],
  );

  // The tab may be hidden (width 0) when it is drawn first.
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(Math.floor(entry!.contentRect.width) - GUTTER, 0)));
    if (holder.current) observer.observe(holder.current);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    if (!width) return;
    let gone = false;
    const ask = () =>
      source.timeline(asked, number, stretch.begin, shown ? stretch.end : state.end, Math.min(width, MOST_COLUMNS)).then(
        (answer) => !gone && setData(answer),
        (error) => !gone && setData(error instanceof Refused ? error : new Refused(String(error), "")),
      );
    const timer = window.setTimeout(() => void ask(), shown ? SETTLE : 0);
    return () => {
      gone = true;
      window.clearTimeout(timer);
    };
  }, [source, asked, report, number, state.begin, state.end, width]);

  const jump = async () => {
    const wanted = search.trim();
    if (!wanted) return;
    const nothing = `Nothing ${last > 0 ? "in this window" : "here"} has “${wanted}” in its name.`;
    const hit = await source.find(asked, number, wanted, (stretch.begin + stretch.end) / 2).catch((error) => {
      setAnswer(error instanceof Refused ? error.message : String(error));
    });
    if (hit === null) setAnswer(nothing);
    if (!hit) return;
    setAnswer(`Found at ${duration(hit.start)}.`);
    const span = Math.min(stretch.end - stretch.begin, Math.max((hit.end - hit.start) * 20, wall / 1e5));
    const middle = (hit.start + hit.end) / 2;
    show({ begin: middle - span / 2, end: middle + span / 2 });
  };

  return (
    <section class="timeline" aria-labelledby="timeline-title">
      <div class="heading">
        <h2 id="timeline-title">Timeline</h2>
        <div class="switch" role="group" aria-label="Zoom">
          <button type="button" onClick={() => show(zoom(stretch, 0.5, 0.5))}>Zoom in</button>
          <button type="button" onClick={() => show(zoom(stretch, 2, 0.5))}>Zoom out</button>
          <button type="button" onClick={() => show({ begin: 0, end: wall })}>All</button>
        </div>
        <form
          class="search" role="search"
          onSubmit={(event) => {
            event.preventDefault();
            void jump();
          }}
        >
          <input
            type="search" placeholder="Find an operation or op" aria-label="Find an operation or op" value={search}
            onInput={(event) => {
              setSearch(event.currentTarget.value);
              setAnswer("");
            }}
          />
          <button type="submit" class="action">Find next</button>
        </form>
        <span class="faint range">{duration(stretch.begin)} – {duration(stretch.end)} of {duration(wall)}</span>
      </div>
      {last > 0 && (
        <Windows
          windows={windows.current} chosen={number} onChoose={(window) => change({ window, begin: null, end: null })}
        />
      )}
      <p class="note" role="status">{answer}</p>
      {source.embedded && <p class="note">This file holds the timeline at one level of detail; TensorBoard's tab shows every op.</p>}
      <div ref={holder} class="holder">
        {data instanceof Refused && <Message title={data.message} kind="bad" hint={data.hint} />}
        {!(data instanceof Refused) && !shown && <p class="note">Opening the timeline…</p>}
        {shown && width > 0 && (
          <Lanes key={number} report={report} data={shown} colors={colors} width={width} stretch={stretch} dark={dark} search={search.trim().toLowerCase()} onShow={show} />
        )}
      </div>
    </section>
  );
}

interface WindowsProps {
  windows: TimelineData["windows"];
  chosen: number;
  onChoose: (window: number) => void;
}

/** The windows in which a run was recorded: one is shown, all can be chosen. */
function Windows({ windows, chosen, onChoose }: WindowsProps) {
  const first = windows[0]?.[0] ?? null;
  const title = ([began, wall]: WindowsProps["windows"][number], number: number) => {
    const after = began === null || first === null ? "" : `, ${number ? `${duration(began - first)} after the first` : clock(began)}`;
    return `${number + 1} of ${windows.length}${after}, ${duration(wall)} long`;
  };
  return (
    <div class="heading windows">
      <label>
        <span class="faint">Window</span>{" "}
        <select value={chosen} onChange={(event) => onChoose(Number(event.currentTarget.value))}>
          {windows.map((window, number) => <option key={number} value={number}>{title(window, number)}</option>)}
        </select>
      </label>
      <div class="switch" role="group" aria-label="Other windows">
        <button type="button" disabled={chosen <= 0} onClick={() => onChoose(chosen - 1)}>Previous</button>
        <button type="button" disabled={chosen >= windows.length - 1} onClick={() => onChoose(chosen + 1)}>Next</button>
      </div>
      <span class="faint">What lies between windows was not recorded.</span>
    </div>
  );
}

function clock(unixNs: number): string {
  return new Date(unixNs / 1e6).toLocaleTimeString("en-GB");
}

interface LanesProps {
  report: Report;
  data: TimelineData;
  colors: OperationColors;
  width: number;
  stretch: Stretch;
  dark: boolean;
  search: string;
  onShow: (stretch: Stretch) => void;
}

function Lanes({ report, data, colors, width, stretch, dark, search, onShow }: LanesProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [cursor, setCursor] = useState<{ lane: number; place: number; x: number; y: number } | null>(null);
  const grip = useRef<{ x: number; stretch: Stretch } | null>(null);
  const full = useMemo(() => data.lanes.flatMap((lane, number) => (lane.pieces ? [number] : [])), [data]);
  const lanes = useMemo(() => full.slice(0, MOST_LANES), [full]);
  const { tops, heights, height } = useMemo(() => layout(data, lanes), [data, lanes]);
  const names = useMemo(() => laneNames(lanes.map((number) => data.lanes[number]!)), [data, lanes]);
  const matches = useMemo(() => (search ? matcher(data, search) : null), [data, search]);

  useLayoutEffect(() => {
    const target = canvas.current!;
    const frame = requestAnimationFrame(() => {
      const dots = window.devicePixelRatio || 1;
      if (target.width !== width * dots || target.height !== height * dots) {
        target.width = width * dots;
        target.height = height * dots;
      }
      const context = target.getContext("2d")!;
      context.setTransform(dots, 0, 0, dots, 0, 0);
      paint(context, width, height, { data, lanes, stretch, colors, look: lookOf(dark), matches, cursor });
    });
    return () => cancelAnimationFrame(frame);
  }, [data, lanes, width, height, stretch, dark, colors, matches, cursor]);

  // A wheel listener of the framework's would be passive, and the page would scroll as well.
  const latest = useRef({ stretch, onShow });
  latest.current = { stretch, onShow };
  useEffect(() => {
    const target = canvas.current!;
    const wheel = (event: WheelEvent) => {
      const { stretch: now, onShow: show } = latest.current;
      if (event.ctrlKey || event.metaKey) show(zoom(now, Math.exp(event.deltaY / 200), event.offsetX / target.clientWidth));
      else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) show(pan(now, (event.deltaX || event.deltaY) / target.clientWidth));
      else return;
      event.preventDefault();
    };
    target.addEventListener("wheel", wheel, { passive: false });
    return () => target.removeEventListener("wheel", wheel);
  }, []);

  const point = (event: PointerEvent) => {
    if (grip.current) {
      const moved = (grip.current.x - event.offsetX) / width;
      onShow(pan(grip.current.stretch, moved));
      return;
    }
    const scale = (stretch.end - stretch.begin) / width;
    const found = pieceAt(data, lanes, stretch.begin + event.offsetX * scale, event.offsetY, scale);
    setCursor(found && { ...found, x: event.offsetX, y: event.offsetY });
  };
  const keys = (event: KeyboardEvent) => {
    const moves: Record<string, () => Stretch> = {
      ArrowLeft: () => pan(stretch, -0.2), ArrowRight: () => pan(stretch, 0.2),
      "+": () => zoom(stretch, 0.5, 0.5), "=": () => zoom(stretch, 0.5, 0.5), ArrowUp: () => zoom(stretch, 0.5, 0.5),
      "-": () => zoom(stretch, 2, 0.5), ArrowDown: () => zoom(stretch, 2, 0.5),
      "0": () => ({ begin: 0, end: data.wall }), Home: () => ({ begin: 0, end: data.wall }),
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    onShow(move());
  };
  const [categories, roots] = useMemo(() => [categoriesShown(data, lanes), rootsShown(data, lanes)], [data, lanes]);
  return (
    <>
      <div class="canvas" style={{ height: `${height}px` }}>
        <canvas
          ref={canvas} tabIndex={0} role="img" style={{ width: `${width}px`, height: `${height}px` }}
          aria-label="Timeline. Left and right move, plus and minus zoom, 0 shows all."
          onPointerDown={(event) => {
            grip.current = { x: event.offsetX, stretch };
            event.currentTarget.setPointerCapture(event.pointerId);
          }}
          onPointerUp={() => (grip.current = null)} onPointerMove={point}
          onPointerLeave={() => !grip.current && setCursor(null)} onKeyDown={keys}
          onDblClick={(event) => onShow(zoom(stretch, 0.25, event.offsetX / width))}
        />
        {lanes.map((number, row) => (
          <span
            key={number} class="lane" title={fullName(report, data.lanes[number]!)}
            style={{ top: `${tops[row]!}px`, lineHeight: `${heights[row]!}px` }}
          >
            {names[row]}
          </span>
        ))}
        {cursor && data.lanes[cursor.lane]?.start[cursor.place] !== undefined && (
          <div class="tip" style={{ left: `${GUTTER + Math.min(cursor.x + 14, Math.max(width - 380, 0))}px`, top: `${cursor.y + 16}px` }}>
            {describe(data, data.lanes[cursor.lane]!, cursor.place).map((line, number) => (
              <div key={number} class={number ? "" : "strong"}>{line}</div>
            ))}
            <div class="faint">{fullName(report, data.lanes[cursor.lane]!)}</div>
          </div>
        )}
      </div>
      <div class="legends">
        <span class="faint">threads</span>
        <Legend keys={categories} dark={dark} />
        <span class="faint">devices</span>
        <ul class="legend">
          {roots.map((root) => (
            <li key={root}><i style={{ background: colors.of(root, null, dark) }} />{shortPath(root, 40)}</li>
          ))}
        </ul>
      </div>
      {full.length > lanes.length && <p class="note">{full.length - lanes.length} more lines are not drawn.</p>}
      <p class="note">
        Drag to move, Ctrl with the wheel or a double click to zoom; with the keyboard: arrows, + and −, 0 for all.
      </p>
    </>
  );
}

/** A lane with the host that it is of, where there are several. */
function fullName(report: Report, lane: LaneData): string {
  return report.processes.length > 1 ? `${hostOf(report, lane.process)} · ${lane.name}` : lane.name;
}

/** Lanes by names a person can tell apart: XLA's own carry long numbers. Of several processes, by their numbers too. */
export function laneNames(lanes: LaneData[]): string[] {
  const seen = new Map<string, number>();
  const several = new Set(lanes.map((lane) => lane.process)).size > 1;
  return lanes.map((lane) => {
    const [device, line] = lane.side === "device" ? lane.name.split(" · ") : ["", lane.name];
    const plain = (line ?? "").replace(/\/-?\d{6,}$/, "").replace(/^tf_XLA/, "");
    const own = device ? `${device.split("/").at(-1)} ${plain}` : `${plain} thread`;
    const name = several ? `${lane.process}: ${own}` : own;
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    return number > 1 ? `${name} ${number}` : name;
  });
}

function categoriesShown(data: TimelineData, lanes: number[]): string[] {
  const keys = new Set<number>();
  for (const number of lanes) {
    const lane = data.lanes[number]!;
    if (lane.side === "host") for (const key of lane.key) keys.add(key);
  }
  return inOrder([...keys].map((key) => data.categories[key] ?? ""));
}

const MOST_ROOTS = 12;

/** The first names of the operations on the device lanes shown. */
function rootsShown(data: TimelineData, lanes: number[]): string[] {
  const roots = new Set<string>();
  for (const number of lanes) {
    const lane = data.lanes[number]!;
    if (lane.side === "device") for (const key of new Set(lane.key)) roots.add(data.operations[key]![0].split("/", 1)[0]!);
  }
  return [...roots].slice(0, MOST_ROOTS);
}

function matcher(data: TimelineData, wanted: string): (lane: LaneData, place: number) => boolean {
  const paths = data.operations.map(([path]) => path.toLowerCase().includes(wanted));
  return (lane, place) => {
    const label = data.labels[lane.label[place]!];
    if (label) return paths[label[0]]! || label[1].toLowerCase().includes(wanted);
    return lane.side === "device" && paths[lane.key[place]!]!;
  };
}

function lookOf(dark: boolean): Look {
  const style = getComputedStyle(document.documentElement);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    dark, text: read("--text"), faint: read("--faint"), line: read("--line"), panel: read("--panel"), accent: read("--accent"),
  };
}
