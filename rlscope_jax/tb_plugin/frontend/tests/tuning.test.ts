import { expect, test } from "vitest";
import { multiple } from "../src/format";
import { File } from "../src/source";
import { armShares, bestLine, searchNames, taskKey, timesAsFast, type Search, type TuningTask } from "../src/tuning";
import { viewOf, viewsOf } from "../src/views/registry";
import { report } from "./report";

const search: Search = {
  algorithm: "harl", seed: 0, trials: 20, failed: 1, best: [[2, 4e-3], [9, 2e-3]], rounds: [8, 16, 20],
  arms: { tiles: [6, 2, 4], lines: [2, 6, 0] }, entropy: [null, 2, 1], whole: true,
};

test("a search's line goes on to its last trial", () => {
  expect(bestLine(search, 2)).toEqual([[2, 4e-3], [9, 2e-3], [10, 2e-3], [20, 2e-3]]);
  expect(bestLine({ ...search, trials: 9 })).toEqual([2, 3, 4, 5, 6, 7, 8, 9].map((trial) => [trial, trial < 9 ? 4e-3 : 2e-3]));
  expect(bestLine({ ...search, trials: 1e15 }).length).toBeLessThan(410);
  expect(bestLine({ ...search, best: [] })).toEqual([]);
});

test("shares of a round sum to one", () => {
  const shares = armShares(search);
  expect(shares.get("tiles")).toEqual([0.75, 0.25, 1]);
  expect(shares.get("lines")).toEqual([0.25, 0.75, 0]);
  expect(armShares({ ...search, arms: {}, rounds: [] }).size).toBe(0);
  expect(armShares({ ...search, arms: { tiles: [0, 8, 4] } }).get("tiles")).toEqual([0, 1, 1]);
});

test("searches of one algorithm go by their seeds, and by number where these are the same", () => {
  const of = (algorithm: string | null, seed: number | null) => ({ ...search, algorithm, seed });
  expect(searchNames([of("random", 0), of("harl", 0)])).toEqual(["random", "harl"]);
  expect(searchNames([of("harl", 0), of("harl", 1), of("harl", 1)])).toEqual(["harl, seed 0", "harl, seed 1 (1)", "harl, seed 1 (2)"]);
  expect(searchNames([of(null, null)])).toEqual(["not noted"]);
});

test("a ratio of times turned around keeps its interval in order", () => {
  expect(timesAsFast([0.5, 0.4, 0.625])).toEqual([2, 1.6, 2.5]);
  expect(multiple(2.5)).toBe("2.50 ×");
});

const tuning = { tasks: [{ name: "conv", task: "00", device: "d", jax: "0" } as TuningTask] };

test("a task goes by all that tells it from others", () => {
  expect(taskKey(tuning.tasks[0]!)).toBe("conv|00|d|0");
});

test("a page has the views it has something for", async () => {
  const keys = async (source: File) => viewsOf(await source.recordings(), true).map((view) => view.key);
  expect(await keys(new File({ tuning, record: "r" }))).toEqual(["tuning"]);
  expect(await keys(new File({ report: report([]) }))).not.toContain("tuning");
  expect((await keys(new File({ report: report([]), tuning }))).at(-1)).toBe("tuning");
  const nothing = { ...(await new File({}).recordings()), recordings: [], tunings: [] };
  expect(viewOf("overview", viewsOf(nothing, false)).key).toBe("tuning");
});

test("a file that holds no searches refuses in words", async () => {
  await expect(new File({}).tuning()).rejects.toThrow("no searches");
  await expect(new File({ tuning }).report()).rejects.toThrow("no recording");
  expect(await new File({ tuning }).tuning()).toBe(tuning);
});
