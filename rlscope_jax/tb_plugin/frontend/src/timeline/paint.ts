// Drawing the timeline on a canvas: what is visible, and nothing else.

import { cellColor, textOn, type OperationColors } from "../colors";
import { duration } from "../format";
import type { LaneData, TimelineData } from "../source";

export const RULER = 26;
export const STEPS = 20;
const LANE = { host: 34, device: 30 };
const GAP = 6;
const ROOMY = 360; // px: few lanes grow to fill this much,
const MOST_EXTRA = 30; // each by no more than this

export interface Stretch {
  begin: number;
  end: number;
}

export interface Look {
  dark: boolean;
  text: string;
  faint: string;
  line: string;
  panel: string;
  accent: string;
}

export interface Scene {
  data: TimelineData;
  lanes: number[];
  stretch: Stretch;
  colors: OperationColors;
  look: Look;
  /** Pieces to show, others faded; null for all. */
  matches: ((lane: LaneData, place: number) => boolean) | null;
  cursor: { lane: number; place: number } | null;
}

export interface Layout {
  tops: number[];
  heights: number[];
  /** Of all. */
  height: number;
}

/** Where each lane shown begins and how high it is. */
export function layout(data: TimelineData, lanes: number[]): Layout {
  const least = lanes.map((number) => LANE[data.lanes[number]!.side]);
  const needed = least.reduce((sum, height) => sum + height + GAP, 0);
  const extra = Math.max(0, Math.min(MOST_EXTRA, Math.floor((ROOMY - needed) / lanes.length)));
  const heights = least.map((height) => height + extra);
  let top = RULER + (data.steps.length ? STEPS : 0);
  const tops = heights.map((height) => {
    top += height + GAP;
    return top - height - GAP;
  });
  return { tops, heights, height: top };
}

export function colorOf(scene: Pick<Scene, "data" | "colors" | "look">, lane: LaneData, place: number): string {
  const key = lane.key[place]!;
  if (lane.side === "host") return cellColor(scene.data.categories[key] ?? "", scene.look.dark);
  const [path, direction] = scene.data.operations[key]!;
  return scene.colors.of(path, direction, scene.look.dark);
}

export function paint(context: CanvasRenderingContext2D, width: number, height: number, scene: Scene): void {
  const { data, stretch, look } = scene;
  const scale = width / (stretch.end - stretch.begin);
  context.clearRect(0, 0, width, height);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  ruler(context, width, height, stretch, look);
  steps(context, width, scene, scale);
  const { tops, heights } = layout(data, scene.lanes);
  scene.lanes.forEach((number, row) => pieces(context, width, scene, number, tops[row]!, heights[row]!, scale));
}

function ruler(context: CanvasRenderingContext2D, width: number, height: number, stretch: Stretch, look: Look): void {
  const span = stretch.end - stretch.begin;
  const step = niceStep((span * 110) / width);
  context.fillStyle = look.faint;
  context.strokeStyle = look.line;
  context.lineWidth = 1;
  context.beginPath();
  for (let at = Math.ceil(stretch.begin / step) * step; at <= stretch.end; at += step) {
    const x = Math.round(((at - stretch.begin) / span) * width) + 0.5;
    context.moveTo(x, RULER - 6);
    context.lineTo(x, height);
    context.fillText(tick(at, step), x + 4, RULER / 2);
  }
  context.stroke();
}

function tick(at: number, step: number): string {
  if (at === 0) return "0";
  const [scale, name] = at >= 1e9 ? [1e9, "s"] : at >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
  const decimals = Math.max(0, Math.min(6, Math.ceil(-Math.log10(step / scale) - 1e-9)));
  return `${(at / scale).toFixed(decimals)} ${name}`;
}

/** The next of 1, 2, 5, 10, … that is at least as large. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-3)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least * 0.999)!;
}

function steps(context: CanvasRenderingContext2D, width: number, scene: Scene, scale: number): void {
  const { data, stretch, look } = scene;
  for (const [number, start, length] of data.steps) {
    const x = (start - stretch.begin) * scale;
    const w = length * scale;
    if (x > width || x + w < 0) continue;
    context.fillStyle = number % 2 ? look.line : look.panel;
    context.fillRect(x, RULER, Math.max(w - 1, 1), STEPS - 4);
    if (w > 46) {
      context.fillStyle = look.text;
      context.fillText(`step ${number}`, Math.max(x, 0) + 5, RULER + (STEPS - 4) / 2);
    }
  }
}

function pieces(
  context: CanvasRenderingContext2D, width: number, scene: Scene, number: number, top: number, height: number,
  scale: number,
): void {
  const { data, stretch, matches, cursor, look } = scene;
  const lane = data.lanes[number]!;
  const first = firstVisible(lane, stretch.begin);
  context.save();
  context.beginPath();
  context.rect(0, top, width, height);
  context.clip();
  for (let place = first; place < lane.start.length; place++) {
    const x = (lane.start[place]! - stretch.begin) * scale;
    if (x > width) {
      if (lane.count[place] === 1) break;
      continue;
    }
    const w = Math.max(lane.duration[place]! * scale, 0.6);
    if (x + w < 0) continue;
    // Several pieces drawn as one are as tall as they are dense.
    const filled = lane.count[place]! > 1 ? Math.max(height * lane.cover[place]!, 3) : height;
    context.globalAlpha = matches && !matches(lane, place) ? 0.15 : 1;
    context.fillStyle = colorOf(scene, lane, place);
    context.fillRect(x, top + height - filled, w > 4 ? w - 0.6 : w, filled);
    if (w > 40 && lane.label[place]! >= 0) {
      context.fillStyle = textOn(colorOf(scene, lane, place));
      label(context, scene, lane, place, Math.max(x, 0) + 4, top + height / 2, Math.min(x + w, width) - Math.max(x, 0) - 8);
    }
  }
  context.restore();
  if (cursor && cursor.lane === number) {
    const x = (lane.start[cursor.place]! - stretch.begin) * scale;
    context.strokeStyle = look.accent;
    context.lineWidth = 2;
    context.strokeRect(x - 1, top - 1, Math.max(lane.duration[cursor.place]! * scale, 2) + 2, height + 2);
  }
}

function label(
  context: CanvasRenderingContext2D, scene: Scene, lane: LaneData, place: number, x: number, y: number, room: number,
): void {
  const [operation, name] = scene.data.labels[lane.label[place]!] ?? [-1, ""];
  const path = scene.data.operations[operation]?.[0] ?? "";
  const category = lane.side === "host" ? (scene.data.categories[lane.key[place]!] ?? "") : "";
  const text = lane.side === "host" ? (path.startsWith("(") ? category : path) : name || path;
  let shown = text.slice(0, Math.ceil(room / 2)); // no letter is narrower on average, and names may be endless
  while (shown && context.measureText(shown).width > room) shown = shown.slice(0, -1);
  if (shown.length < text.length) shown = shown.length > 3 ? `${shown.slice(0, -1)}…` : "";
  if (shown) context.fillText(shown, x, y);
}

/** The first piece that may be seen; merged pieces stand before the others, each part in order. */
function firstVisible(lane: LaneData, begin: number): number {
  if (lane.count.length && lane.count[0]! > 1) return 0;
  let [low, high] = [0, lane.start.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.start[middle]! + lane.duration[middle]! < begin) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The piece under a point, the topmost one. */
export function pieceAt(
  data: TimelineData, lanes: number[], at: number, y: number, slack: number,
): { lane: number; place: number } | null {
  const { tops, heights } = layout(data, lanes);
  const row = tops.findIndex((top, index) => y >= top && y <= top + heights[index]!);
  if (row < 0) return null;
  const number = lanes[row]!;
  const lane = data.lanes[number]!;
  for (let place = lane.start.length - 1; place >= 0; place--) {
    const start = lane.start[place]!;
    if (at >= start - slack && at <= start + lane.duration[place]! + slack) return { lane: number, place };
  }
  return null;
}

/** What a piece is, in words. */
export function describe(data: TimelineData, lane: LaneData, place: number): string[] {
  const category = data.categories[lane.key[place]!] ?? "";
  const [start, length] = [lane.start[place]!, lane.duration[place]!];
  const when = `${duration(length)}, from ${duration(start)} on`;
  if (lane.count[place]! > 1) {
    const most = lane.side === "host" ? category : (data.operations[lane.key[place]!]?.[0] ?? "");
    return [`${lane.count[place]!.toLocaleString("en")} pieces, mostly ${most}`,
      `${Math.round(100 * lane.cover[place]!)} % of ${when}. Zoom in to see each.`];
  }
  const [operation, name] = data.labels[lane.label[place]!] ?? [-1, ""];
  const [path, direction] = data.operations[operation] ?? ["", null];
  return [`${path}${direction ? ` (${direction})` : ""}`, ...(name ? [name] : []),
    lane.side === "host" ? `${category}, ${when}` : when];
}
