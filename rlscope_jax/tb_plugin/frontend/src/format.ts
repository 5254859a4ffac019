// Times and counts in words.

const UNITS: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

export interface Unit {
  scale: number;
  name: string;
}

/** The unit in which a time and its parts read well. */
export function unitOf(ns: number): Unit {
  const [scale, name] = UNITS.find(([scale]) => Math.abs(ns) >= 10 * scale) ?? (ns === 0 ? UNITS[1]! : UNITS[3]!);
  return { scale, name };
}

/** A time with its unit: "12.3 ms"; three digits tell enough. */
export function duration(ns: number | null): string {
  if (ns === null) return "not known";
  if (ns === 0) return "0";
  const [scale, name] = UNITS.find(([scale]) => Math.abs(ns) >= scale) ?? UNITS[3]!;
  return `${digits(ns / scale)} ${name}`;
}

/** An interval of times in one unit: "177 to 202 ms". */
export function range([low, high]: [number, number]): string {
  const [scale, name] = UNITS.find(([scale]) => Math.abs(high) >= scale) ?? UNITS[3]!;
  return `${digits(low / scale)} to ${digits(high / scale)} ${name}`;
}

/** A time in a table's unit: a dot for nothing, a dash for what is not known. */
export function cell(ns: number | null, unit: Unit): string {
  if (ns === null) return "–";
  if (ns === 0) return "·";
  const value = ns / unit.scale;
  return Math.abs(value) < 0.005 ? "<0.01" : grouped(value, 2);
}

export function percent(part: number | null, whole: number | null): string {
  if (part === null || !whole) return "–";
  const share = (100 * part) / whole;
  return share > 0 && share < 0.05 ? "<0.1 %" : `${share.toFixed(1)} %`;
}

export function count(number: number | null | undefined): string {
  if (number === null || number === undefined) return "–";
  return number === 0 ? "·" : grouped(number, 0);
}

export function bytes(number: number): string {
  if (number >= 1e9) return `${digits(number / 1e9)} GB`;
  if (number >= 1e6) return `${digits(number / 1e6)} MB`;
  return `${digits(Math.max(number / 1e3, 0.1))} kB`;
}

/** A ratio: "2.41 ×". */
export function multiple(ratio: number): string {
  return `${digits(ratio)} ×`;
}

function digits(value: number): string {
  const size = Math.abs(value);
  return grouped(value, size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

function grouped(value: number, decimals: number): string {
  return value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

export function plural(number: number, word: string): string {
  return `${number.toLocaleString("en")} ${word}${number === 1 ? "" : word.endsWith("h") ? "es" : "s"}`;
}

/** A path of at most `room` characters: its ends tell operations apart, so names in the middle go first. */
export function shortPath(path: string, room: number): string {
  if (path.length <= room) return path;
  const names = path.split("/");
  const [first, last] = [names[0]!, names.at(-1)!];
  for (let kept = names.length - 2; kept >= 1; kept--) {
    const shown = [first, "…", ...names.slice(-kept)].join("/");
    if (shown.length <= room) return shown;
  }
  return names.length > 1 && last.length + 2 <= room ? `…/${last}` : `${path.slice(0, room - 12)}…${path.slice(-11)}`;
}
