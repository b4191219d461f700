import type { AuditVerification } from "../../audit/proof/result.ts";
import { checkKeys, checkNumber } from "../../check-options.ts";
import { type ErrorCode, HoldfastError } from "../../errors.ts";
import { rawRow, verified } from "../../journal/door.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { isKeyAway, isUnreadable } from "../../journal/unreadable.ts";
import { everyRun } from "../../store/query.ts";
import type { RunRow } from "../../types.ts";
import type { Problem } from "../checkpoints/problem.ts";
import { validateRun } from "../checkpoints/validate.ts";

/** The runs to check, and a progress callback. */
export interface VerifyOptions {
  /** The maximum number of runs, newest first. Default: all of them. */
  readonly limit?: number;
  /** Called after each run, to show progress. */
  readonly onRun?: (runId: string) => void;
}

/** A run that isn't as it was written. */
export interface DamagedRun {
  readonly runId: string;
  readonly workflow: string;
  readonly problems: readonly Problem[];
  /** The newest undamaged checkpoint; `null` when there is none. */
  readonly lastGood: string | null;
}

/** The result of `verify`. */
export interface StoreVerification {
  /** True when everything that could be checked is as it was written. */
  readonly ok: boolean;
  /** The number of checked runs. */
  readonly runs: number;
  readonly damaged: readonly DamagedRun[];
  /** Problems with the store besides its runs. */
  readonly store: readonly string[];
  /** Runs whose values couldn't be opened because their key isn't available. */
  readonly unchecked: readonly string[];
  /** What the audit log says about the journals; `null`: nothing was ever signed. */
  readonly audit: AuditVerification | null;
}

type Reader = Pick<EngineParts, "store" | "values">;

/**
 * Checks a whole store: each run's row against its journal, its chain from the first entry to the last, every value and
 * blob, and the store's own integrity. Returns damage instead of throwing it.
 */
export async function verifyStore(
  reader: Reader,
  options: VerifyOptions = {},
): Promise<Omit<StoreVerification, "audit">> {
  checkKeys(options, ["limit", "onRun"]);
  const { limit = Number.POSITIVE_INFINITY, onRun } = options;
  checkNumber("limit", limit, { least: 0, most: Infinity });
  const damaged: DamagedRun[] = [];
  const unchecked: string[] = [];
  const store: string[] = [];
  let runs = 0;
  try {
    // A store that is no longer the one that was opened says so when asked for its identity.
    await reader.store.identity();
    store.push(...((await reader.store.check?.()) ?? []));
    for await (const row of everyRun(reader.store)) {
      if (runs >= limit) break;
      runs++;
      const found = await verifyRun(reader, row);
      if (found === "unchecked") unchecked.push(row.id);
      else if (found.problems.length > 0) damaged.push(found);
      onRun?.(row.id);
    }
  } catch (error) {
    // The rest of it can't be read at all.
    if (!isStoreDamage(error)) throw error;
    store.push(error.message);
  }
  return { ok: damaged.length + store.length === 0, runs, damaged, store, unchecked };
}

/** The damage of one run; `unchecked` when its key isn't available. A run that is deleted meanwhile has none. */
export async function verifyRun(reader: Reader, listed: RunRow): Promise<DamagedRun | "unchecked"> {
  const found = await damageOf(reader, listed);
  if (found === "unchecked" || found.problems.length === 0) return found;
  return (await rawRow(reader.store, listed.id)) ? found : about(listed, [], null);
}

async function damageOf(reader: Reader, listed: RunRow): Promise<DamagedRun | "unchecked"> {
  const { store } = reader;
  const row = await verified(store, listed);
  const told: Problem[] =
    row.damage === undefined ? [] : [{ seq: row.seq, kind: "row", problem: row.damage }];
  try {
    // As stored, not as shown to callers that must not continue with it.
    const raw = (await rawRow(store, row.id)) ?? row;
    const { problems, lastGood } = await validateRun(reader, raw, Number.POSITIVE_INFINITY);
    return about(row, [...told, ...problems.filter(({ problem }) => problem !== row.damage)], lastGood);
  } catch (error) {
    if (isKeyAway(error)) return told.length > 0 ? about(row, told, null) : "unchecked";
    if (!isUnreadable(error)) throw error;
    return about(row, told.length > 0 ? told : [{ seq: row.seq, kind: "entry", problem: error.why }], null);
  }
}

const about = (
  { id, workflow }: RunRow,
  problems: readonly Problem[],
  lastGood: string | null,
): DamagedRun => ({ runId: id, workflow, problems, lastGood });

const STORE_DAMAGE: readonly ErrorCode[] = ["HF-3006", "HF-3014", "HF-3020", "HF-3021", "HF-3051"];

const isStoreDamage = (error: unknown): error is HoldfastError =>
  STORE_DAMAGE.some((code) => HoldfastError.is(error, code));
