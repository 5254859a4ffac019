import type { Page } from "../App";
import { bytes } from "../format";
import { isCorrected } from "../model";
import type { Report } from "../report";
import type { Listing, Recording } from "../source";
import { GROUPS, VIEWS, type View } from "../state";

const VIEW_NAMES: Record<View, string> = {
  overview: "Overview", operations: "Operations", timeline: "Timeline", programs: "Programs", overhead: "Overhead",
};
const GROUP_NAMES: Record<string, string> = {
  auto: "best known", operation: "operation", scope: "named scope", function: "function",
};

interface Props {
  page: Page;
  chosen: Recording;
  listing: Listing;
  report: Report | null;
  viewer: string | null;
}

export function Toolbar({ page, chosen, listing, report, viewer }: Props) {
  const { state, change, source } = page;
  const can = report !== null && isCorrected(report);
  const asCorrected = can && state.corrected;
  return (
    <header class="toolbar">
      <nav aria-label="Views">
        {VIEWS.map((view) => (
          <button
            type="button" key={view} aria-current={view === state.view ? "page" : undefined}
            onClick={() => change({ view })}
          >
            {VIEW_NAMES[view]}
          </button>
        ))}
      </nav>
      <div class="choices">
        <label>
          <span>Recording</span>
          {source.embedded ? (
            <span class="fixed">{chosen.name}</span>
          ) : (
            <select
              value={`${chosen.run}\n${chosen.name}`}
              onChange={(event) => {
                const [run, name] = event.currentTarget.value.split("\n");
                change({ run: run!, name: name!, operation: null, begin: null, end: null });
              }}
            >
              {listing.recordings.map((one) => (
                <option key={`${one.run}|${one.name}`} value={`${one.run}\n${one.name}`}>
                  {title(one)}
                </option>
              ))}
            </select>
          )}
        </label>
        {!source.embedded && (
          <label>
            <span>Names from</span>
            <select value={state.group} onChange={(event) => change({ group: event.currentTarget.value, operation: null })}>
              {GROUPS.map((group) => <option key={group} value={group}>{GROUP_NAMES[group]}</option>)}
            </select>
          </label>
        )}
        <div
          class="switch" role="group" aria-label="Figures"
          title={can ? "What profiling itself cost is subtracted, or not" : "This report has no corrected figures"}
        >
          <button type="button" aria-pressed={!asCorrected} onClick={() => change({ corrected: false })}>Raw</button>
          <button type="button" aria-pressed={asCorrected} disabled={!can} onClick={() => change({ corrected: true })}>
            Corrected
          </button>
        </div>
        {viewer && <a class="action" href={viewer} target="_top">Trace viewer</a>}
      </div>
    </header>
  );
}

function title(one: Recording): string {
  const where = one.run === "." ? "" : `${one.run} · `;
  const windows = one.windows > 1 ? `${one.windows} windows, ` : "";
  return `${where}${one.name} (${windows}${bytes(one.bytes)})`;
}
