import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Empty } from "./views/Empty";
import { viewOf, viewsOf, type RecordingView, type View } from "./views/registry";
import { Message, Reading } from "./components/Message";
import { Toolbar } from "./components/Toolbar";
import { isCorrected } from "./model";
import { useReport } from "./useReport";
import { isProgress, Refused, type Listing, type Recording, type Source } from "./source";
import { readAddress, writeAddress, type State } from "./state";
import { useDark } from "./theme";

/** What every view is given. */
export interface Page {
  source: Source;
  state: State;
  dark: boolean;
  change: (part: Partial<State>) => void;
}

export function App({ source }: { source: Source }) {
  const dark = useDark();
  const [state, setState] = useState<State>(readAddress);
  const [listing, setListing] = useState<Listing | Refused | null>(null);
  useEffect(() => writeAddress(state), [state]);
  useEffect(() => {
    const follow = () => setState(readAddress());
    window.addEventListener("hashchange", follow);
    return () => window.removeEventListener("hashchange", follow);
  }, []);

  const refresh = useListing(source, setListing);
  const recordings = listing && !(listing instanceof Refused) ? listing.recordings : [];
  const chosen = recordings.find((one) => one.run === state.run && one.name === state.name) ?? recordings[0] ?? null;
  // Until something is chosen the newest is shown; then this one, also to whom the address is sent.
  const change = useCallback(
    (part: Partial<State>) =>
      setState((known) => ({ ...known, ...(chosen && { run: chosen.run, name: chosen.name }), ...part })),
    [chosen?.run, chosen?.name],
  );
  const page: Page = { source, state, dark, change };

  if (listing === null) return <main class="page"><Message title="Looking for recordings…" /></main>;
  if (listing instanceof Refused) {
    return (
      <main class="page">
        <Message title={listing.message} kind="bad" hint={listing.hint} action="Try again" onAction={refresh} />
      </main>
    );
  }
  if (!chosen && !listing.tunings.length) return <main class="page"><Empty listing={listing} onRefresh={refresh} /></main>;
  const views = viewsOf(listing, source.embedded);
  const view = viewOf(state.view, views);
  if (view.of === "tuning") {
    return (
      <>
        <Toolbar page={page} views={views} view={view} chosen={chosen} listing={listing} report={null} viewer={null} />
        <main class="page" id="view"><view.Component page={page} listing={listing} run={chosen?.run ?? null} /></main>
      </>
    );
  }
  return chosen && (
    <Chosen key={`${chosen.run}|${chosen.name}`} page={page} views={views} view={view} chosen={chosen} listing={listing} />
  );
}

/** Asks for the list now, again while the server looks for the first time, and when TensorBoard reloads. */
function useListing(source: Source, tell: (answer: Listing | Refused) => void): () => void {
  const timer = useRef(0);
  const ask = useCallback(
    async (again: boolean) => {
      window.clearTimeout(timer.current);
      try {
        const answer = await source.recordings(again);
        if (answer.looking) timer.current = window.setTimeout(() => void ask(false), 500);
        if (!answer.looking || answer.recordings.length || answer.tunings.length) tell(answer);
      } catch (error) {
        tell(error instanceof Refused ? error : new Refused(String(error), ""));
      }
    },
    [source, tell],
  );
  useEffect(() => {
    void ask(false);
    // TensorBoard's reload button (and its timer) calls this, where a frame has it.
    const frame = frameOf() as (Element & { reload?: () => void }) | null;
    if (frame) frame.reload = () => void ask(true);
    return () => window.clearTimeout(timer.current);
  }, [ask]);
  return useCallback(() => void ask(true), [ask]);
}

function frameOf(): Element | null {
  try {
    return window.frameElement;
  } catch {
    return null;
  }
}

interface ChosenProps {
  page: Page;
  views: View[];
  view: RecordingView;
  chosen: Recording;
  listing: Listing;
}

function Chosen({ page, views, view, chosen, listing }: ChosenProps) {
  const { source, state } = page;
  const asked = useMemo(
    () => ({ run: chosen.run, name: chosen.name, group: state.group }),
    [chosen.run, chosen.name, state.group],
  );
  const [answer, again] = useReport(source, asked, `${chosen.changed}|${chosen.bytes}`);
  const [viewer, setViewer] = useState<string | null>(null);
  useEffect(() => {
    // Several windows are several sessions: none of them is this recording.
    if (chosen.sessions.length === 1) void source.traceViewer(asked).then(setViewer);
  }, [source, asked, chosen.sessions.length]);

  const report = answer && !(answer instanceof Refused) && !isProgress(answer) ? answer : null;
  const corrected = state.corrected && report !== null && isCorrected(report);
  const shown = { ...page, state: { ...state, corrected } };
  const { key, Component } = view;
  return (
    <>
      <Toolbar
        page={page} views={views} view={view} chosen={chosen} listing={listing} report={report} viewer={viewer}
      />
      <main class="page" id="view">
        {answer === null && <Message title="Opening the recording…" />}
        {answer instanceof Refused && (
          <Message
            title="This recording cannot be shown" kind="bad" hint={answer.hint} action="Try again" onAction={again}
          >
            <p>{answer.message}</p>
          </Message>
        )}
        {answer && !(answer instanceof Refused) && isProgress(answer) && <Reading progress={answer} />}
        {report && <Component key={key} page={shown} report={report} asked={asked} />}
      </main>
    </>
  );
}
