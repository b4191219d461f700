import type { StoredRecord } from "../core/records.ts";
import type { Append, AppendResult, Store } from "../core/store/contract.ts";

/** Where the keys are written. Neither call fails: it says whether it was done. */
interface Keys {
  set(key: string, value: string, ttlMs: number): Promise<boolean>;
  remove(key: string): Promise<boolean>;
}

interface Setup {
  readonly primary: Pick<Store, "records">;
  readonly cache: Keys;
  /** How long the keys of a workflow's runs live; 0 for not at all. */
  readonly ttlOf: (workflow: string) => number;
}

/** One agent of one analysis, and the checkpoint that its keys show; without one they are removed. */
interface Shown {
  readonly analysis: string;
  readonly agent: string;
  readonly row: StoredRecord["row"] | null;
}

/** An agent whose keys couldn't be written. */
interface Missed {
  readonly run: Append["run"];
  readonly shown: Shown;
}

/** So many are remembered; the keys of others live until their time is up. */
const MOST_MISSED = 1_000;
/** No append waits for more of them than this. */
const SHARE = 10;

/**
 * The newest checkpoint of each agent, in Redis under the names that other programs look for:
 * `checkpoint:{analysis_id}:{agent_type}` and its working memory under `L1:{agent_id}:working`, where the agent's id is
 * `{analysis_id}:{agent_type}`. They are written after the primary has accepted, and nothing is restored from them. What can't be
 * written is written later: a key must not show an older checkpoint, or one that was deleted, to other programs.
 */
export class FastRecords {
  readonly #setup: Setup;
  readonly #missed = new Map<string, Missed>();

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  /** The agents whose records an append is about to remove. */
  async before(batch: readonly Append[]): Promise<ReadonlyMap<Append, readonly StoredRecord[]>> {
    const { primary } = this.#setup;
    const found = new Map<Append, readonly StoredRecord[]>();
    if (!primary.records || !batch.some(removes)) return found;
    for (const append of batch.filter(removes)) {
      const all = await primary.records(append.run.id);
      found.set(append, goneOf(append, all.filter(isOfAgent)));
    }
    return found;
  }

  /** Shows what the accepted appends have changed. */
  async after(
    batch: readonly Append[],
    results: readonly AppendResult[],
    gone: ReadonlyMap<Append, readonly StoredRecord[]>,
  ): Promise<void> {
    const work: Promise<unknown>[] = [];
    for (const [index, append] of batch.entries()) {
      if (!results[index]?.ok) continue;
      const added = (append.records ?? []).filter(isOfAgent);
      for (const record of newest(added)) work.push(this.#show(append.run, shownOf(record)));
      const removed = gone.get(append) ?? [];
      if (removed.length > 0) work.push(this.#retract(append, removed));
    }
    const isRetry = this.#missed.size > 0;
    await Promise.all(work);
    if (isRetry) await this.settle(SHARE);
  }

  /** Writes what was missed, until something can't be written again. */
  async settle(most = Infinity): Promise<void> {
    for (const { run, shown } of [...this.#missed.values()].slice(0, most)) {
      // Others may have saved or deleted since.
      const isWritten = await this.#showNewest(run, [shown]);
      if (!isWritten) return;
    }
  }

  /** The keys of dropped checkpoints show the newest one that is left. */
  async #retract({ run }: Append, removed: readonly StoredRecord[]): Promise<void> {
    await this.#showNewest(run, newest(removed).map(shownOf));
  }

  /** Shows the newest checkpoints of these agents, or none where none is left. */
  async #showNewest(run: Append["run"], agents: readonly Shown[]): Promise<boolean> {
    const left = ((await this.#setup.primary.records?.(run.id).catch(() => [])) ?? []).filter(isOfAgent);
    const remaining = new Map(newest(left).map((record) => [agentOf(record), record]));
    let isWritten = true;
    for (const shown of agents) {
      const other = remaining.get(nameOf(shown));
      isWritten = (await this.#show(run, other ? shownOf(other) : { ...shown, row: null })) && isWritten;
    }
    return isWritten;
  }

  /** Returns whether the keys were written; if not, they are remembered. */
  async #show(run: Append["run"], shown: Shown): Promise<boolean> {
    const isWritten = await this.#write(run.workflow, shown);
    const name = nameOf(shown);
    this.#missed.delete(name);
    if (!isWritten && this.#missed.size < MOST_MISSED) this.#missed.set(name, { run, shown });
    return isWritten;
  }

  async #write(workflow: string, { analysis, agent, row }: Shown): Promise<boolean> {
    const { cache, ttlOf } = this.#setup;
    const ttlMs = ttlOf(workflow);
    const keys = [`checkpoint:${analysis}:${agent}`, `L1:${analysis}:${agent}:working`];
    const texts =
      row && ttlMs > 0 ? [row, row["working_memory"] ?? null].map((one) => JSON.stringify(one)) : [];
    const written = await Promise.all(
      keys.map((key, at) => {
        const text = texts[at];
        return text === undefined ? cache.remove(key) : cache.set(key, text, ttlMs);
      }),
    );
    return written.every(Boolean);
  }
}

const isOfAgent = ({ table }: StoredRecord): boolean => table === "agent_checkpoints";

const removes = ({ drop, claim }: Append): boolean =>
  claim.kind === "erase" || (drop?.records?.length ?? 0) > 0;

function goneOf({ drop, claim }: Append, records: readonly StoredRecord[]): readonly StoredRecord[] {
  if (claim.kind === "erase") return records;
  const gone = new Set(drop?.records);
  return records.filter(({ seq }) => gone.has(seq));
}

const agentOf = ({ row }: StoredRecord): string =>
  `${String(row["analysis_id"])}:${String(row["agent_type"])}`;

const nameOf = ({ analysis, agent }: Shown): string => `${analysis}:${agent}`;

/** The last record of each agent. */
const newest = (records: readonly StoredRecord[]): StoredRecord[] => [
  ...new Map(records.map((record) => [agentOf(record), record])).values(),
];

const shownOf = ({ row }: StoredRecord): Shown => ({
  analysis: String(row["analysis_id"]),
  agent: String(row["agent_type"]),
  row,
});
