import { useEffect, useState } from "preact/hooks";
import { cell, count, duration, percent, unitOf } from "../format";
import { value } from "../model";
import type { Program } from "../report";
import type { Asked, Source } from "../source";
import type { ViewProps } from "./registry";

export function Programs({ page, report, asked }: ViewProps) {
  const { corrected } = page.state;
  const device = (program: Program) => value(program.device, corrected);
  const compile = (program: Program) => value(program.compile, corrected);
  const programs = [...report.programs].sort((a, b) => device(b) + compile(b) - device(a) - compile(a));
  const unit = unitOf(Math.max(0, ...programs.map((program) => Math.max(device(program), compile(program)))));
  const whole = programs.reduce((total, program) => total + device(program), 0);
  const compiled = programs.some((program) => program.compiles);
  const times = useCompiles(page.source, asked, compiled ? (report.window.windows ?? 1) : 0);
  const several = (report.window.windows ?? 1) > 1;
  const versions = countBy(programs.map((program) => program.function ?? program.name));
  const recompiled = recompiles(programs, corrected);
  return (
    <section aria-labelledby="programs-title">
      <h2 id="programs-title">Programs</h2>
      <p class="note">
        A program is a function as XLA compiled it for one set of shapes, types and static arguments: a function called
        with several has several programs. Compiles are those within the window.
      </p>
      {recompiled.length > 0 && (
        <div class="health degraded" role="note">
          {recompiled.slice(0, 5).map(({ name, times, time }) => (
            <div key={name}><strong>{name} was compiled {times} times within the window: {duration(time)}.</strong></div>
          ))}
        </div>
      )}
      <div class="scroll">
        <table class="plain programs">
          <thead>
            <tr>
              <th scope="col">function</th><th scope="col">program</th>
              <th scope="col" class="number">compiles</th><th scope="col" class="number">compile {unit.name}</th>
              {compiled && <th scope="col" class="number">first at</th>}
              <th scope="col" class="number">dispatches</th><th scope="col" class="number">runs</th>
              <th scope="col" class="number">device {unit.name}</th><th scope="col" class="number">share</th>
              <th scope="col" class="number">per run</th><th scope="col" class="number">device ops</th>
              <th scope="col">HLO</th>
            </tr>
          </thead>
          <tbody>
            {programs.map((program) => {
              const name = program.function ?? program.name;
              const again = recompiled.some((one) => one.name === name);
              const siblings = versions.get(name) ?? 1;
              return (
                <tr key={`${program.program_id}|${program.name}`} class={again ? "warn" : ""} data-program={program.program_id}>
                  <th scope="row">{name}{again ? <span class="badge">recompiled</span> : siblings > 1 && <span class="faint"> · one of {siblings}</span>}</th>
                  <td><span class="faint">{program.name} #{program.program_id}</span></td>
                  <td class="number">{count(program.compiles)}</td>
                  <td class="number">{cell(compile(program), unit)}</td>
                  {compiled && <td class="number"><When compile={times.get(program.program_id)} several={several} page={page} /></td>}
                  <td class="number">{count(program.dispatches)}</td>
                  <td class="number">{count(program.runs)}</td>
                  <td class="number" data-figure="device" data-value={device(program)}>{cell(device(program), unit)}</td>
                  <td class="number">{percent(device(program), whole)}</td>
                  <td class="number">{program.runs ? duration(device(program) / program.runs) : "–"}</td>
                  <td class="number">{count(program.device_ops)}</td>
                  <td>{program.hlo ? "yes" : "not recorded"}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {!programs.length && <p class="note">No program ran within the window.</p>}
    </section>
  );
}

interface Compile {
  window: number;
  start: number;
  length: number;
}

/** The first compile of each program, by its number; of a recording of so many windows. */
function useCompiles(source: Source, asked: Asked, windows: number): Map<number, Compile> {
  const [found, setFound] = useState<Map<number, Compile>>(new Map());
  useEffect(() => {
    let gone = false;
    const ask = (window: number) => source.timeline(asked, window, 0, null, 1);
    Promise.all(Array.from({ length: windows }, (_, window) => ask(window))).then(
      (timelines) => {
        const first = new Map<number, Compile>();
        for (const { window, compiles } of timelines) {
          for (const [program, start, length] of compiles) {
            const known = first.get(program);
            if (!known || (known.window === window && start < known.start)) first.set(program, { window, start, length });
          }
        }
        if (!gone) setFound(first);
      },
      () => {}, // the timeline's own view says what is wrong with it
    );
    return () => {
      gone = true;
    };
  }, [source, asked, windows]);
  return found;
}

/** When a program was compiled, as a way to see it in the timeline. */
function When({ compile, several, page }: { compile: Compile | undefined; several: boolean; page: ViewProps["page"] }) {
  if (!compile) return <>·</>;
  const { window, start, length } = compile;
  return (
    <button
      type="button" class="link accent" title="Show it in the timeline"
      onClick={() => page.change({ view: "timeline", window, begin: start - 0.2 * length, end: start + 1.2 * length })}
    >
      {duration(start)}{several && ` of window ${window + 1}`}
    </button>
  );
}

/** Functions compiled more than once within the window: of new shapes, or anew. */
function recompiles(programs: Program[], corrected: boolean): { name: string; times: number; time: number }[] {
  const found = new Map<string, { name: string; times: number; time: number }>();
  for (const program of programs) {
    const name = program.function ?? program.name;
    const known = found.get(name) ?? { name, times: 0, time: 0 };
    known.times += program.compiles ?? 0;
    known.time += value(program.compile, corrected);
    found.set(name, known);
  }
  return [...found.values()].filter((one) => one.times > 1).sort((a, b) => b.time - a.time);
}

function countBy(names: string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
