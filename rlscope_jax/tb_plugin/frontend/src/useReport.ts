import { useCallback, useEffect, useState } from "preact/hooks";
import type { Report } from "./report";
import { isProgress, Refused, type Asked, type Progress, type Source } from "./source";

const WAIT = 300; // ms between two questions while a recording is read

/** The report that is asked for, or how far its reading is; `version` changes when its files do. */
export function useReport(
  source: Source, asked: Asked, version: string,
): [Report | Progress | Refused | null, () => void] {
  const [answer, setAnswer] = useState<Report | Progress | Refused | null>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let [gone, timer] = [false, 0];
    const ask = async (again: boolean): Promise<void> => {
      try {
        const told = await source.report(asked, again);
        if (gone) return;
        setAnswer(told);
        if (isProgress(told)) timer = window.setTimeout(() => void ask(false), WAIT);
      } catch (error) {
        if (!gone) setAnswer(error instanceof Refused ? error : new Refused(String(error), ""));
      }
    };
    void ask(attempt > 0);
    return () => {
      gone = true;
      window.clearTimeout(timer);
    };
  }, [source, asked, version, attempt]);
  return [answer, useCallback(() => setAttempt((number) => number + 1), [])];
}
