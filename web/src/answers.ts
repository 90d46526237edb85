/** The answer to a question, asked again when its key changes; an older answer never replaces a newer one. */

import { useEffect, useState } from "preact/hooks";

export function useAnswer<T>(
  ask: (signal: AbortSignal) => Promise<T> | null, key: unknown[], failed: (error: unknown) => string, wait = 0,
): { answer: T | null; wrong: string } {
  const [found, setFound] = useState<{ answer: T | null; wrong: string }>({ answer: null, wrong: "" });
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      ask(stop.signal)
        ?.then((answer) => { if (!stop.signal.aborted) setFound({ answer, wrong: "" }); })
        .catch((error) => { if (!stop.signal.aborted) { const wrong = failed(error); setFound((old) => ({ ...old, wrong })); } });
    }, wait);
    return () => { clearTimeout(timer); stop.abort(); };
  }, [JSON.stringify(key)]);
  return found;
}
