// The views of the page, in the order of its buttons. A new one: a component here, and a line.

import type { ComponentType } from "preact";
import type { Page } from "../App";
import type { Report } from "../report";
import type { Asked, Listing } from "../source";
import { Operations } from "./Operations";
import { Overhead } from "./Overhead";
import { Overview } from "./Overview";
import { Programs } from "./Programs";
import { Timeline } from "./Timeline";
import { Tuning, type TuningProps } from "./Tuning";

/** What every view of a recording is given. */
export interface ViewProps {
  page: Page;
  report: Report;
  asked: Asked;
}

interface Named {
  /** Its name in the address. */
  key: string;
  title: string;
}

export interface RecordingView extends Named {
  of: "recording";
  Component: ComponentType<ViewProps>;
}

interface TuningView extends Named {
  of: "tuning";
  Component: ComponentType<TuningProps>;
}

export type View = RecordingView | TuningView;

export const VIEWS: View[] = [
  { key: "overview", title: "Overview", of: "recording", Component: Overview },
  { key: "operations", title: "Operations", of: "recording", Component: Operations },
  { key: "timeline", title: "Timeline", of: "recording", Component: Timeline },
  { key: "programs", title: "Programs", of: "recording", Component: Programs },
  { key: "overhead", title: "Overhead", of: "recording", Component: Overhead },
  { key: "tuning", title: "Tuning", of: "tuning", Component: Tuning },
];

/** The views that have something to show: of a file only what it holds; else Tuning says how to get there. */
export function viewsOf({ recordings, tunings }: Listing, embedded: boolean): View[] {
  return VIEWS.filter((view) => (view.of === "recording" ? recordings.length > 0 : tunings.length > 0 || !embedded));
}

/** The view of a key; the first one for a key that is none. */
export function viewOf(key: string, views: View[] = VIEWS): View {
  return views.find((view) => view.key === key) ?? views[0]!;
}
