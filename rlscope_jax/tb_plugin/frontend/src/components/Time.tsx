import { cell, range, type Unit } from "../format";
import { intervalOf, isResolved } from "../model";
import type { Figure } from "../report";

interface Props {
  value: number;
  /** What it is the sum of. */
  figures: Figure[];
  corrected: boolean;
  unit: Unit;
}

/** A time in a table; its interval when pointed at, and "?" where that is wider than the time itself. */
export function Time({ value, figures, corrected, unit }: Props) {
  const interval = intervalOf(figures, corrected);
  const resolved = isResolved(value, interval);
  return (
    <span title={interval ? `${range(interval)}${resolved ? "" : ": not resolved"}` : undefined}>
      {resolved ? cell(value, unit) : "?"}
    </span>
  );
}
