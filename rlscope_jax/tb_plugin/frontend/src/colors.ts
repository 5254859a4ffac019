// Colours: the cells of the partition, and operations by their place in the tree.

export const CELL_NAMES: Record<string, string> = {
  device_only: "device only",
  overlap: "device and host",
  python: "Python",
  dispatch: "dispatch",
  inline: "inline op",
  compile: "compile",
  transfer: "transfer",
  callback: "callback",
  wait: "wait",
  wait_inferred: "wait (inferred)",
  runtime: "runtime",
  idle: "idle",
};

/** Cells in which nothing works: pale, and drawn with an edge that can be seen. */
export const PALE: ReadonlySet<string> = new Set(["wait", "wait_inferred", "idle"]);

/** Cells in the order they are stacked, each once. */
export function inOrder(keys: Iterable<string>): string[] {
  const known = Object.keys(CELL_NAMES);
  const place = (key: string) => (known.includes(key) ? known.indexOf(key) : known.length);
  return [...new Set(keys)].sort((a, b) => place(a) - place(b));
}

const LIGHT: Record<string, string> = {
  device_only: "#2f6fd0",
  overlap: "#1f9e9a",
  python: "#f0b323",
  dispatch: "#ec7a33",
  inline: "#7fa7e0",
  compile: "#c2336f",
  transfer: "#8d5cc0",
  callback: "#d33f3f",
  wait: "#b7c1cc",
  wait_inferred: "#d3dae1",
  runtime: "#9a8571",
  idle: "#dfe3e8",
};

const DARK: Record<string, string> = {
  ...LIGHT,
  device_only: "#5b95ea",
  overlap: "#36b8b0",
  python: "#e8b545",
  dispatch: "#f0894a",
  inline: "#456a9e",
  compile: "#dd5f92",
  transfer: "#a884d8",
  callback: "#e46666",
  wait: "#616b78",
  wait_inferred: "#4d5662",
  runtime: "#ab9681",
  idle: "#444c57",
};

export function cellColor(key: string, dark: boolean): string {
  return (dark ? DARK : LIGHT)[key] ?? (dark ? "#8a8f98" : "#8a8f98");
}

const SERIES_LIGHT = ["#2f6fd0", "#d9661f", "#1a8f8b", "#8d5cc0", "#c2336f", "#a07a00", "#5c6b7a", "#4d8f3a"];
const SERIES_DARK = ["#5b95ea", "#f0894a", "#36b8b0", "#a884d8", "#dd5f92", "#d9ad3c", "#8d9bab", "#7fbf6a"];

/** The colour of the n-th of some lines or parts that have no order. */
export function seriesColor(number: number, dark: boolean): string {
  const colors = dark ? SERIES_DARK : SERIES_LIGHT;
  return colors[number % colors.length]!;
}

const HUES = [214, 28, 150, 330, 265, 48, 184, 8, 100, 295];

/** A colour for each operation: a hue for the first name of its path, a shade for the rest. */
export class OperationColors {
  private readonly hues = new Map<string, number>();

  constructor(paths: Iterable<string>) {
    for (const path of paths) this.hueOf(path);
  }

  private hueOf(path: string): number {
    const root = path.split("/", 1)[0]!;
    let hue = this.hues.get(root);
    if (hue === undefined) {
      hue = HUES[this.hues.size % HUES.length]!;
      if (!root.startsWith("(")) this.hues.set(root, hue);
    }
    return hue;
  }

  of(path: string, direction: string | null, dark: boolean): string {
    if (path === "(idle)") return cellColor("idle", dark);
    if (path.startsWith("(")) return dark ? "hsl(215 6% 42%)" : "hsl(215 8% 74%)";
    const inner = path.slice(path.indexOf("/") + 1);
    let shade = 0;
    if (inner !== path) for (const letter of inner) shade = (shade * 31 + letter.charCodeAt(0)) % 997;
    const step = (shade % 5) * 4.5;
    const saturation = (direction === "backward" ? 38 : 58) - (dark ? 14 : 0);
    return `hsl(${this.hueOf(path)} ${saturation}% ${(dark ? 40 : 62) + step}%)`;
  }
}

/** Black or white, whichever is read better on a colour (`#rrggbb` or `hsl(h s% l%)`); WCAG's contrast. */
export function textOn(color: string): string {
  const [red, green, blue] = channels(color).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  const luminance = 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
  return luminance > 0.179 ? "#000000" : "#ffffff";
}

function channels(color: string): number[] {
  if (color.startsWith("#")) return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16) / 255);
  const [hue, saturation, light] = color.match(/[\d.]+/g)!.map(Number) as [number, number, number];
  const spread = (saturation / 100) * Math.min(light / 100, 1 - light / 100);
  return [0, 8, 4].map((offset) => {
    const turn = (offset + hue / 30) % 12;
    return light / 100 - spread * Math.max(-1, Math.min(turn - 3, 9 - turn, 1));
  });
}
