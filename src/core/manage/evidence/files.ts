import { checkOneOf } from "../../check-options.ts";
import { plainJson } from "../../values/unseen.ts";
import { toHtml } from "./html.ts";
import { toMarkdown } from "./markdown.ts";
import { pageOf } from "./pages.ts";
import type { Evidence } from "./types.ts";

export const EVIDENCE_FORMATS = ["md", "html", "json"] as const;
export type EvidenceFormat = (typeof EVIDENCE_FORMATS)[number];

/** One file of evidence. */
export interface EvidenceFile {
  readonly name: string;
  readonly type: "text/markdown" | "text/html" | "application/json";
  readonly text: string;
}

/**
 * Evidence as a file: Markdown, one HTML page to read and print, or JSON for programs.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 * import { evidenceFile } from "holdfast/manage";
 *
 * export async function november(engine: Engine): Promise<string> {
 *   const evidence = await engine.reports.evidence({ month: "2026-11", by: "maria" });
 *   return evidenceFile(evidence, "html").text;
 * }
 * ```
 */
export function evidenceFile(evidence: Evidence, format: EvidenceFormat): EvidenceFile {
  checkOneOf("format", format, EVIDENCE_FORMATS);
  const name = `${nameOf(evidence)}.${format}`;
  if (format === "json") return { name, type: "application/json", text: toJson(evidence) };
  const page = pageOf(evidence);
  if (format === "md") return { name, type: "text/markdown", text: toMarkdown(page) };
  return { name, type: "text/html", text: toHtml(page) };
}

/** `evidence-2026-11`, or `evidence-run-recon-88`. Ids of runs can stand in a file name. */
export function nameOf({ subject: { run, month, since } }: Evidence): string {
  if (run !== undefined) return `evidence-run-${run}`;
  return `evidence-${month ?? `since-${new Date(since).toISOString().slice(0, 10)}`}`;
}

const TIME = /^(?:at|since|until|[a-z]+At)$/;

/** With times as ISO 8601 in UTC. */
function toJson(evidence: Evidence): string {
  const told = JSON.stringify(
    evidence,
    (key, value: unknown) =>
      typeof value === "number" && TIME.test(key) ? new Date(value).toISOString() : value,
    2,
  );
  return `${plainJson(told)}\n`;
}
