import type { Engine } from "../../core/engine/engine.ts";
import type { EngineOptions } from "../../core/engine/options.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Policy, PolicyVerdict } from "../../core/guards/policy.ts";
import type { Act } from "../../core/journal/act.ts";
import { endsIn } from "../../core/keys.ts";
import type { RetentionPolicy } from "../../core/manage/retention/policy.ts";
import type { Store } from "../../core/store/contract.ts";
import { ended, type RunRow } from "../../core/types.ts";
import { fileSettings } from "../config/engine-settings.ts";
import type { CommandContext } from "../context.ts";
import { onlyFamilyOf } from "../own-runs.ts";
import { ownerOf } from "../owner.ts";
import { type Code, keepingOf } from "../workflows.ts";

interface Wanted {
  readonly store: Store;
  readonly code: Code;
  readonly runId: string;
  readonly act: Act;
  /** Steps to stop before. */
  readonly breakAt?: readonly string[] | undefined;
}

/** Creates an engine that advances one run and the runs that it starts, and no others. */
export async function engineFor(context: CommandContext<unknown>, wanted: Wanted): Promise<Engine> {
  const { store, code, runId, act, breakAt = [] } = wanted;
  const pause = async (step: string): Promise<void> => {
    await engine.pause(runId, { ...act, reason: `breakpoint before ${step}` });
  };
  const options: Partial<EngineOptions> = {
    execute: true,
    store: onlyFamilyOf(store, runId),
    workflows: code.all,
    // A person is watching, so acts of others should be seen soon.
    sweepMs: 250,
    ...fileSettings(await context.settings(), code.workflow.name, keepingOf(code)),
    ...(breakAt.length === 0 ? {} : { policy: breakpoints(breakAt, pause) }),
    // The store is in memory already, and this command must see the run.
    ...(context.unsaved === undefined ? {} : { saving: true }),
  };
  const engine: Engine = await context.engine(options);
  if (context.unsaved === undefined) context.atEnd(() => retained(context, engine, runId, options.retention));
  return engine;
}

/** How long a command may spend on the runs of others before it exits. */
const SWEEP_MS = 250;

/** A command ends before any sweep, so it applies retention before it exits: to its own run, then to all the others. */
async function retained(
  context: CommandContext<unknown>,
  engine: Engine,
  run: string,
  policy: RetentionPolicy = "default",
): Promise<void> {
  const { out } = context;
  try {
    await engine.retention.prune(policy, { run });
    const all = await context.engine();
    await all.retention.prune(policy, { signal: AbortSignal.timeout(SWEEP_MS) });
  } catch (error) {
    out.detail(`no values of ${run} were dropped: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A pause written before a step's intent prevents the intent. */
const breakpoints = (steps: readonly string[], pause: (step: string) => Promise<void>): Policy => ({
  version: "breakpoints",
  async decide({ step }): Promise<PolicyVerdict> {
    if (steps.some((one) => step === one || endsIn(step, one))) await pause(step);
    return "allow";
  },
});

/** Refuses a run that another process has (HF-4311), unless that process has died: then a worker takes the run at once. */
export async function readUnheld(store: Store, runId: string): Promise<RunRow> {
  const [row, now] = [await store.read(runId), await store.now()];
  if (!row) throw new HoldfastError("HF-1001", { run: runId });
  const owner = ended(row.status) || row.status === "paused" ? undefined : ownerOf(row, now);
  if (!owner) return row;
  if (!owner.isDead)
    throw new HoldfastError("HF-4311", {
      run: runId,
      owner: owner.name,
      until: new Date(owner.until).toISOString(),
    });
  return row;
}
