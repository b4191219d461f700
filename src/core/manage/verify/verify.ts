import { type ErrorCode, HoldfastError } from "../../errors.ts";
import { rawRow, verified } from "../../journal/door.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { isKeyAway, isUnreadable } from "../../journal/unreadable.ts";
import { everyRun } from "../../store/query.ts";
import type { RunRow } from "../../types.ts";
import type { Problem } from "../checkpoints/problem.ts";
import { validateRun } from "../checkpoints/validate.ts";

/** Which runs are looked at, and who is told of each. */
export interface VerifyOptions {
  /** Only so many, the newest first. Default: all of them. */
  readonly limit?: number;
  /** Called after each run, for those who show how far it is. */
  readonly onRun?: (runId: string) => void;
}

/** A run that is not as it was written. */
export interface DamagedRun {
  readonly runId: string;
  readonly workflow: string;
  readonly problems: readonly Problem[];
  /** The newest checkpoint that no damage has touched; `null` when there is none. */
  readonly lastGood: string | null;
}

/** What `verify` found. */
export interface StoreVerification {
  /** Everything that could be checked is as it was written. */
  readonly ok: boolean;
  /** How many runs were checked. */
  readonly runs: number;
  readonly damaged: readonly DamagedRun[];
  /** What is wrong with the store besides its runs. */
  readonly store: readonly string[];
  /** Runs whose values could not be opened, because their key is not at hand. */
  readonly unchecked: readonly string[];
}

type Reader = Pick<EngineParts, "store" | "values">;

/**
 * Checks a whole store: each run's row against its journal, its chain from the first entry to the last, every value and blob, and what
 * the store can say about itself. Damage is an answer, never an exception.
 */
export async function verifyStore(
  reader: Reader,
  { limit = Number.POSITIVE_INFINITY, onRun }: VerifyOptions = {},
): Promise<StoreVerification> {
  const damaged: DamagedRun[] = [];
  const unchecked: string[] = [];
  const store: string[] = [];
  let runs = 0;
  try {
    // A store that is not the one any more that was opened says so when it is asked who it is.
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
    // The rest of it cannot be read at all.
    if (!isStoreDamage(error)) throw error;
    store.push(error.message);
  }
  return { ok: damaged.length + store.length === 0, runs, damaged, store, unchecked };
}

/** What is wrong with one run; `unchecked` where its key is not at hand. */
export async function verifyRun(reader: Reader, listed: RunRow): Promise<DamagedRun | "unchecked"> {
  const { store } = reader;
  const row = await verified(store, listed);
  const told: Problem[] =
    row.damage === undefined ? [] : [{ seq: row.seq, kind: "row", problem: row.damage }];
  try {
    // As it is stored, not as it is shown to those who must not go on with it.
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
