import { expect, test } from "vitest";
import { cellColor, OperationColors, textOn } from "../src/colors";
import { bytes, cell, count, duration, percent, plural, range, shortPath, unitOf } from "../src/format";
import { File, type TimelineData } from "../src/source";
import { FIRST, parse, serialize } from "../src/state";
import { title } from "../src/components/Toolbar";
import { VIEWS, viewOf } from "../src/views/registry";
import { laneNames } from "../src/views/Timeline";
import { layout, niceStep, pieceAt } from "../src/timeline/paint";
import { clamp, pan, zoom } from "../src/timeline/stretch";
import { report } from "./report";

test("a state comes back from the address as it was", () => {
  const state = {
    ...FIRST, run: "a b/ü&x=1", name: "2026", view: "timeline" as const, corrected: false, operation: "0|update/loss",
    filter: "<script>", window: 2, begin: 5, end: 12,
  };
  expect(parse(`#rlscope&${serialize(state)}`)).toEqual(state);
  expect(serialize(FIRST)).toBe("");
});

test("an address that was not ours gives the first view", () => {
  expect(parse("#scalars&x=1")).toEqual(FIRST);
  expect(parse("#rlscope&p.rlscope.begin=abc&p.rlscope.window=-3")).toEqual(FIRST);
  expect(viewOf("nonsense").key).toBe(FIRST.view);
});

test("times read well", () => {
  expect(duration(0)).toBe("0");
  expect(duration(1_234)).toBe("1.23 µs");
  expect(duration(312_819_229)).toBe("313 ms");
  expect(duration(null)).toBe("not known");
  expect(cell(1_500_000, { scale: 1e6, name: "ms" })).toBe("1.50");
  expect(cell(0, { scale: 1e6, name: "ms" })).toBe("·");
  expect(cell(10, { scale: 1e6, name: "ms" })).toBe("<0.01");
  expect(cell(null, { scale: 1e6, name: "ms" })).toBe("–");
  expect(unitOf(312_819_229).name).toBe("ms");
  expect(range([176_600_000, 202_000_000])).toBe("177 to 202 ms");
  expect(range([900_000, 1_100_000])).toBe("0.90 to 1.10 ms");
  expect(percent(1, 3)).toBe("33.3 %");
  expect(percent(1, 1e9)).toBe("<0.1 %");
  expect(percent(1, 0)).toBe("–");
  expect(count(1234567)).toBe("1,234,567");
  expect(bytes(114_338_203)).toBe("114 MB");
});

test("a path too long loses its middle first", () => {
  expect(shortPath("a/b", 10)).toBe("a/b");
  expect(shortPath("train/aaaa/bbbb/cccc/loss", 20)).toBe("train/…/cccc/loss");
  expect(shortPath("train/aaaa/bbbb/cccc/loss", 12)).toBe("train/…/loss");
  expect(shortPath("averyveryveryverylongname", 20)).toHaveLength(20);
});

test("a stretch stays within the window and keeps what is zoomed at", () => {
  expect(clamp({ begin: -50, end: 50 }, 1000)).toEqual({ begin: 0, end: 100 });
  expect(clamp({ begin: 950, end: 1150 }, 1000)).toEqual({ begin: 800, end: 1000 });
  expect(clamp({ begin: 0, end: 9e9 }, 1000)).toEqual({ begin: 0, end: 1000 });
  expect(clamp({ begin: 500, end: 500 }, 1000)).toEqual({ begin: 500, end: 600 });
  expect(zoom({ begin: 0, end: 100 }, 0.5, 0.2)).toEqual({ begin: 10, end: 60 });
  expect(pan({ begin: 0, end: 100 }, 0.2)).toEqual({ begin: 20, end: 120 });
});

test("the ruler's steps are round", () => {
  expect([0.9, 1, 3, 70, 180].map(niceStep)).toEqual([1, 1, 5, 100, 200]);
});

const lanes: TimelineData = {
  begin: 0, end: 100, wall: 100, window: 0, windows: [[null, 100]], compiles: [], operations: [["update/loss", null], ["rollout", null]], categories: ["python"],
  labels: { 0: [0, "dot.1"], 1: [1, "fusion"] }, steps: [],
  lanes: [
    { process: 0, side: "device", name: "d", pieces: 3, start: [0, 20, 60], duration: [10, 10, 5], key: [0, 1, 0],
      label: [0, 1, 0], count: [1, 1, 1], cover: [1, 1, 1] },
  ],
};

test("lanes go by short names that differ", () => {
  const lane = (process: number, name: string, side: "host" | "device" = "host") => ({ ...lanes.lanes[0]!, process, side, name });
  const device = "vm/cpu:0 · tf_XLAEigen/973277815374749532";
  expect(laneNames([lane(0, "python"), lane(0, device, "device"), lane(0, device, "device")]))
    .toEqual(["python thread", "cpu:0 Eigen", "cpu:0 Eigen 2"]);
  expect(laneNames([lane(0, "python"), lane(1, "python")])).toEqual(["0: python thread", "1: python thread"]);
});

test("few lanes are high, many are no higher than they must be", () => {
  const many = { ...lanes, lanes: Array.from({ length: 50 }, () => lanes.lanes[0]!) };
  const numbers = many.lanes.map((_, number) => number);
  expect(layout(lanes, [0]).heights).toEqual([60]);
  expect(new Set(layout(many, numbers).heights)).toEqual(new Set([30]));
  expect(layout(lanes, []).heights).toEqual([]);
});

test("a point finds the piece under it", () => {
  const top = layout(lanes, [0]).tops[0]!;
  expect(pieceAt(lanes, [0], 25, top + 3, 0)).toEqual({ lane: 0, place: 1 });
  expect(pieceAt(lanes, [0], 40, top + 3, 0)).toBeNull();
  expect(pieceAt(lanes, [0], 25, 0, 0)).toBeNull();
});

test("a search in a file goes on from where it is, and begins again", async () => {
  const source = new File({ report: report([]), ops: {}, timelines: [lanes] });
  const asked = { run: "", name: "", group: "auto" };
  expect(await source.find(asked, 0, "LOSS", 0)).toMatchObject({ start: 60, end: 65 });
  expect(await source.find(asked, 0, "loss", 60)).toMatchObject({ start: 0 });
  expect(await source.find(asked, 0, "fusion", 0)).toMatchObject({ start: 20 });
  expect(await source.find(asked, 0, "none", 0)).toBeNull();
});

test("an operation keeps its root's hue, and no name is taken for a style", () => {
  const colors = new OperationColors(["update", "rollout"]);
  expect(colors.of("update/loss", null, false).split(" ")[0]).toBe(colors.of("update", null, false).split(" ")[0]);
  expect(colors.of("red; background: url(x)", null, false)).toMatch(/^hsl\(\d+ \d+% [\d.]+%\)$/);
});

test("text on a colour can be read", () => {
  expect(textOn("#ffffff")).toBe("#000000");
  expect(textOn("hsl(265 44% 40%)")).toBe("#ffffff");
  expect(textOn("hsl(48 58% 62%)")).toBe("#000000");
  expect(textOn(cellColor("idle", true))).toBe("#ffffff");
});

test("each view has its own name", () => {
  expect(new Set(VIEWS.map((view) => view.key)).size).toBe(VIEWS.length);
  expect(VIEWS.map((view) => viewOf(view.key))).toEqual(VIEWS);
});

test("a run of several windows goes by its first one, not by its number", () => {
  const one = { run: "a", name: "2026_1", sessions: ["2026_1"], files: 1, bytes: 2e6, changed: 0 };
  expect(title(one)).toBe("a · 2026_1");
  expect(title({ ...one, run: ".", name: "10791-17960", sessions: ["2026_1", "2026_2"] }))
    .toBe("all 2 windows, 2026_1");
});

test("a word of several things is a plural", () => {
  expect([plural(1, "compile"), plural(2, "dispatch"), plural(1000, "device op")])
    .toEqual(["1 compile", "2 dispatches", "1,000 device ops"]);
});
