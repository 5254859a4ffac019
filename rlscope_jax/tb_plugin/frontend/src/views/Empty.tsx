import { Message } from "../components/Message";
import type { Listing } from "../source";

const EXAMPLE = `import rlscope_jax
with rlscope_jax.profile("LOGDIR") as profiler:  # the directory TensorBoard shows
    state = train_step(state); profiler.step(state)`;

/** Where it looked, why nothing was found, and how to make a recording. */
export function Empty({ listing, onRefresh }: { listing: Listing; onRefresh: () => void }) {
  const shown = listing.looked_in[0]?.path ?? "LOGDIR";
  return (
    <Message title="No recording was found" action="Look again" onAction={onRefresh}>
      <p>A recording is a file <code>plugins/profile/&lt;session&gt;/&lt;host&gt;.xplane.pb</code>. It was looked for in:</p>
      <ul>
        {listing.looked_in.map((one) => (
          <li key={one.path}>
            <code>{one.path}</code>: {one.problem ?? `${one.directories} directories, none with a recording`}
          </li>
        ))}
        {!listing.looked_in.length && <li>nowhere: TensorBoard was started without a log directory</li>}
      </ul>
      {listing.truncated && <p>There are more directories than it looks through; give a log directory nearer to the runs.</p>}
      {listing.unreadable.length > 0 && (
        <>
          <p>These could not be read:</p>
          <ul>{listing.unreadable.map((one) => <li key={one.path}><code>{one.path}</code>: {one.reason}</li>)}</ul>
        </>
      )}
      {listing.lost.length > 0 && (
        <>
          <p>These describe a recording whose file is gone:</p>
          <ul>{listing.lost.slice(0, 10).map((path) => <li key={path}><code>{path}</code></li>)}</ul>
        </>
      )}
      <p>These three lines make one:</p>
      <pre><code>{EXAMPLE.replace("LOGDIR", shown)}</code></pre>
    </Message>
  );
}
