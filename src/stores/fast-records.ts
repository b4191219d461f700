import type { StoredRecord } from "../core/records.ts";
import type { Append, AppendResult, Store } from "../core/store/contract.ts";

/** Where the keys are written. Neither call fails: a key that can't be written is left to its time to live. */
interface Keys {
  set(key: string, value: string, ttlMs: number): Promise<unknown>;
  remove(key: string): Promise<unknown>;
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

/**
 * The newest checkpoint of each agent, in Redis under the names that other programs look for:
 * `checkpoint:{analysis_id}:{agent_type}` and its working memory under `L1:{agent_id}:working`, where the agent's id is
 * `{analysis_id}:{agent_type}`. They are written after the primary has accepted, and nothing is restored from them.
 */
export class FastRecords {
  readonly #setup: Setup;

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
    const work: Promise<void>[] = [];
    for (const [index, append] of batch.entries()) {
      if (!results[index]?.ok) continue;
      const { workflow } = append.run;
      const added = (append.records ?? []).filter(isOfAgent);
      for (const record of newest(added)) work.push(this.#show(workflow, shownOf(record)));
      const removed = gone.get(append) ?? [];
      if (removed.length > 0) work.push(this.#retract(append, removed));
    }
    await Promise.all(work);
  }

  /** The keys of dropped checkpoints show the newest one that is left. */
  async #retract({ run }: Append, removed: readonly StoredRecord[]): Promise<void> {
    const left = ((await this.#setup.primary.records?.(run.id).catch(() => [])) ?? []).filter(isOfAgent);
    const remaining = new Map(newest(left).map((record) => [agentOf(record), record]));
    for (const record of newest(removed)) {
      const other = remaining.get(agentOf(record));
      await this.#show(run.workflow, other ? shownOf(other) : { ...shownOf(record), row: null });
    }
  }

  async #show(workflow: string, { analysis, agent, row }: Shown): Promise<void> {
    const { cache, ttlOf } = this.#setup;
    const ttlMs = ttlOf(workflow);
    const keys = [`checkpoint:${analysis}:${agent}`, `L1:${analysis}:${agent}:working`];
    const texts =
      row && ttlMs > 0 ? [row, row["working_memory"] ?? null].map((one) => JSON.stringify(one)) : [];
    await Promise.all(
      keys.map((key, at) => {
        const text = texts[at];
        return text === undefined ? cache.remove(key) : cache.set(key, text, ttlMs);
      }),
    );
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

/** The last record of each agent. */
const newest = (records: readonly StoredRecord[]): StoredRecord[] => [
  ...new Map(records.map((record) => [agentOf(record), record])).values(),
];

const shownOf = ({ row }: StoredRecord): Shown => ({
  analysis: String(row["analysis_id"]),
  agent: String(row["agent_type"]),
  row,
});
