/** Tables whose rows come page by page. */

import { useEffect, useState } from "preact/hooks";
import type { Common } from "./api";

/** Rows of a table that come page by page. */
export function usePages<T extends { total: number }>(props: Common, ask: (offset: number) => Promise<T>, rows: (found: T) => unknown[]) {
  const [pages, setPages] = useState<T[]>([]);
  const [wrong, setWrong] = useState("");
  const more = (old: T[]) => ask(old.reduce((sum, page) => sum + rows(page).length, 0))
    .then((found) => { setPages([...old, found]); setWrong(""); })
    .catch((error) => setWrong(props.failed(error)));
  useEffect(() => { more([]); }, [props.model, props.version]);
  const left = pages.length ? pages[0].total - pages.reduce((sum, page) => sum + rows(page).length, 0) : 0;
  const button = left > 0 && <button type="button" onClick={() => more(pages)}>{left.toLocaleString("en")} more</button>;
  return { pages, wrong, button };
}
