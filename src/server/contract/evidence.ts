import { z } from "zod";
import { declare } from "./declare.ts";
import { reason, runId, workflowName } from "./shapes.ts";

/** Documents for auditors. */
export const evidenceOperations = {
  makeEvidence: declare("makeEvidence", {
    summary:
      "The four reports for auditors about a month or one run, as a document, signed if the server has an audit key. It is recorded.",
    permission: "audit:read",
    verb: { library: "engine.reports.evidence", cli: "report evidence" },
    body: z.strictObject({
      reason,
      run: runId.exactOptional(),
      month: z
        .string()
        .regex(/^\d{4}-(0[1-9]|1[0-2])$/)
        .exactOptional()
        .meta({ description: "In UTC, such as 2026-11; either this or a run" }),
      workflow: workflowName.exactOptional(),
      format: z.enum(["md", "html", "json", "zip"]).default("zip"),
    }),
    answer: z.object({
      name: z.string().meta({ description: "What to call the file" }),
      type: z.string(),
      base64: z.string().meta({ description: "The file" }),
      signed: z.boolean().meta({ description: "A bundle has a signed list of its files in it" }),
    }),
  }),
};
