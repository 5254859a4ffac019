import { useEffect, useState } from "preact/hooks";
import type { Page } from "../App";
import { CELL_NAMES } from "../colors";
import { count, duration, percent, type Unit } from "../format";
import { segments, value, type Node } from "../model";
import type { Figure, Operation, Report } from "../report";
import { Refused, type Asked, type Op, type OpList } from "../source";
import { Legend, StackedBar } from "./StackedBar";
import { Time } from "./Time";

interface Props {
  page: Page;
  report: Report;
  asked: Asked;
  node: Node;
  unit: Unit;
}

const KINDS: Record<string, string> = {
  mark: "named with operation()", annotation: "named by an annotation", scope: "a named scope",
  function: "a Python function", special: "no operation",
};

/** One operation: its time by resource, direction and category, and the device ops it is made of. */
export function Details({ page, report, asked, node, unit }: Props) {
  const { corrected } = page.state;
  const cells = segments(node.rows, corrected);
  return (
    <aside class="details" aria-label={`Details of ${node.path}`}>
      <div class="heading">
        <h2 title={node.path}>{node.path}</h2>
        <button type="button" class="close" aria-label="Close the details" onClick={() => page.change({ operation: null })}>
          ×
        </button>
      </div>
      <p class="note">
        {[...new Set(node.rows.map((row) => KINDS[row.kind] ?? row.kind))].join(", ")}{node.rows.length > 0 && " · "}{duration(node.wall)} of its own,{" "}
        {percent(node.wall, value(report.totals.wall, corrected))} of the window
      </p>
      {node.wall > 0 && (
        <>
          <StackedBar segments={cells} scale={node.wall} dark={page.dark} label={node.path} />
          <Legend keys={cells.map((one) => one.key)} dark={page.dark} />
        </>
      )}
      <Rows rows={node.rows} corrected={corrected} unit={unit} />
      <Categories rows={node.rows} corrected={corrected} />
      <OpTable page={page} asked={asked} node={node} />
    </aside>
  );
}

function Rows({ rows, corrected, unit }: { rows: Operation[]; corrected: boolean; unit: Unit }) {
  if (!rows.some((row) => row.direction)) return null;
  return (
    <table class="plain">
      <thead>
        <tr><th scope="col">direction</th><th scope="col" class="number">device self {unit.name}</th><th scope="col" class="number">ops</th></tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.direction}>
            <th scope="row">{row.direction ?? "none"}</th>
            <td class="number">
              <Time value={value(row.device.self, corrected)} figures={[row.device.self]} corrected={corrected} unit={unit} />
            </td>
            <td class="number">{count(row.device.ops)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Categories({ rows, corrected }: { rows: Operation[]; corrected: boolean }) {
  const add = (read: (row: Operation) => Record<string, Figure>) => {
    const sums = new Map<string, number>();
    for (const row of rows) {
      for (const [name, figure] of Object.entries(read(row))) {
        sums.set(name, (sums.get(name) ?? 0) + value(figure, corrected));
      }
    }
    return [...sums].filter(([, time]) => time > 0).sort((a, b) => b[1] - a[1]);
  };
  const words = (sums: [string, number][]) =>
    sums.map(([name, time]) => `${CELL_NAMES[name] ?? name.replace("_", " ")} ${duration(time)}`).join(" · ");
  const [device, host] = [add((row) => row.device.categories), add((row) => row.host.categories)];
  return (
    <dl class="categories">
      {device.length > 0 && <><dt>device</dt><dd>{words(device)}</dd></>}
      {host.length > 0 && <><dt>host threads</dt><dd>{words(host)}</dd></>}
    </dl>
  );
}

function OpTable({ page, asked, node }: { page: Page; asked: Asked; node: Node }) {
  const [answer, setAnswer] = useState<OpList | Refused | null>(null);
  const directions = node.rows.map((row) => row.direction);
  useEffect(() => {
    let gone = false;
    setAnswer(null);
    Promise.all(directions.map((direction) => page.source.ops(asked, node.process, node.path, direction))).then(
      (lists) => !gone && setAnswer(joined(lists)),
      (error) => !gone && setAnswer(error instanceof Refused ? error : new Refused(String(error), "")),
    );
    return () => {
      gone = true;
    };
  }, [page.source, asked, node.key]);
  if (answer === null) return <p class="note">Looking up its device ops…</p>;
  if (answer instanceof Refused) return <p class="note">{answer.message}</p>;
  if (!answer.ops.length) return <p class="note">No device ops of its own.</p>;
  const whole = answer.ops.reduce((sum, op) => sum + op.self, answer.more_self);
  return (
    <>
      <h3>Device ops, as recorded</h3>
      <table class="plain ops">
        <thead>
          <tr>
            <th scope="col">op</th><th scope="col" class="number">self</th>
            <th scope="col" class="number">runs</th>
          </tr>
        </thead>
        <tbody>{answer.ops.map((op, number) => <OpRow key={number} op={op} whole={whole} />)}</tbody>
      </table>
      {answer.more > 0 && <p class="note">{answer.more} more ops, {duration(answer.more_self)}</p>}
    </>
  );
}

function OpRow({ op, whole }: { op: Op; whole: number }) {
  // The user's own line tells more than the library's that it called.
  const source = op.source.findLast((frame) => !/site-packages|dist-packages|lib\/python/.test(frame.file)) ?? op.source.at(-1);
  return (
    <tr>
      <td>
        <code>{op.name}</code> {op.opcode && op.opcode !== "fusion" && !op.name.startsWith(op.opcode) && <span class="faint">{op.opcode}</span>}
        {op.kernel && op.kernel !== op.name && <div class="faint">{op.kernel}</div>}
        {source && (
          <div class="source" title={op.source.map((one) => `${one.file}:${one.line} in ${one.function}`).join("\n")}>
            {source.file.split("/").slice(-2).join("/")}:{source.line} <span class="faint">{lastName(source.function)}</span>
          </div>
        )}
        {op.op_name && <div class="faint opname" title={op.op_name}>{op.op_name}</div>}
      </td>
      <td class="number">{duration(op.self)}<div class="faint">{percent(op.self, whole)}</div></td>
      <td class="number">{count(op.count)}</td>
    </tr>
  );
}

function lastName(qualified: string): string {
  return qualified.split(".").at(-1) ?? qualified;
}

function joined(lists: OpList[]): OpList {
  return {
    ops: lists.flatMap((list) => list.ops).sort((a, b) => b.self - a.self).slice(0, 200),
    more: lists.reduce((sum, list) => sum + list.more, 0),
    more_self: lists.reduce((sum, list) => sum + list.more_self, 0),
  };
}
