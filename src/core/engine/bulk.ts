import { type BulkReport, type Family, isStopped, type OfWorkflow } from "../control/family.ts";
import type { RunStatus } from "../types.ts";
import { checkActs } from "./arguments.ts";

type BulkVerb = "pause" | "resume" | "cancel" | "inject";

/** The runs that each verb is meant for; `{}`: every unfinished one. */
const MEANT: Readonly<Record<BulkVerb, { status?: readonly RunStatus[]; only?: typeof isStopped }>> = {
  pause: { status: ["queued", "running", "waiting"] },
  resume: { status: ["paused", "running"], only: isStopped },
  cancel: {},
  inject: {},
};

/** Does one act to every run of a workflow that it is meant for. Wrong options are refused before the first. */
export async function actOnAll(
  family: Family,
  verb: BulkVerb,
  query: OfWorkflow,
  options: object,
  act: (runId: string) => Promise<unknown>,
): Promise<BulkReport> {
  checkActs(verb, options);
  return family.all(query, act, MEANT[verb]);
}
