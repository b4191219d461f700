import { createHash } from "node:crypto";
import type { Declared } from "./contract/declare.ts";
import { openApi } from "./openapi.ts";

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}pre{overflow:auto;padding:.75rem;border:1px solid #8886;border-radius:.4rem}
summary{cursor:pointer}summary code{font-weight:600}section{margin:1.5rem 0}table{border-collapse:collapse}td,th{text-align:left;padding:.2rem .8rem .2rem 0;vertical-align:top}`;

/** The hash with which a content security policy lets the page's one style through. It has no script. */
export const DOCS_STYLE = `'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: unknown;
}

interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
}

/** The API as a page to read, made from its OpenAPI document: no script, nothing from elsewhere. */
export function docsPage(operations: readonly Declared[]): string {
  const { paths } = openApi(operations, "1") as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  };
  const all = operations.map((operation) => {
    const described = paths[operation.path]?.[operation.method.toLowerCase()];
    return described ? section(operation, described) : "";
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Holdfast management API</title><style>${STYLE}</style></head><body><h1>Holdfast management API</h1>
<p>Send <code>Authorization: Bearer hf_…</code>. Times are milliseconds since 1970 by the store's clock. Errors are
<code>application/problem+json</code>: what, why, safe, fix. The same as data: <a href="openapi.json">openapi.json</a>.</p>
${all.join("\n")}</body></html>`;
}

function section({ method, path, permission }: Declared, described: Described): string {
  const { operationId, summary, parameters = [], requestBody, responses } = described;
  const rows = parameters.map(
    ({ name, in: place, required, schema }) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${place}${required ? ", required" : ""}</td><td><code>${escaped(JSON.stringify(schema))}</code></td></tr>`,
  );
  const table = rows.length === 0 ? "" : `<table>${rows.join("")}</table>`;
  const body = requestBody === undefined ? "" : `<h4>Body</h4>${schema(requestBody)}`;
  return `<section id="${operationId}"><details><summary><code>${method} ${escaped(path)}</code> ${escaped(summary)}</summary>
<p><code>${operationId}</code> needs <code>${permission}</code></p>${table}${body}<h4>Answer</h4>${schema(responses["200"])}</details></section>`;
}

const schema = (value: unknown): string => `<pre>${escaped(JSON.stringify(value, null, 1))}</pre>`;

const SPECIAL: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (one) => SPECIAL[one] ?? one);
