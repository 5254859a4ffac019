import { textOn, type OperationColors } from "../colors";
import { duration, percent } from "../format";
import type { Node } from "../model";

interface Props {
  roots: Node[];
  read: (node: Node) => number;
  colors: OperationColors;
  dark: boolean;
  chosen: string | null;
  onChoose: (node: Node) => void;
}

interface Box {
  /** null for all that is too narrow, as one. */
  node: Node | null;
  key: string;
  few: number;
  left: number;
  width: number;
  row: number;
}

const ROW = 24; // px
const MOST_ROWS = 12; // what is nested deeper is in the table
const LEAST = 0.15; // % of the width: what is narrower cannot be seen

/** Operations as boxes, as wide as the time of all they hold, those nested in them below. */
export function Icicle({ roots, read, colors, dark, chosen, onChoose }: Props) {
  const whole = roots.reduce((total, node) => total + read(node), 0);
  const boxes = whole > 0 ? place(roots, read, whole, 0, 0) : [];
  const rows = Math.max(0, ...boxes.map((box) => box.row)) + 1;
  return (
    <div class="icicle" style={{ height: `${rows * ROW}px` }}>
      {boxes.map(({ node, key, few, left, width, row }) => {
        const where = { left: `${left}%`, width: `${width}%`, top: `${row * ROW}px` };
        if (!node) {
          const words = `${few.toLocaleString("en")} more, each too narrow to show`;
          return <div key={key} class="few" style={where} title={words}>{width > 5 && words}</div>;
        }
        const color = colors.of(node.path, null, dark);
        return (
        <button
          type="button" key={node.key} tabIndex={width < 1 ? -1 : 0} aria-pressed={node.key === chosen}
          style={{ ...where, background: color, color: textOn(color) }}
          title={`${node.path}\n${duration(read(node))} (${percent(read(node), whole)})`}
          aria-label={`${node.path}: ${duration(read(node))}`}
          onClick={() => onChoose(node)}
        >
          {width > 1.5 && node.name}
        </button>
        );
      })}
    </div>
  );
}

function place(nodes: Node[], read: Props["read"], whole: number, left: number, row: number): Box[] {
  const boxes: Box[] = [];
  if (row >= MOST_ROWS) return boxes;
  let [few, narrow] = [0, 0];
  for (const node of nodes) {
    const width = (100 * read(node)) / whole;
    if (width < LEAST) {
      few += Number(width > 0);
      narrow += width;
      continue;
    }
    boxes.push({ node, key: node.key, few: 0, left, width, row }, ...place(node.children, read, whole, left, row + 1));
    left += width;
  }
  if (narrow >= LEAST) boxes.push({ node: null, key: `${row}|${left}`, few, left, width: narrow, row });
  return boxes;
}
