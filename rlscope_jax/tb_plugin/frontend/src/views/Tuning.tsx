import { useEffect, useMemo, useState } from "preact/hooks";
import type { Page } from "../App";
import { Chart, axis, inkOf, tooltip, type ChartOption } from "../components/Chart";
import { Message } from "../components/Message";
import { seriesColor } from "../colors";
import { count, duration, multiple, range } from "../format";
import { Refused, type Listing, type TuningRecord } from "../source";
import {
  armShares, bestLine, searchNames, taskKey, timesAsFast, type Interval, type Search, type Tuning as Data,
  type TuningTask,
} from "../tuning";

export interface TuningProps {
  page: Page;
  listing: Listing;
  /** The recording's run, where one is chosen. */
  run: string | null;
}

/** What `rlscope-jax tune` did: how its searches went, and what they came to. */
export function Tuning({ page, listing, run }: TuningProps) {
  const { tunings } = listing;
  const wanted = page.state.tuning ?? run;
  const record = tunings.find((one) => one.run === wanted) ?? tunings[0] ?? null;
  if (!record) return <NoRecord page={page} listing={listing} run={run} />;
  return <Record key={record.run} page={page} records={tunings} record={record} run={run} />;
}

function NoRecord({ page, listing, run }: TuningProps) {
  const root = listing.looked_in[0]?.path;
  const logdir = root ? [root, run].filter((part) => part && part !== ".").join("/") : "LOGDIR";
  return (
    <Message title="Nothing was tuned here">
      <p>
        The profile says which operation takes the time; this looks for a faster way to compute one, and leaves what it
        did beside the profile, for this view:
      </p>
      <pre><code>{`rlscope-jax tune tasks.py:TASKS --from ${/\s/.test(logdir) ? `"${logdir}"` : logdir}`}</code></pre>
      <p>
        <code>tasks.py</code> is yours: it says what may be computed in which ways, in tasks named as operations.
        {!page.source.embedded && <> A file <code>rlscope_tune.jsonl</code> anywhere below TensorBoard's log directory is shown too.</>}
      </p>
    </Message>
  );
}

interface RecordProps {
  page: Page;
  records: TuningRecord[];
  record: TuningRecord;
  run: string | null;
}

function Record({ page, records, record, run }: RecordProps) {
  const [answer, again] = useTuning(page, record);
  const { change, state } = page;
  const tasks = answer && !(answer instanceof Refused) ? answer.tasks : [];
  const chosen = tasks.find((task) => taskKey(task) === state.task) ?? tasks[0];
  return (
    <div class="tuning">
      {(records.length > 1 || (run !== null && run !== record.run)) && (
        <p class="windows">
          <label>
            Searches of{" "}
            <select
              value={record.run}
              onChange={(event) => change({ tuning: event.currentTarget.value, task: null })}
            >
              {records.map(({ run }) => <option key={run} value={run}>{run === "." ? "the log directory" : run}</option>)}
            </select>
          </label>
        </p>
      )}
      {answer === null && <Message title="Reading the searches…" />}
      {answer instanceof Refused && (
        <Message title="This tuning record cannot be shown" kind="bad" hint={answer.hint} action="Try again" onAction={again}>
          <p>{answer.message}</p>
        </Message>
      )}
      {answer && !(answer instanceof Refused) && !chosen && (
        <Message title="This tuning record holds no trials" action="Look again" onAction={again}>
          <p>A search notes each candidate as soon as it is measured; the first takes some seconds.</p>
        </Message>
      )}
      {tasks.length > 1 && chosen && <Tasks page={page} tasks={tasks} chosen={chosen} />}
      {chosen && <Task key={taskKey(chosen)} page={page} task={chosen} />}
    </div>
  );
}

/** The record's searches; read again when its file has changed. */
function useTuning({ source }: Page, { run, changed, bytes }: TuningRecord): [Data | Refused | null, () => void] {
  const [answer, setAnswer] = useState<Data | Refused | null>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let gone = false;
    source.tuning(run).then(
      (told) => !gone && setAnswer(told),
      (error) => !gone && setAnswer(error instanceof Refused ? error : new Refused(String(error), "")),
    );
    return () => {
      gone = true;
    };
  }, [source, run, changed, bytes, attempt]);
  return [answer, () => setAttempt((number) => number + 1)];
}

function Tasks({ page, tasks, chosen }: { page: Page; tasks: TuningTask[]; chosen: TuningTask }) {
  const weighed = tasks.some((task) => task.weight !== null);
  const total = tasks.reduce((sum, task) => sum + (task.saving?.[0] ?? 0), 0);
  const units = new Set(tasks.filter((task) => task.saving).map((task) => task.per));
  return (
    <section aria-labelledby="tasks-title">
      <h2 id="tasks-title">Tasks</h2>
      {units.size === 1 && <p class="note">Together the winners should save {seconds(total)} a {[...units][0]}.</p>}
      <div class="scroll">
        <table class="plain tasks">
          <thead>
            <tr>
              <th scope="col">task</th><th scope="col" class="number">trials</th><th scope="col" class="number">failed</th>
              <th scope="col" class="number">reference</th><th scope="col" class="number">best</th>
              <th scope="col" class="number">winner</th>
              {weighed && <><th scope="col" class="number">in the profile</th><th scope="col" class="number">saves</th></>}
            </tr>
          </thead>
          <tbody>
            {tasks.map((task) => (
              <tr key={taskKey(task)} class={task === chosen ? "chosen" : ""}>
                <th scope="row">
                  <button
                    type="button" class="link accent" aria-pressed={task === chosen} title={`${task.device}, jax ${task.jax}`}
                    onClick={() => page.change({ task: taskKey(task) })}
                  >
                    {task.name}
                  </button>
                </th>
                <td class="number">{count(task.trials)}</td>
                <td class="number">{count(task.failed)}</td>
                <td class="number">{seconds(task.reference_seconds)}</td>
                <td class="number">{seconds(task.best?.seconds ?? null)}</td>
                <td class="number">{outcome(task)}</td>
                {weighed && (
                  <>
                    <td class="number">{task.weight === null ? "–" : `${seconds(task.weight)} a ${task.per}`}</td>
                    <td class="number">{task.saving ? seconds(task.saving[0]) : "–"}</td>
                  </>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function outcome(task: TuningTask): string {
  if (!task.decided) return "not decided";
  if (!task.winner) return "none";
  return task.against ? `${multiple(timesAsFast(task.against)[0])} as fast` : "yes";
}

function Task({ page, task }: { page: Page; task: TuningTask }) {
  const names = useMemo(() => searchNames(task.searches), [task]);
  const colors = useColors(task, page.dark);
  return (
    <>
      <section aria-labelledby="task-title">
        <h2 id="task-title">{task.name}</h2>
        <p class="note about">{task.device} · jax {task.jax} · task {task.task}</p>
        <Tiles task={task} />
      </section>
      <section aria-labelledby="best-title">
        <h2 id="best-title">Best so far against trials</h2>
        <p class="note">
          {task.reference_seconds
            ? "How many times as fast as the reference the best candidate was by then; the dashed line is the reference."
            : "The time of the best candidate by then. The record does not say what the reference takes."}
        </p>
        <Best task={task} names={names} colors={colors} dark={page.dark} />
        <Searches task={task} names={names} colors={colors} />
      </section>
      <Arms task={task} names={names} dark={page.dark} />
      <Entropy task={task} names={names} colors={colors} dark={page.dark} />
      <Winner task={task} />
      <Failures task={task} />
    </>
  );
}

/** A colour for each search: one for all of an algorithm. */
function useColors({ searches }: TuningTask, dark: boolean): string[] {
  return useMemo(() => {
    const algorithms = [...new Set(searches.map((one) => one.algorithm))];
    return searches.map((one) => seriesColor(algorithms.indexOf(one.algorithm), dark));
  }, [searches, dark]);
}

function Tiles({ task }: { task: TuningTask }) {
  const { reference_seconds: reference, best, against, saving, per } = task;
  const fast = against && timesAsFast(against);
  const none = task.decided && !task.winner;
  return (
    <div class="tiles">
      <Tile id="reference" title="reference" main={seconds(reference)} details={[reference ? "one call" : "not noted"]} />
      <Tile
        id="best" title="best candidate" main={seconds(best?.seconds ?? null)}
        details={[best && reference ? `${multiple(reference / best.seconds)} as fast, while searching` : ""]}
      />
      <Tile
        id="winner" title="winner, inside jit" main={none ? "none" : fast && task.winner ? `${multiple(fast[0])} as fast` : "not decided"}
        details={[none ? "nothing beat the reference" : fast ? `${multiple(fast[1])} to ${multiple(fast[2])}` : "the search was ended, or goes on"]}
      />
      <Tile
        id="saving" title="predicted saving" main={saving ? seconds(saving[0]) : "not known"}
        details={saving ? [`a ${per}, of ${seconds(task.weight)}`, between(saving)] : [task.weight === null ? "tune --from LOGDIR weighs it" : ""]}
      />
      <Tile id="trials" title="candidates" main={count(task.trials)} details={[`${task.failed.toLocaleString("en")} failed`]} />
    </div>
  );
}

function Tile({ id, title, main, details }: { id: string; title: string; main: string; details: string[] }) {
  return (
    <div class="tile" data-figure={id}>
      <span class="title">{title}</span>
      <span class="main">{main}</span>
      {details.filter(Boolean).map((detail) => <span key={detail} class="detail">{detail}</span>)}
    </div>
  );
}

interface ChartProps {
  task: TuningTask;
  names: string[];
  dark: boolean;
}

function Best({ task, names, colors, dark }: ChartProps & { colors: string[] }) {
  const { reference_seconds: reference, searches } = task;
  const option = useMemo((): ChartOption => {
    const shown = (time: number) => (reference ? reference / time : time * 1e3);
    const ink = inkOf(dark);
    return {
      grid: { left: 48, right: 24, top: 30, bottom: 40 },
      xAxis: { type: "value", min: 1, max: Math.max(2, ...searches.map((one) => one.trials)), minInterval: 1, ...axis(dark, "trials", "x") },
      yAxis: { type: "value", ...(reference ? { min: 0 } : { scale: true }), ...axis(dark, reference ? "times as fast as the reference" : "ms", "y") },
      tooltip: tooltip(dark, (params) => {
        const trial = Number(params[0]?.axisValue ?? 0);
        return [`after ${trial.toLocaleString("en")} trials`, ...searches.flatMap((one, number) => {
          const found = one.best.findLast(([at]) => at <= trial);
          if (!found) return [];
          return [`${names[number]}: ${seconds(found[1])}${reference ? `, ${multiple(reference / found[1])} as fast` : ""}`];
        })];
      }),
      series: searches.map((one, number) => ({
        type: "line", step: "end", showSymbol: one.trials === 1, symbol: "circle", symbolSize: 5,
        data: bestLine(one).map(([trial, time]) => [trial, shown(time)]),
        lineStyle: { width: 2, color: colors[number]! }, itemStyle: { color: colors[number]! },
        ...(number === 0 && reference && {
          markLine: {
            silent: true, symbol: "none", data: [{ yAxis: 1 }], lineStyle: { type: "dashed" as const, color: ink.text, width: 1.5 },
            label: { position: "insideEndTop" as const, formatter: "reference", color: ink.text },
          },
        }),
      })),
    };
  }, [task, names, colors, dark]);
  const words = searches.map((one, number) => `${names[number]} ${one.best.length ? seconds(one.best.at(-1)![1]) : "nothing"} after ${one.trials} trials`);
  return <Chart option={option} dark={dark} height={300} label={`Best so far: ${words.join("; ")}`} />;
}

function Searches({ task, names, colors }: { task: TuningTask; names: string[]; colors: string[] }) {
  const { reference_seconds: reference, searches } = task;
  return (
    <div class="scroll">
      <table class="plain searches">
        <thead>
          <tr>
            <th scope="col">search</th><th scope="col" class="number">trials</th><th scope="col" class="number">failed</th>
            <th scope="col" class="number">best</th><th scope="col" class="number">as fast as the reference</th>
            <th scope="col" class="number">found at trial</th>
          </tr>
        </thead>
        <tbody>
          {searches.map((one, number) => {
            const best = one.best.at(-1);
            return (
              <tr key={number} data-search={names[number]}>
                <th scope="row">
                  <i class="swatch" style={{ background: colors[number]! }} /> {names[number]}
                  {!one.whole && <span class="faint"> · some of its trials were not noted</span>}
                </th>
                <td class="number">{count(one.trials)}</td>
                <td class="number">{count(one.failed)}</td>
                <td class="number">{seconds(best?.[1] ?? null)}</td>
                <td class="number">{best && reference ? multiple(reference / best[1]) : "–"}</td>
                <td class="number">{best ? count(best[0]) : "–"}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

const MOST_CHARTS = 4;

function Arms({ task, names, dark }: ChartProps) {
  const [all, setAll] = useState(false);
  const sketches = useMemo(() => [...new Set(task.searches.flatMap((one) => Object.keys(one.arms)))], [task]);
  const shown = task.searches.map((search, number) => ({ search, name: names[number]! })).filter(({ search }) => search.rounds.length);
  if (!shown.length) return null;
  return (
    <section aria-labelledby="arms-title">
      <h2 id="arms-title">Sketches chosen</h2>
      <p class="note">The share of each round's candidates that came from each sketch.</p>
      <ul class="legend">
        {sketches.map((sketch, number) => <li key={sketch}><i style={{ background: sketchColor(number, dark) }} />{sketch}</li>)}
      </ul>
      <div class="charts">
        {shown.slice(0, all ? undefined : MOST_CHARTS).map(({ search, name }, number) => (
          <figure key={number}>
            <figcaption>{name}</figcaption>
            <ArmChart search={search} name={name} sketches={sketches} dark={dark} />
          </figure>
        ))}
      </div>
      {!all && shown.length > MOST_CHARTS && (
        <button type="button" class="action" onClick={() => setAll(true)}>Show {shown.length - MOST_CHARTS} more</button>
      )}
    </section>
  );
}

/** Others than the first searches have. */
function sketchColor(number: number, dark: boolean): string {
  return seriesColor(number + 4, dark);
}

function ArmChart({ search, name, sketches, dark }: { search: Search; name: string; sketches: string[]; dark: boolean }) {
  const option = useMemo((): ChartOption => {
    const shares = armShares(search);
    const percent = (share: number) => `${Math.round(100 * share)} %`;
    return {
      grid: { left: 48, right: 12, top: 10, bottom: 40 },
      xAxis: { type: "category", data: search.rounds.map(String), ...axis(dark, "trials", "x") },
      yAxis: { type: "value", max: 1, interval: 0.5, ...axis(dark, "", "y"), axisLabel: { formatter: percent, color: inkOf(dark).faint, fontSize: 12 } },
      tooltip: tooltip(dark, (params) => {
        const round = params[0]?.dataIndex ?? 0;
        const chosen = sketches.filter((sketch) => shares.get(sketch)?.[round]);
        return [`up to trial ${search.rounds[round]}`, ...chosen.map((sketch) => `${sketch}: ${percent(shares.get(sketch)![round]!)}`)];
      }),
      series: sketches.map((sketch, number) => ({
        type: "bar", stack: "arms", barCategoryGap: "6%", barMaxWidth: 120, data: shares.get(sketch) ?? [],
        itemStyle: { color: sketchColor(number, dark) },
      })),
    };
  }, [search, sketches, dark]);
  const words = Object.entries(search.arms).map(([arm, chosen]) => `${arm} ${chosen.reduce((sum, times) => sum + times, 0)}`);
  return <Chart option={option} dark={dark} height={170} label={`Sketches chosen by ${name}: ${words.join(", ")}`} />;
}

function Entropy({ task, names, colors, dark }: ChartProps & { colors: string[] }) {
  const shown = useMemo(
    () => task.searches.map((search, number) => ({ search, number })).filter(({ search }) => search.entropy.some((known) => known !== null)),
    [task],
  );
  const option = useMemo((): ChartOption => ({
    grid: { left: 48, right: 24, top: 30, bottom: 40 },
    xAxis: { type: "value", min: 0, max: Math.max(2, ...shown.map(({ search }) => search.trials)), minInterval: 1, ...axis(dark, "trials", "x") },
    yAxis: { type: "value", scale: true, ...axis(dark, "nats", "y") },
    tooltip: tooltip(dark, (params) => params.map(({ seriesIndex, value }) => {
      const [trial, nats] = value as [number, number];
      return `${names[shown[seriesIndex]!.number]}, up to trial ${trial}: ${nats.toFixed(2)} nats`;
    })),
    series: shown.map(({ search, number }) => ({
      type: "line", symbol: "circle", symbolSize: 4, showSymbol: search.rounds.length < 40,
      data: search.rounds.flatMap((end, round) => (search.entropy[round] === null ? [] : [[end, search.entropy[round]!]])),
      lineStyle: { width: 2, color: colors[number]! }, itemStyle: { color: colors[number]! },
    })),
  }), [shown, names, colors, dark]);
  if (!task.searches.length) return null;
  const last = ({ search }: { search: Search }) => search.entropy.findLast((known) => known !== null)!;
  return (
    <section aria-labelledby="entropy-title">
      <h2 id="entropy-title">Entropy of the policy</h2>
      {!shown.length && <p class="note">None of these searches has a policy; <code>--algorithm harl</code> has.</p>}
      {shown.length > 0 && (
        <>
          <p class="note">How undecided the policy is that moves a candidate's parameters: it falls as the policy learns.</p>
          <Chart
            option={option} dark={dark} height={200}
            label={`Entropy of the policy: ${shown.map((one) => `${names[one.number]} ends at ${last(one).toFixed(2)} nats`).join("; ")}`}
          />
        </>
      )}
    </section>
  );
}

function Winner({ task }: { task: TuningTask }) {
  const choice = task.winner ?? task.best;
  if (!choice) return null;
  return (
    <section aria-labelledby="winner-title">
      <h2 id="winner-title">{task.winner ? "The winner" : "The best candidate"}: {choice.sketch}</h2>
      {task.winner
        ? <p class="note"><code>@tuned(task)</code> uses it where the arguments, the machine and jax are the same.</p>
        : <p class="note">{task.decided ? "Compared once more, it did not beat the reference reliably." : "It has not been compared with the reference once more yet."}</p>}
      <table class="plain narrow values">
        <thead><tr><th scope="col">parameter</th><th scope="col">value</th></tr></thead>
        <tbody>
          {Object.entries(choice.values).map(([name, value]) => <tr key={name}><th scope="row">{name}</th><td><code>{String(value)}</code></td></tr>)}
        </tbody>
      </table>
    </section>
  );
}

function Failures({ task }: { task: TuningTask }) {
  if (!task.failed) return null;
  const rows: [string, number][] = [...task.failures, ...(task.other_failures ? [["others", task.other_failures] as [string, number]] : [])];
  return (
    <section aria-labelledby="failures-title">
      <h2 id="failures-title">Why candidates failed</h2>
      <table class="plain failures">
        <thead><tr><th scope="col" class="number">candidates</th><th scope="col">reason</th></tr></thead>
        <tbody>{rows.map(([reason, times]) => <tr key={reason}><td class="number">{count(times)}</td><td>{reason}</td></tr>)}</tbody>
      </table>
    </section>
  );
}

function seconds(known: number | null): string {
  return known === null ? "–" : duration(known * 1e9);
}

function between([, low, high]: Interval): string {
  return range([low * 1e9, high * 1e9]);
}
