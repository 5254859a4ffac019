// The views of the page, in the order of its buttons. A new one: a component here, and a line.

import type { ComponentType } from "preact";
import type { Page } from "../App";
import type { Report } from "../report";
import type { Asked } from "../source";
import { Operations } from "./Operations";
import { Overhead } from "./Overhead";
import { Overview } from "./Overview";
import { Programs } from "./Programs";
import { Timeline } from "./Timeline";

/** What every view is given. */
export interface ViewProps {
  page: Page;
  report: Report;
  asked: Asked;
}

interface View {
  /** Its name in the address. */
  key: string;
  title: string;
  Component: ComponentType<ViewProps>;
}

export const VIEWS: View[] = [
  { key: "overview", title: "Overview", Component: Overview },
  { key: "operations", title: "Operations", Component: Operations },
  { key: "timeline", title: "Timeline", Component: Timeline },
  { key: "programs", title: "Programs", Component: Programs },
  { key: "overhead", title: "Overhead", Component: Overhead },
];

/** The view of a key; the first one for a key that is none. */
export function viewOf(key: string): View {
  return VIEWS.find((view) => view.key === key) ?? VIEWS[0]!;
}
