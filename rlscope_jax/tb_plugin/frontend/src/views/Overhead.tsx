import { cell, duration, percent, range, unitOf } from "../format";
import { flat, tree } from "../model";
import type { Report } from "../report";
import type { ViewProps } from "./registry";

const METHODS = {
  none: "Nothing was subtracted: these are the times as recorded.",
  calibrated: "What recording costs was measured on this machine by calibration, and subtracted.",
  anchored: "Unprofiled steps of this very run say how much slower the profiled ones were; that was subtracted.",
};

export function Overhead({ report }: Pick<ViewProps, "report">) {
  const { overhead } = report;
  const known = overhead.correction !== "none";
  return (
    <div class="overhead">
      <section aria-labelledby="overhead-title">
        <h2 id="overhead-title">What profiling cost</h2>
        <p>{METHODS[overhead.correction] ?? overhead.correction}</p>
        {!known && (
          <>
            <p>{sentence(overhead.reason ?? "the report holds no correction")}</p>
            <p class="note">
              Recording costs a little for every op, so operations of many small ops look slower than they are. Two
              things make this page say by how much:
            </p>
            <ul class="note">
              <li><code>rlscope-jax calibrate</code> once on the machine that records: it measures what an op costs.</li>
              <li>
                five or more steps before the window that nobody records, <code>Schedule(wait=5)</code>: they are timed,
                and the recorded steps compared with them.
              </li>
            </ul>
          </>
        )}
        {known && (
          <p>
            {overhead.inflation !== null && <>The recorded work took <strong>{overhead.inflation.toFixed(2)} ×</strong> as long as without profiling. </>}
            {overhead.removed && (
              <>
                Removed: <strong>{duration(overhead.removed.ns)}</strong>
                {overhead.removed.interval && <> ({range(overhead.removed.interval)})</>}.
              </>
            )}
          </p>
        )}
      </section>
      {known && <Constants title="Constants of this machine" values={overhead.constants} />}
      {overhead.anchors && (
        <Constants
          title={"iterations" in overhead.anchors ? "The rest of the call" : "Unprofiled steps"}
          values={overhead.anchors}
        />
      )}
      {known && <Removed report={report} />}
    </div>
  );
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? "" : "."}`;
}

/** What a figure is; times are ns unless it says that they are none. */
const MEANINGS: Record<string, string> = {
  tail_ratio: "what recording an op costs, over the time between its own end and its event's",
  op_floor: "the least an op takes when nobody records it",
  host_event: "an event of the runtime on the path of a call",
  annotation: "one operation or annotation on the host",
  step: "a step that profile() records, beyond its ops and events",
  wait: "a wait for a program that another thread runs",
  python_call: "a Python call under the Python tracer",
  steps: "unprofiled steps that were timed",
  base_ns: "their typical length",
  uncertainty_ns: "how sure that is",
  ratio: "the ratio at which the recorded steps become as long as these",
};
const PLAIN = new Set(["tail_ratio", "ratio", "steps"]);

function Constants({ title, values }: { title: string; values: Record<string, unknown> }) {
  const entries = Object.entries(values).filter(([, known]) => known !== null);
  if (!entries.length) return null;
  return (
    <section>
      <h3>{title}</h3>
      <table class="plain narrow">
        <thead>
          <tr>
            <th scope="col">figure</th><th scope="col" class="number">value</th><th scope="col" class="number">interval</th>
            <th scope="col">what it is</th>
          </tr>
        </thead>
        <tbody>
          {entries.map(([name, known]) => (
            <tr key={name}>
              <th scope="row">{name.replace(/_ns$/, "").replaceAll("_", " ")}</th>
              <td class="number">{figure(name, isConstant(known) ? known.value : known)}</td>
              <td class="number">{isConstant(known) ? interval(name, known) : "–"}</td>
              <td class="faint">{MEANINGS[name]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface Constant {
  value: number;
  low: number;
  high: number;
}

function isConstant(known: unknown): known is Constant {
  return typeof known === "object" && known !== null && "value" in known && "low" in known && "high" in known;
}

function interval(name: string, { low, high }: Constant): string {
  return PLAIN.has(name) ? `${figure(name, low)} to ${figure(name, high)}` : range([low, high]);
}

function figure(name: string, known: unknown): string {
  if (typeof known !== "number") return typeof known === "string" ? known : JSON.stringify(known);
  if (!PLAIN.has(name)) return duration(known);
  return Number.isInteger(known) ? known.toLocaleString("en") : known.toFixed(2);
}

/** How much was removed from which operation. */
function Removed({ report }: { report: Report }) {
  const raw = new Map(flat(tree(report, false)).map((node) => [node.key, node]));
  const rows = flat(tree(report, true))
    .map((node) => ({ node, before: raw.get(node.key)?.wall ?? 0, after: node.wall }))
    .filter((row) => row.before !== row.after)
    .sort((a, b) => b.before - b.after - (a.before - a.after));
  const most = Math.max(1, ...rows.map((row) => row.before));
  const unit = unitOf(most);
  return (
    <section>
      <h3>Removed from each operation</h3>
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">operation</th><th scope="col" class="number">recorded {unit.name}</th>
            <th scope="col" class="number">corrected {unit.name}</th><th scope="col" class="number">removed {unit.name}</th>
            <th scope="col" class="number">share</th>
            <th scope="col" class="wide">
              <i class="swatch kept" /> corrected <i class="swatch removed" /> removed
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ node, before, after }) => (
            <tr key={node.key}>
              <th scope="row">{node.path}</th>
              <td class="number">{cell(before, unit)}</td>
              <td class="number">{cell(after, unit)}</td>
              <td class="number">{cell(before - after, unit)}</td>
              <td class="number">{percent(before - after, before)}</td>
              <td class="wide">
                <div class="stacked" aria-hidden="true">
                  <span class="kept" style={{ width: `${(100 * after) / most}%` }} />
                  <span class="removed" style={{ width: `${(100 * Math.max(before - after, 0)) / most}%` }} />
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {!rows.length && <p class="note">Nothing.</p>}
    </section>
  );
}
