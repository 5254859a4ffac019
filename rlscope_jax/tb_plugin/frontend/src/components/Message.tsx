import type { ComponentChildren } from "preact";
import type { Progress } from "../source";

interface Props {
  title: string;
  kind?: "plain" | "bad";
  hint?: string;
  action?: string;
  onAction?: () => void;
  children?: ComponentChildren;
}

export function Message({ title, kind = "plain", hint, action, onAction, children }: Props) {
  return (
    <section class={`message ${kind}`} role={kind === "bad" ? "alert" : "status"}>
      <h1>{title}</h1>
      {children}
      {hint && <p>{hint}</p>}
      {action && <button type="button" class="action" onClick={onAction}>{action}</button>}
    </section>
  );
}

/** How far the reading of a recording is. */
export function Reading({ progress }: { progress: Progress }) {
  const percent = Math.round(100 * progress.progress);
  const waits = progress.state === "waiting";
  const before = progress.ahead > 1 ? `after ${progress.ahead - 1} others` : "as soon as another one is done";
  return (
    <Message title={waits ? `This recording is read ${before}` : "Reading the recording"}>
      <progress aria-label="Reading" max={100} value={waits || !percent ? undefined : percent} />
      <p>{waits ? "Waiting" : doing(progress)}. What is read is kept: the next time it opens at once.</p>
    </Message>
  );
}

function doing({ stage, progress }: Progress): string {
  if (stage === "writing") return "Adding up";
  return stage === "starting" ? "Starting" : `${Math.round(100 * progress)} % decoded`;
}
