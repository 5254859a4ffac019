// The searches of a tuning record as the server sends them (rlscope_jax.tuning/1), and what charts need of them.

export interface Choice {
  sketch: string;
  values: Record<string, string | number | boolean | null>;
}

/** A value with its interval. */
export type Interval = [value: number, low: number, high: number];

export interface Search {
  /** null: the record does not say. */
  algorithm: string | null;
  seed: number | null;
  trials: number;
  failed: number | null;
  /** Trial and seconds wherever a faster candidate was found. */
  best: [number, number][];
  /** The trial that each round ended with. */
  rounds: number[];
  arms: Record<string, number[]>;
  entropy: (number | null)[];
  whole: boolean;
}

/** Times are seconds. */
export interface TuningTask {
  name: string;
  task: string;
  device: string;
  jax: string;
  reference_seconds: number | null;
  weight: number | null;
  per: "step" | "window";
  trials: number;
  failed: number;
  failures: [string, number][];
  other_failures: number;
  best: (Choice & { seconds: number }) | null;
  decided: boolean;
  winner: Choice | null;
  /** The winner's time over the reference's. */
  against: Interval | null;
  saving: Interval | null;
  searches: Search[];
}

export interface Tuning {
  tasks: TuningTask[];
}

/** What tells a task from all others of a record. */
export function taskKey({ name, task, device, jax }: TuningTask): string {
  return [name, task, device, jax].join("|");
}

/** The algorithm; with its seed, or its number, where it searched more than once. */
export function searchNames(searches: Search[]): string[] {
  const algorithms = searches.map((one) => one.algorithm ?? "not noted");
  return algorithms.map((algorithm, number) => {
    if (algorithms.filter((other) => other === algorithm).length === 1) return algorithm;
    const { seed } = searches[number]!;
    const alike = searches.filter((one, other) => algorithms[other] === algorithm && one.seed === seed);
    const place = alike.indexOf(searches[number]!) + 1;
    const told = seed === null ? "" : `, seed ${seed}`;
    return `${algorithm}${told}${alike.length > 1 ? ` (${place})` : ""}`;
  });
}

/** Trial and best time so far: where it fell, and at some trials between, to be pointed at. */
export function bestLine({ best, trials }: Search, points = 400): [number, number][] {
  if (!best.length) return [];
  const every = Math.ceil(trials / points);
  const between = Array.from({ length: Math.floor(trials / every) }, (_, place) => (place + 1) * every);
  const at = [...new Set([...best.map(([trial]) => trial), ...between, trials])].sort((a, b) => a - b);
  return at.flatMap((trial): [number, number][] => {
    const found = best.findLast(([fell]) => fell <= trial);
    return found ? [[trial, found[1]]] : [];
  });
}

/** Of each round, the share of its trials that went to each sketch. */
export function armShares({ arms, rounds }: Search): Map<string, number[]> {
  const sizes = rounds.map((_, round) => Object.values(arms).reduce((sum, chosen) => sum + chosen[round]!, 0));
  return new Map(Object.entries(arms).map(([arm, chosen]) => [arm, chosen.map((count, round) => count / (sizes[round] || 1))]));
}

/** Reciprocal: how many times as fast, with its interval the right way around. */
export function timesAsFast([ratio, low, high]: Interval): Interval {
  return [1 / ratio, 1 / high, 1 / low];
}
