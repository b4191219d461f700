import { defined } from "../../defined.ts";
import { HoldfastError } from "../../errors.ts";
import { ChainCheck } from "../../journal/journal.ts";
import { entryPages, headEvents } from "../../journal/read.ts";
import { isDone, type LoggedStep, StepLog } from "../../journal/step-log.ts";
import type { Entry, Store } from "../../store/contract.ts";
import { everyRun } from "../../store/query.ts";
import type { Effect, RunRow } from "../../types.ts";

/** An effect of a run that would happen a second time if the run were started afresh. */
export interface PossibleDuplicate {
  /** The run that has it: the run itself, or one that it started. */
  readonly run: string;
  readonly step: string;
  readonly effect: Exclude<Effect, "repeatable">;
  /** `happened`: its outcome is recorded. `may have happened`: its intent is, and no outcome. */
  readonly what: "happened" | "may have happened";
  readonly at: number;
  /** The fingerprint of its idempotency key. A fresh run uses another key. */
  readonly key?: string;
}

/** What a fresh start of a run could do twice, as far as its journal can still be read. */
export interface EffectAudit {
  readonly run: string;
  readonly workflow: string;
  readonly version: string;
  /** `false`: part of the journal can't be read, so there may be more than is listed. */
  readonly complete: boolean;
  readonly effects: readonly PossibleDuplicate[];
}

/** Reads headers only: neither values nor keys are needed, and what is damaged is passed over. */
export async function auditEffects(store: Store, row: RunRow): Promise<EffectAudit> {
  const { id: run, workflow, version } = row;
  const effects: PossibleDuplicate[] = [];
  let complete = true;
  for await (const one of family(store, row)) {
    const { log, isWhole } = await readLog(store, one);
    complete &&= isWhole;
    for (const step of log.steps()) effects.push(...duplicateOf(one.id, step));
  }
  return { run, workflow, version, complete, effects };
}

/** The run, and those below it. */
async function* family(store: Store, row: RunRow): AsyncGenerator<RunRow> {
  yield row;
  for await (const child of everyRun(store, { parent: row.id })) yield* family(store, child);
}

async function readLog(store: Store, row: RunRow): Promise<{ log: StepLog; isWhole: boolean }> {
  const log = new StepLog();
  const chain = new ChainCheck(row.id, 1, "");
  let isWhole = row.damage === undefined;
  const follows = (entry: Entry): boolean => {
    try {
      // Values may have been dropped or be encrypted; the chain is one of heads.
      return chain.take({ ...entry, data: null }).events.length > 0;
    } catch {
      return false;
    }
  };
  try {
    for await (const page of entryPages(store, row.id, 1, row.seq))
      for (const entry of page) {
        isWhole &&= follows(entry);
        for (const event of readable(row.id, entry)) log.take(event);
      }
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    isWhole = false;
  }
  return { log, isWhole: isWhole && log.seq === row.seq };
}

function readable(runId: string, entry: Entry): ReturnType<typeof headEvents> {
  try {
    return headEvents(runId, entry);
  } catch {
    return [];
  }
}

function* duplicateOf(run: string, logged: LoggedStep): Generator<PossibleDuplicate> {
  const { step, record, attempts, at } = logged;
  const { effect, key, type, status } = record;
  const last = attempts.at(-1);
  // What a transaction wrote would be written again.
  const risk = type === "transaction" ? "once" : type === "call" ? effect : "repeatable";
  if (risk === "repeatable" || !last || logged.isCopied) return;
  if (logged.instead !== undefined || status === "failed") return;
  const what = isDone(logged) ? "happened" : "may have happened";
  yield { run, step, effect: risk, what, at: last.endedAt ?? at, ...defined({ key }) };
}
