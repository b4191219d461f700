import { defined } from "../../core/defined.ts";
import { evidenceBundle } from "../../core/manage/evidence/bundle.ts";
import { evidenceFile } from "../../core/manage/evidence/files.ts";
import type { Handlers } from "../call.ts";
import type { evidenceOperations } from "../contract/evidence.ts";

/** The most runs whose journals one request reads. The page says when there are more. */
const MOST_RUNS = 2_000;

export const evidenceRoutes: Handlers<keyof typeof evidenceOperations> = {
  async makeEvidence({ engine, sign, body, principal, act: { actor, reason } }) {
    const { run, month, workflow, format } = body;
    const what = run === undefined ? `month ${month ?? ""}` : `run ${run}`;
    const auth = principal.credential;
    const record = { act: "evidence_exported", actor, reason, what, detail: { format } };
    return engine.audit.carry({ ...record, ...defined({ run, auth }) }, async () => {
      const query = defined({ run, month, workflow });
      const evidence = await engine.reports.evidence({ ...query, runs: MOST_RUNS, by: actor });
      if (format !== "zip") {
        const { name, type, text } = evidenceFile(evidence, format);
        return { name, type, base64: Buffer.from(text).toString("base64"), signed: false };
      }
      const { name, bytes } = await evidenceBundle(evidence, sign);
      const base64 = Buffer.from(bytes).toString("base64");
      return { name, type: "application/zip", base64, signed: sign !== undefined };
    });
  },
};
