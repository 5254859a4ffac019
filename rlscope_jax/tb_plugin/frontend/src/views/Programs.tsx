import type { Page } from "../App";
import { cell, count, duration, percent, unitOf } from "../format";
import { value } from "../model";
import type { Program, Report } from "../report";

export function Programs({ page, report }: { page: Page; report: Report }) {
  const { corrected } = page.state;
  const device = (program: Program) => value(program.device, corrected);
  const compile = (program: Program) => value(program.compile, corrected);
  const programs = [...report.programs].sort((a, b) => device(b) + compile(b) - device(a) - compile(a));
  const unit = unitOf(Math.max(0, ...programs.map((program) => Math.max(device(program), compile(program)))));
  const whole = programs.reduce((total, program) => total + device(program), 0);
  const versions = countBy(programs.map((program) => program.function ?? program.name));
  const recompiled = recompiles(programs, corrected);
  return (
    <section aria-labelledby="programs-title">
      <h2 id="programs-title">Programs</h2>
      <p class="note">
        A program is one compiled XLA module. It is compiled in the window when its row says so; a function with
        several programs was called with several shapes, types or static arguments.
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
