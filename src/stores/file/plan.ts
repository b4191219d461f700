import { claimAfter, refusalAmong, UNCLAIMED } from "../../core/store/claim.ts";
import type { Append, AppendResult, Drop, Entry } from "../../core/store/contract.ts";
import { identityOf } from "../../core/tags.ts";
import type { RunRow } from "../../core/types.ts";
import type { RunPlan } from "./commit.ts";
import { recordName } from "./names.ts";
import { formatPhase } from "./phase-file.ts";
import { formatRecord } from "./record.ts";
import type { Runs } from "./runs.ts";

interface Planned extends RunPlan {
  /** Each with its index in the results. */
  readonly appends: (readonly [index: number, append: Append])[];
}

/** Checks appends against the runs as they will be, and collects the files to write. */
export class Flush {
  readonly plans = new Map<string, Planned>();
  readonly #runs: Runs;
  readonly #now: number;
  readonly #timestamp: string;

  constructor(runs: Runs, now: number) {
    this.#runs = runs;
    this.#now = now;
    this.#timestamp = new Date(now).toISOString();
  }

  /** Dropped values must be deleted before the next record is written: after a crash only the newest record is read. */
  mustGoFirst(append: Append): boolean {
    const plan = this.plans.get(append.run.id);
    return plan !== undefined && (plan.drop !== null || isErasure(append));
  }

  take(append: Append, index: number): AppendResult {
    const { run, expect } = append;
    if (this.#runs.isDamaged(run.id))
      return { ok: false, reason: expect === null ? "exists" : "damaged", row: null };
    const before = this.plans.get(run.id)?.row ?? this.#runs.row(run.id) ?? null;
    const refused = refusalAmong(append, before, this.#now, () => this.#rows());
    if (refused) return refused;
    const row = this.#rowAfter(append, before);
    const plan = this.plans.get(run.id) ?? newPlan(row, before === null);
    this.plans.set(run.id, plan);
    plan.row = row;
    plan.drop = dropOf(append);
    plan.appends.push([index, append]);
    for (const { hash, data } of append.blobs) if (!plan.blobs.has(hash)) plan.blobs.set(hash, data);
    plan.records.push(...this.#records(append, row, plan.drop));
    plan.phases.push(...phasesOf(append));
    return { ok: true };
  }

  /** All runs as they will be. */
  #rows(): RunRow[] {
    const planned = [...this.plans.values()].map(({ row }) => row);
    return [...[...this.#runs.rows()].filter(({ id }) => !this.plans.has(id)), ...planned];
  }

  #rowAfter({ run, entries, head, claim: change }: Append, before: RunRow | null): RunRow {
    const identity = identityOf(before ?? run);
    const claim = claimAfter(before?.claim ?? UNCLAIMED, change, this.#now);
    const last = entries.at(-1) as Entry;
    return settled({ ...run, ...identity, claim, seq: last.seq + last.count - 1, head });
  }

  #records({ entries }: Append, row: RunRow, drop: Drop | null): RunPlan["records"] {
    const timestamp = this.#timestamp;
    return entries.map((entry, index) => {
      const isLast = index === entries.length - 1;
      const record = { entry, timestamp, run: isLast ? row : null, drop: isLast ? drop : null };
      return { seq: entry.seq, name: recordName(entry.seq, timestamp), text: formatRecord(row.id, record) };
    });
  }
}

export const isErasure = ({ claim }: Append): boolean => claim.kind === "erase";

const newPlan = (row: RunRow, isNew: boolean): Planned => ({
  id: row.id,
  isNew,
  records: [],
  blobs: new Map(),
  phases: [],
  drop: null,
  row,
  appends: [],
});

/** Keeps what the append itself writes. */
function dropOf({ drop, entries, blobs }: Append): Drop | null {
  if (!drop) return null;
  const seqs = drop.entries.filter((seq) => !entries.some((entry) => entry.seq === seq));
  const hashes = drop.blobs.filter((hash) => !blobs.some((blob) => blob.hash === hash));
  const { records = [] } = drop;
  if (seqs.length + hashes.length + records.length === 0) return null;
  return { entries: seqs, blobs: hashes, ...(records.length > 0 ? { records } : {}) };
}

const phasesOf = ({ run, records = [] }: Append): RunPlan["phases"] =>
  records
    .filter(({ table }) => table === "phase_checkpoints")
    .map((record) => ({
      phase: Number(record.row["phase"]),
      timestamp: String(record.row["timestamp"]),
      text: formatPhase(run.id, record),
    }));

/** The row exactly as its record will restore it, frozen. */
export const settled = (row: RunRow): RunRow => freeze(JSON.parse(JSON.stringify(row)) as RunRow);

function freeze<T extends object>(value: T): T {
  for (const child of Object.values(value)) if (typeof child === "object" && child !== null) freeze(child);
  return Object.freeze(value);
}
