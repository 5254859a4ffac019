import type { Page } from "../App";
import { bytes } from "../format";
import { isCorrected } from "../model";
import type { Report } from "../report";
import type { Listing, Recording } from "../source";
import { GROUPS } from "../state";
import { VIEWS, viewOf } from "../views/registry";

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
        {VIEWS.map(({ key, title }) => (
          <button
            type="button" key={key} aria-current={key === viewOf(state.view).key ? "page" : undefined}
            onClick={() => change({ view: key })}
          >
            {title}
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
              value={listing.recordings.indexOf(chosen)} title={`${title(chosen)} (${bytes(chosen.bytes)})`}
              onChange={(event) => {
                const { run, name } = listing.recordings[Number(event.currentTarget.value)]!;
                change({ run, name, operation: null, window: 0, begin: null, end: null });
              }}
            >
              {listing.recordings.map((one, number) => (
                <option key={`${one.run}|${one.name}`} value={number}>{title(one)}</option>
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

/** A run's windows together go by the first of them: the run's own name is a long number. */
export function title(one: Recording): string {
  const where = one.run === "." ? "" : `${one.run} · `;
  const windows = one.sessions.length;
  return windows > 1 ? `${where}all ${windows} windows, ${one.sessions[0]}` : `${where}${one.name}`;
}
