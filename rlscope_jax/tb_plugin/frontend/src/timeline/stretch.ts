// The stretch of time shown: moved and zoomed, always within the window.

import type { Stretch } from "./paint";

const LEAST = 100; // ns: closer there is nothing to see

export function clamp(stretch: Stretch, wall: number): Stretch {
  const span = Math.min(Math.max(stretch.end - stretch.begin, Math.min(LEAST, wall)), wall);
  const begin = Math.min(Math.max(stretch.begin, 0), wall - span);
  return { begin, end: begin + span };
}

/** Factor below 1 zooms in; `anchor` (0 to 1) is the place that stays where it is. */
export function zoom(stretch: Stretch, factor: number, anchor: number): Stretch {
  const span = stretch.end - stretch.begin;
  const fixed = stretch.begin + anchor * span;
  return { begin: fixed - anchor * span * factor, end: fixed + (1 - anchor) * span * factor };
}

/** Move by a part of what is shown. */
export function pan(stretch: Stretch, part: number): Stretch {
  const by = part * (stretch.end - stretch.begin);
  return { begin: stretch.begin + by, end: stretch.end + by };
}
