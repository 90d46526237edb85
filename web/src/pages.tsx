/** Tables whose rows come page by page. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Common } from "./api";

/** Rows of a table that come page by page. */
export function usePages<T extends { total: number }>(
  props: Common, ask: (offset: number) => Promise<T>, rows: (found: T) => unknown[], key: unknown[] = [],
) {
  const [pages, setPages] = useState<T[]>([]);
  const [wrong, setWrong] = useState("");
  const asked = useRef(0);
  const more = (old: T[]) => {
    const turn = (asked.current += 1);  // an older answer never replaces a newer one
    return ask(old.reduce((sum, page) => sum + rows(page).length, 0))
      .then((found) => { if (turn === asked.current) { setPages([...old, found]); setWrong(""); } })
      .catch((error) => { if (turn === asked.current) setWrong(props.failed(error)); });
  };
  useEffect(() => { more([]); }, [props.model, props.version, JSON.stringify(key)]);
  const left = pages.length ? pages[0].total - pages.reduce((sum, page) => sum + rows(page).length, 0) : 0;
  const button = left > 0 && <button type="button" onClick={() => more(pages)}>{left.toLocaleString("en")} more</button>;
  return { pages, wrong, button };
}
