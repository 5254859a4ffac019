import type { Page } from "../App";
import { bytes } from "../format";
import { isCorrected } from "../model";
import type { Report } from "../report";
import type { Listing, Recording } from "../source";
import { GROUPS } from "../state";
import type { View } from "../views/registry";

const GROUP_NAMES: Record<string, string> = {
  auto: "best known", operation: "operation", scope: "named scope", function: "function",
};

interface Props {
  page: Page;
  views: View[];
  view: View;
  chosen: Recording | null;
  listing: Listing;
  report: Report | null;
  viewer: string | null;
}

export function Toolbar({ page, views, view, chosen, listing, report, viewer }: Props) {
  return (
    <header class="toolbar">
      <nav aria-label="Views">
        {views.map(({ key, title }) => (
          <button
            type="button" key={key} aria-current={key === view.key ? "page" : undefined}
            onClick={() => page.change({ view: key })}
          >
            {title}
          </button>
        ))}
      </nav>
      <div class="choices">
        {chosen && <Recordings page={page} chosen={chosen} listing={listing} />}
        {view.of === "recording" && <Figures page={page} report={report} />}
        {viewer && <a class="action" href={viewer} target="_top">Trace viewer</a>}
      </div>
    </header>
  );
}

function Recordings({ page, chosen, listing }: { page: Page; chosen: Recording; listing: Listing }) {
  return (
    <label>
      <span>Recording</span>
      {page.source.embedded ? (
        <span class="fixed">{chosen.name}</span>
      ) : (
        <select
          value={listing.recordings.indexOf(chosen)} title={`${title(chosen)} (${bytes(chosen.bytes)})`}
          onChange={(event) => {
            const { run, name } = listing.recordings[Number(event.currentTarget.value)]!;
            page.change({ run, name, operation: null, window: 0, begin: null, end: null, tuning: null, task: null });
          }}
        >
          {listing.recordings.map((one, number) => (
            <option key={`${one.run}|${one.name}`} value={number}>{title(one)}</option>
          ))}
        </select>
      )}
    </label>
  );
}

/** Which figures of a recording are shown. */
function Figures({ page, report }: { page: Page; report: Report | null }) {
  const { source, state, change } = page;
  const can = report !== null && isCorrected(report);
  const asCorrected = can && state.corrected;
  return (
    <>
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
    </>
  );
}

/** A run's windows together go by the first of them: the run's own name is a long number. */
export function title(one: Recording): string {
  const where = one.run === "." ? "" : `${one.run} · `;
  const windows = one.sessions.length;
  return windows > 1 ? `${where}all ${windows} windows, ${one.sessions[0]}` : `${where}${one.name}`;
}
