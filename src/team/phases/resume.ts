import { checkKeys, checkMethod, checkParts } from "../../core/check-options.ts";
import type { Engine } from "../../core/engine/engine.ts";
import { HoldfastError } from "../../core/errors.ts";
import { checkId } from "../../core/ids.ts";
import type { Run } from "../../core/types.ts";
import type { PhaseTeam } from "./phase-team.ts";

/**
 * Goes back to the beginning of a phase: a new run that continues from there, with everything that earlier phases
 * have produced. The run itself stays as it is. A run that was interrupted needs only `resume`: it continues inside its
 * phase.
 *
 * @example
 * ```ts
 * import type { Engine, Run } from "holdfast";
 * import { type PhaseTeam, resumeFromPhase } from "holdfast/team";
 *
 * export const again = (engine: Engine, team: PhaseTeam, run: string): Promise<Run> =>
 *   resumeFromPhase(engine, team, run, 2);
 * ```
 */
export async function resumeFromPhase<I>(
  engine: Engine,
  team: PhaseTeam<I>,
  runId: string,
  phase: number | string,
  options: { readonly id?: string; readonly reason?: string } = {},
): Promise<Run> {
  checkMethod("engine", engine, "register");
  checkParts("team", team, { phases: "list" });
  checkId(runId);
  checkKeys(options, ["id", "reason"]);
  const index = typeof phase === "number" ? phase - 1 : team.phases.findIndex(({ name }) => name === phase);
  if (!team.phases[index]) {
    const known = team.phases.map(({ name }, at) => `${at + 1} (${name})`).join(", ");
    throw new HoldfastError("HF-4531", { phase: String(phase).slice(0, 80), known });
  }
  engine.register(team);
  try {
    return await engine.fork(`${runId}@phase ${index + 1} started`, options);
  } catch (error) {
    const isMissing = HoldfastError.is(error, "HF-1022");
    if (!isMissing && !HoldfastError.is(error, "HF-1023")) throw error;
    const before = team.phases[index - 1];
    const end = before && (await endOf(engine, runId, before.name));
    if (end !== undefined) return engine.fork(end, options);
    throw isMissing
      ? new HoldfastError("HF-4532", { run: runId, phase: index + 1 }, { cause: error })
      : error;
  }
}

/**
 * The address of a phase's end, which is where the next one begins. It is the newest checkpoint of its phase, so it
 * stays longer than the first one of the next phase.
 */
async function endOf(engine: Engine, runId: string, phase: string): Promise<string | undefined> {
  for (let before: number | undefined; ; ) {
    const page = await engine.checkpoints.list(runId, {
      all: true,
      limit: 500,
      ...(before === undefined ? {} : { before }),
    });
    const end = page.find(({ kind, step }) => kind === "loop_advanced" && step === phase);
    if (end) return end.id;
    before = page.at(-1)?.seq;
    if (before === undefined) return undefined;
  }
}
