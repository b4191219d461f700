import type { Workflow } from "../../context.ts";
import { HoldfastError } from "../../errors.ts";
import type { EngineParts } from "../../journal/parts.ts";
import type { RunRow } from "../../types.ts";
import type { RecoveryPolicy } from "../../worker/recovery.ts";
import { auditEffects } from "./audit.ts";
import type { Restarts } from "./restarts.ts";

type Instead = (row: RunRow, problem: HoldfastError) => Promise<HoldfastError>;

/**
 * For a worker that is about to park a run it can't restore: starts the run afresh if that is configured and possible,
 * and returns the reason to park the old one with. A crash in between does no harm: the new run's id follows from the
 * old one's.
 */
export const insteadOfParking =
  (parts: EngineParts, restarts: Restarts, { onUnrestorable }: RecoveryPolicy): Instead =>
  async (row, problem) => {
    const workflow = parts.workflows.get(row.workflow);
    // A parent waits for its own child, not for another run.
    const isPossible = onUnrestorable === "fresh" && workflow !== undefined && row.parent === null;
    if (!isPossible || !isUnrestorable(row, workflow, problem)) return problem;
    const { logger } = parts.ports;
    try {
      const { effects, complete } = await auditEffects(parts.store, row);
      const told = effects.map(({ step, what }) => `${step} ${what}`).join(", ");
      const about = { runId: row.id, effects: told, complete };
      logger.warn("a run that can't be restored is started over", about);
      const why = `${problem.code} ${problem.message}`;
      const { run } = await restarts.start(row.id, { actor: "worker", reason: why });
      const count = `${effects.length}${complete ? "" : " or more"}`;
      return new HoldfastError("HF-4363", { run: row.id, fresh: run.id, why, count }, { cause: problem });
    } catch (error) {
      logger.error("a fresh start failed", { runId: row.id, error: String(error) });
      return problem;
    }
  };

/** Damaged, or of another major version without a way to this one. */
function isUnrestorable(row: RunRow, workflow: Workflow, { code }: HoldfastError): boolean {
  if (code === "HF-3010") return true;
  const isOfVersions = code === "HF-2114" || code === "HF-2115";
  return isOfVersions && majorOf(row.version) !== majorOf(workflow.version);
}

const majorOf = (version: string): string => /^\D*(\d+)/.exec(version)?.[1] ?? version;
