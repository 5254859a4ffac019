import { CELL_NAMES, cellColor, PALE } from "../colors";
import { duration, percent, range } from "../format";
import type { Segment } from "../model";

interface Props {
  segments: Segment[];
  /** What the full width stands for, ns. */
  scale: number;
  dark: boolean;
  label: string;
  interval?: [number, number] | null;
}

/** One bar of stacked cells, with the interval of its whole as a whisker. */
export function StackedBar({ segments, scale, dark, label, interval }: Props) {
  const total = segments.reduce((sum, segment) => sum + segment.value, 0);
  const words = segments.map((one) => `${CELL_NAMES[one.key] ?? one.key} ${duration(one.value)}`).join(", ");
  const at = (ns: number) => `${Math.min((100 * ns) / scale, 100)}%`;
  return (
    <div class="stacked" role="img" aria-label={`${label}: ${words || "nothing"}`}>
      {segments.map((one) => (
        <span
          key={one.key} class={PALE.has(one.key) ? "pale" : ""} style={{ width: at(one.value), background: cellColor(one.key, dark) }}
          title={`${label}\n${CELL_NAMES[one.key] ?? one.key}: ${duration(one.value)} (${percent(one.value, total)})`}
        />
      ))}
      {interval && (
        <i
          class="whisker" style={{ left: at(interval[0]), width: at(interval[1] - interval[0]) }}
          title={range(interval)}
        />
      )}
    </div>
  );
}

export function Legend({ keys, dark }: { keys: string[]; dark: boolean }) {
  return (
    <ul class="legend">
      {keys.map((key) => (
        <li key={key}><i class={PALE.has(key) ? "pale" : ""} style={{ background: cellColor(key, dark) }} />{CELL_NAMES[key] ?? key}</li>
      ))}
    </ul>
  );
}
