/** The description of the API, which only a page with a server has. */

import { useEffect, useState } from "preact/hooks";
import { description } from "./http";
import type { PanelProps } from "./state";
import { Wrong } from "./wrong";

/** The OpenAPI description as a page. */
export function ApiView(props: PanelProps) {
  const [api, setApi] = useState<any>(null);
  const [wrong, setWrong] = useState("");
  useEffect(() => { description().then(setApi).catch((error) => setWrong(props.failed(error))); }, []);
  if (!api) return <section class="view"><Wrong text={wrong} /></section>;
  const name = (schema: any): string => schema?.$ref?.split("/").pop() ?? "";
  return (
    <section class="view api" aria-label="API">
      <p>Everything on this page is a question to a JSON API, described by OpenAPI at <a href="api/openapi.json">api/openapi.json</a>.</p>
      {Object.entries<any>(api.paths).flatMap(([path, methods]) => Object.entries<any>(methods).map(([method, what]) => {
        const body = name(what.requestBody?.content?.["application/json"]?.schema);
        const answer = name(what.responses?.["200"]?.content?.["application/json"]?.schema);
        return (
          <details>
            <summary><b>{method.toUpperCase()}</b> <code>{path}</code> {what.description ?? what.summary}</summary>
            {what.parameters?.length > 0 && <ul>{what.parameters.map((p: any) => <li><code>{p.name}</code> ({p.in}) {JSON.stringify(p.schema)}</li>)}</ul>}
            {body && <><p>Takes {body}</p><pre>{JSON.stringify(api.components.schemas[body].properties, null, 2)}</pre></>}
            {answer && <><p>Gives {answer}</p><pre>{JSON.stringify(api.components.schemas[answer].properties, null, 2)}</pre></>}
          </details>
        );
      }))}
    </section>
  );
}
