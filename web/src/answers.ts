/** The answer to a question, asked again when its key changes; an older answer never replaces a newer one, and says that it is old. */

import { useEffect, useState } from "preact/hooks";

export function useAnswer<T>(
  ask: (signal: AbortSignal) => Promise<T> | null, key: unknown[], failed: (error: unknown) => string, wait = 0,
): { answer: T | null; wrong: string; isOld: boolean } {
  const [found, setFound] = useState<{ answer: T | null; wrong: string; of: string }>({ answer: null, wrong: "", of: "" });
  const of = JSON.stringify(key);
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      ask(stop.signal)
        ?.then((answer) => { if (!stop.signal.aborted) setFound({ answer, wrong: "", of }); })
        .catch((error) => { if (!stop.signal.aborted) { const wrong = failed(error); setFound((old) => ({ ...old, wrong, of })); } });
    }, wait);
    return () => { clearTimeout(timer); stop.abort(); };
  }, [of]);
  return { answer: found.answer, wrong: found.wrong, isOld: found.of !== of };
}
