import type { Page } from "../App";
import { inOrder } from "../colors";
import { Legend, StackedBar } from "../components/StackedBar";
import { bytes, duration, percent, plural, range, shortPath } from "../format";
import { bars, choose, intervalOf, isCorrected, isResolved, nodeKey, segments, wallFigures, type Chosen } from "../model";
import type { Finding, Report } from "../report";
import type { ViewProps } from "./registry";

const MOST_BARS = 14;

export function Overview({ page, report }: ViewProps) {
  const { corrected } = page.state;
  return (
    <div class="overview">
      <Health report={report} />
      <Summary report={report} corrected={corrected} />
      <Headline report={report} corrected={corrected} />
      <Bars page={page} report={report} />
      <Findings page={page} report={report} />
      <About report={report} />
    </div>
  );
}

function Health({ report }: { report: Report }) {
  const { verdict, problems } = report.health;
  if (!problems.length) {
    return <p class="sound"><b>Capture ok:</b> nothing is missing that these figures would need.</p>;
  }
  return (
    <section class={`health ${verdict}`} aria-label="Health of the capture">
      {problems.map((problem) => (
        <div key={problem.code}>
          <strong>{verdict === "ok" ? "note" : verdict}: {problem.message}</strong>
          <p>{problem.hint} <code>{problem.code}</code></p>
        </div>
      ))}
    </section>
  );
}

/** The one thing to know, in words. */
function Summary({ report, corrected }: { report: Report; corrected: boolean }) {
  const { totals } = report;
  const wall = choose(totals.wall, corrected).value;
  const share = (name: keyof Report["totals"]) => percent(choose(totals[name], corrected).value, wall);
  const [first, second] = bars(report, corrected, 2).filter((bar) => bar.path && !bar.path.startsWith("("));
  if (!wall || !first) return null;
  return (
    <p class="summary">
      The heaviest operation is <strong>{shortPath(first.label, 60)}</strong> ({percent(first.wall, wall)})
      {second && <>, then <strong>{shortPath(second.label, 60)}</strong> ({percent(second.wall, wall)})</>}. A device was busy
      for {share("device_busy")} of the time; for {share("host_only")} only the host worked, and for {share("idle")} nothing did.
    </p>
  );
}

function Headline({ report, corrected }: { report: Report; corrected: boolean }) {
  const { totals, window, steps, overhead } = report;
  const wall = choose(totals.wall, corrected);
  const share = (name: keyof Report["totals"]) => {
    const part = choose(totals[name], corrected);
    return <Tile title={TITLES[name]![0]} help={TITLES[name]![1]} id={name} main={percent(part.value, wall.value)} chosen={part} />;
  };
  const median = steps.wall && choose(steps.wall.median, corrected);
  const removed = overhead.removed;
  return (
    <section class="tiles" aria-label="Headline figures">
      <Tile
        title={(window.windows ?? 1) > 1 ? `${window.windows} windows` : "window"} id="wall" main={duration(wall.value)} chosen={wall}
        detail={median ? `${plural(window.steps, "step")} of ${duration(median.value)}` : "no steps marked"}
      />
      {share("device_busy")}
      {share("host_only")}
      {share("overlap")}
      {share("idle")}
      <Tile
        title="inflation" id="inflation"
        main={overhead.inflation === null ? "not measured" : `${overhead.inflation.toFixed(2)} ×`}
        detail={
          overhead.inflation === null
            ? "figures are as recorded"
            : removed && isCorrected(report) ? `${duration(removed.ns)} of overhead found` : "profiled ÷ unprofiled"
        }
      />
    </section>
  );
}

const TITLES: Partial<Record<keyof Report["totals"], [string, string]>> = {
  device_busy: ["device busy", "at least one ran an op"],
  host_only: ["host-bound", "devices waited for the host"],
  overlap: ["device and host", "part of “device busy”"],
  idle: ["idle", "nothing worked"],
};

function Tile(props: { title: string; help?: string; id: string; main: string; chosen?: Chosen; detail?: string }) {
  const { title, help, id, main, chosen, detail } = props;
  const interval = chosen?.interval;
  return (
    <div class="tile" data-figure={id} data-ns={chosen?.value ?? undefined}>
      <span class="title">{title}</span>
      <span class="main">{main}</span>
      <span class="detail">
        {detail ?? (chosen && duration(chosen.value))}
      </span>
      {interval && <span class="detail">{range(interval)}</span>}
      {help && <span class="detail">{help}</span>}
    </div>
  );
}

function Bars({ page, report }: { page: Page; report: Report }) {
  const { corrected } = page.state;
  const found = bars(report, corrected, MOST_BARS).map((bar) => ({
    ...bar,
    cells: segments(bar.operations, corrected),
    interval: intervalOf(wallFigures(bar.operations), corrected),
  }));
  const widest = Math.max(1, ...found.map((bar) => Math.max(bar.wall, bar.interval?.[1] ?? 0)));
  const whole = found.reduce((total, bar) => total + bar.wall, 0);
  const keys = inOrder(found.flatMap((bar) => bar.cells.map((cell) => cell.key)));
  return (
    <section aria-labelledby="bars-title">
      <h2 id="bars-title">Where the time went</h2>
      <p class="note">
        Each instant belongs to one operation, so the bars sum to the window. An operation's bar is its own time, without
        the operations nested in it.
      </p>
      {!found.length && <p>Nothing was recorded.</p>}
      <Legend keys={keys} dark={page.dark} />
      <table class="bars">
        <thead class="hidden">
          <tr><th scope="col">operation</th><th scope="col">resources</th><th scope="col">time</th><th scope="col">share</th></tr>
        </thead>
        <tbody>
          {found.map((bar) => (
            <tr key={`${bar.process}|${bar.label}`} data-path={bar.path ?? undefined} data-ns={bar.wall}>
              <th scope="row">
                {bar.path === null ? bar.label : (
                  <button
                    type="button" class="link" title={bar.label}
                    onClick={() => page.change({ view: "operations", operation: nodeKey(bar.process, bar.path!) })}
                  >
                    <PathName path={bar.label} />
                  </button>
                )}
              </th>
              <td class="wide">
                <StackedBar
                  segments={bar.cells} scale={widest} dark={page.dark} label={bar.label} interval={bar.interval}
                />
              </td>
              {isResolved(bar.wall, bar.interval) ? (
                <>
                  <td class="number">{duration(bar.wall)}</td>
                  <td class="number">{percent(bar.wall, whole)}</td>
                </>
              ) : (
                <td class="number" colSpan={2} title={range(bar.interval!)}>not resolved</td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A path whose last name stands out; what has no room is left out of its middle. */
function PathName({ path }: { path: string }) {
  const shown = shortPath(path, Math.max(28, Math.min(80, Math.floor(window.innerWidth / 32))));
  const cut = path.startsWith("(") ? -1 : shown.lastIndexOf("/");
  return <>{cut >= 0 && <span class="faint">{shown.slice(0, cut + 1)}</span>}{shown.slice(cut + 1)}</>;
}

const MOST_FINDINGS = 5;

function Findings({ page, report }: { page: Page; report: Report }) {
  const { findings } = report;
  if (!findings.length) return null;
  const list = (shown: Finding[]) => (
    <ol class="findings">{shown.map((finding, number) => <Item key={number} page={page} report={report} finding={finding} />)}</ol>
  );
  const rest = findings.slice(MOST_FINDINGS);
  return (
    <section aria-labelledby="findings-title">
      <h2 id="findings-title">What to do next</h2>
      {list(findings.slice(0, MOST_FINDINGS))}
      {rest.length > 0 && <details class="more"><summary>{rest.length} more</summary>{list(rest)}</details>}
      <p class="note">More on each: <code>rlscope-jax report --explain {findings[0]!.code}</code></p>
    </section>
  );
}

function Item({ page, report, finding }: { page: Page; report: Report; finding: Finding }) {
  const of = report.operations.find((one) => one.path === finding.operation);
  const facts = Object.entries(finding.evidence ?? {}).filter(([, known]) => known !== null && known !== false);
  return (
    <li class={finding.severity}>
      <span class="badge">{finding.severity}</span>
      <div>
        <strong>{finding.message}</strong>
        {finding.hint && <p class="hint">{finding.hint}</p>}
        <p class="facts">
          <code>{finding.code}</code>
          {finding.gain_ns ? <span>at most {duration(finding.gain_ns)} to gain</span> : null}
          {of && (
            <button
              type="button" class="link accent"
              onClick={() => page.change({ view: "operations", operation: nodeKey(of.process, of.path) })}
            >
              {of.path}
            </button>
          )}
          {finding.program && <span>{finding.program}</span>}
          {facts.map(([name, known]) => (
            <span key={name}>{name.replace(/_ns$/, "").replaceAll("_", " ")}: {evidence(name, known)}</span>
          ))}
        </p>
      </div>
    </li>
  );
}

function evidence(name: string, known: unknown): string {
  if (typeof known === "number") {
    if (name.endsWith("_ns")) return duration(known);
    if (name === "bytes" || name.endsWith("_bytes")) return bytes(known);
    return Number.isInteger(known) ? known.toLocaleString("en") : known.toPrecision(3);
  }
  if (known === true) return "yes";
  return typeof known === "string" ? known : JSON.stringify(known);
}

function About({ report }: { report: Report }) {
  const { environment, session, counts, window } = report;
  const some = (name: string, word: string) => {
    const known = counts[name];
    return known === null || known === undefined ? "" : ` · ${plural(known, word)}`;
  };
  return (
    <p class="note about">
      {session.logdir} · {session.name}
      {(window.windows ?? 1) > 1 && ` · ${window.windows} windows`}
      {" · "}jax {environment.jax ?? "unknown"} on {environment.platform ?? "an unknown platform"}
      {some("device_ops", "device op")}{some("dispatches", "dispatch")}{some("compiles", "compile")}
    </p>
  );
}
