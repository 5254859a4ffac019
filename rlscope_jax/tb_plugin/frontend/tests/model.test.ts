import { expect, test } from "vitest";
import { bars, choose, flat, intervalOf, isCorrected, isResolved, rowsUnder, segments, tree, wallFigures } from "../src/model";
import { visible } from "../src/views/Operations";
import { figure, operation, report } from "./report";

const made = report([
  operation("update", { deviceOnly: 10, device: 10 }),
  operation("update/loss", { deviceOnly: 30, device: 40, direction: "forward" }),
  operation("update/loss", { deviceOnly: 20, device: 20, direction: "backward" }),
  operation("rollout/env_step", { overlap: 5, python: 15 }),
  operation("(idle)", { idle: 20 }),
]);

test("a tree adds up children and directions, heaviest first and specials last", () => {
  const roots = tree(made, false);
  expect(roots.map((node) => node.path)).toEqual(["update", "rollout", "(idle)"]);
  const [update, rollout] = roots;
  expect(update).toMatchObject({ wall: 10, wallTotal: 60, device: 10, deviceTotal: 70 });
  expect(rollout).toMatchObject({ wall: 0, wallTotal: 20, hostOnly: 0, hostOnlyTotal: 15 });
  const loss = update!.children[0]!;
  expect([...loss.directions]).toEqual([["forward", 40], ["backward", 20]]);
  expect([...loss.evidence]).toEqual([["mark", 45], ["split", 15]]);
});

test("a special operation's name is not cut at its slashes", () => {
  expect(tree(report([operation("(a/b)", { idle: 1 })]), false).map((node) => node.path)).toEqual(["(a/b)"]);
});

test("operations of one name in two processes stay apart", () => {
  const two = report([operation("a", { deviceOnly: 1 }), operation("a", { deviceOnly: 2, process: 1 })], ["x", "y"]);
  expect(tree(two, false).map((node) => [node.process, node.wall])).toEqual([[0, 1], [1, 2]]);
  expect(bars(two, false, 9).map((bar) => bar.label)).toEqual(["a · y", "a · x"]);
});

test("the bars sum to the window, whatever is put together", () => {
  for (const most of [0, 1, 2, 9]) {
    const whole = bars(made, false, most).reduce((sum, bar) => sum + bar.wall, 0);
    expect(whole).toBe(100);
  }
  expect(bars(made, false, 1).map((bar) => bar.label)).toEqual(["update/loss", "2 more operations", "(idle)"]);
});

test("segments are the cells of the partition, without the empty ones", () => {
  expect(segments([made.operations[3]!], false)).toEqual([{ key: "overlap", value: 5 }, { key: "python", value: 15 }]);
});

test("a figure without a correction stays as recorded", () => {
  expect(choose(figure(8), true)).toEqual({ value: 8, interval: null });
  expect(choose(figure(8, 5), true)).toEqual({ value: 5, interval: [4, 6] });
  expect(choose(figure(8, 5), false)).toEqual({ value: 8, interval: null });
  expect(choose(figure(null), true).value).toBeNull();
});

test("the interval of a sum holds what is not corrected as it is", () => {
  const one = operation("a", { deviceOnly: 10, corrected: 8, python: 3 });
  expect(intervalOf(wallFigures([one]), true)).toEqual([10, 12]);
  expect(intervalOf(wallFigures([one]), false)).toBeNull();
  expect(intervalOf(wallFigures([operation("a", { deviceOnly: 10 })]), true)).toBeNull();
});

test("rows sort within their parents, filter by name with what stands above, and close", () => {
  const roots = tree(made, false);
  const paths = (sort: string, filter = "", closed: string[] = []) =>
    visible(roots, sort, filter, new Set(closed)).map((node) => node.path);
  expect(paths("wallTotal")).toEqual(["update", "update/loss", "rollout", "rollout/env_step", "(idle)"]);
  expect(paths("hostOnly")).toEqual(["rollout", "rollout/env_step", "update", "update/loss", "(idle)"]);
  expect(paths("name")).toEqual(["rollout", "rollout/env_step", "update", "update/loss", "(idle)"]);
  expect(paths("wallTotal", "ENV")).toEqual(["rollout", "rollout/env_step"]);
  expect(paths("wallTotal", "", ["0|update"])).toEqual(["update", "rollout", "rollout/env_step", "(idle)"]);
  expect(flat(roots)).toHaveLength(5);
});

test("a report whose correction was refused counts as recorded, whatever its figures hold", () => {
  const one = report([]);
  one.totals.wall = { raw: 10, corrected: 8, interval: [7, 9] };
  expect(isCorrected(one)).toBe(false);
  one.overhead.correction = "anchored";
  expect(isCorrected(one)).toBe(true);
});

test("what is less sure than it is long is not resolved", () => {
  expect(isResolved(5, null)).toBe(true);
  expect(isResolved(5, [0, 10])).toBe(true);
  expect(isResolved(5, [0, 10.5])).toBe(false);
  expect(isResolved(0, [0, 0])).toBe(true);
});

test("the rows under a node are its own and those of all that is nested in it", () => {
  const [update] = tree(made, false);
  expect(rowsUnder(update!).map((row) => [row.path, row.direction])).toEqual([
    ["update", null], ["update/loss", "forward"], ["update/loss", "backward"],
  ]);
});
