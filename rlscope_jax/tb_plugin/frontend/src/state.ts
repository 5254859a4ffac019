// What the page shows, kept in the URL so that a link can be shared.

export const GROUPS = ["auto", "operation", "scope", "function"] as const;

export interface State {
  run: string | null;
  name: string | null;
  /** A key of `views/registry`. */
  view: string;
  group: string;
  corrected: boolean;
  /** The operation chosen: "process|path". */
  operation: string | null;
  sort: string;
  filter: string;
  /** Which of several windows the timeline shows. */
  window: number;
  /** The stretch of the timeline shown, ns. */
  begin: number | null;
  end: number | null;
  /** The run whose tuning record is shown, if not that of the recording; and the task of it. */
  tuning: string | null;
  task: string | null;
}

export const FIRST: State = {
  run: null, name: null, view: "overview", group: "auto", corrected: true, operation: null,
  sort: "wallTotal", filter: "", window: 0, begin: null, end: null, tuning: null, task: null,
};

const PLUGIN = "rlscope";
// TensorBoard keeps a plugin's own state in its hash under these names.
const PREFIX = `p.${PLUGIN}.`;

export function parse(hash: string): State {
  const found = new URLSearchParams(hash.replace(/^#/, ""));
  const get = (key: string) => found.get(PREFIX + key);
  const number = (key: string) => {
    const text = get(key);
    const parsed = text === null ? NaN : Number(text);
    return Number.isFinite(parsed) ? parsed : null;
  };
  const group = get("group");
  return {
    run: get("run"),
    name: get("name"),
    view: get("view") ?? FIRST.view,
    group: group && (GROUPS as readonly string[]).includes(group) ? group : FIRST.group,
    corrected: get("figures") !== "raw",
    operation: get("operation"),
    sort: get("sort") ?? FIRST.sort,
    filter: get("filter") ?? "",
    window: Math.max(0, Math.floor(number("window") ?? 0)),
    begin: number("begin"),
    end: number("end"),
    tuning: get("tuning"),
    task: get("task"),
  };
}

export function serialize(state: State): string {
  const parts: [string, string][] = [];
  const put = (key: string, value: string | number | null, usual: string | number | null = null) => {
    if (value !== null && value !== usual) parts.push([PREFIX + key, String(value)]);
  };
  put("run", state.run);
  put("name", state.name);
  put("view", state.view, FIRST.view);
  put("group", state.group, FIRST.group);
  put("figures", state.corrected ? null : "raw");
  put("operation", state.operation);
  put("sort", state.sort, FIRST.sort);
  put("filter", state.filter, "");
  put("window", state.window, 0);
  put("begin", state.begin === null ? null : Math.round(state.begin));
  put("end", state.end === null ? null : Math.round(state.end));
  put("tuning", state.tuning);
  put("task", state.task);
  return parts.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join("&");
}

/** The window whose address a person sees and copies: TensorBoard's, or our own page's. */
function addressed(): Window {
  try {
    if (window.parent !== window && window.parent.location.href) return window.parent;
  } catch {
    // another origin's frame
  }
  return window;
}

export function readAddress(): State {
  return parse(addressed().location.hash);
}

export function writeAddress(state: State): void {
  const target = addressed();
  const own = serialize(state);
  const inTensorBoard = target !== window;
  // Only while our tab is the one shown: the address is not ours otherwise.
  if (inTensorBoard && !/^#rlscope(&|$)/.test(target.location.hash)) return;
  const hash = inTensorBoard ? `#${PLUGIN}${own && `&${own}`}` : own && `#${own}`;
  if (target.location.hash === hash) return;
  try {
    target.history.replaceState(target.history.state, "", hash || target.location.pathname + target.location.search);
  } catch {
    // a browser that allows no more changes for now: the next one will be kept
  }
}
