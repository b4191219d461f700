import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import { keepRecent } from "../recent.ts";
import type { AnySqlHandle, SqlWork } from "../sql.ts";
import { type RunRow, terminal } from "../types.ts";
import { claimAfter, UNCLAIMED } from "./claim.ts";
import type {
  Append,
  AppendResult,
  Entry,
  RunPage,
  RunRange,
  SqlTransaction,
  Store,
  StoreCapabilities,
  StoreIdentity,
  TransactionResult,
} from "./contract.ts";
import { DELETED_RUNS, wasDeleted } from "./deleted.ts";
import type { Documents } from "./documents.ts";
import { sealOf } from "./hand-through.ts";
import { refuseSealed } from "./refuse-sealed.ts";

/** A run's last position that was acknowledged to this process. */
interface Mark {
  readonly epoch: number;
  readonly seq: number;
  readonly head: string;
  /** True when it has ended for good, so that a store may forget it. */
  readonly isOver: boolean;
  readonly createdAt: number;
}

const ANOTHER = "it was restored or created again";

/** The number of runs to remember, most recent first. */
const MOST_MARKS = 20_000;

/**
 * Wraps an engine's store and remembers what it has acknowledged here. Whatever was acknowledged before a question must
 * be in the answer; if it isn't, the store went back in time (HF-3020) and is no longer used: continuing from there
 * would repeat what the lost part had done.
 */
export class SeenStore implements Store {
  readonly name: string;
  readonly blinding?: string;
  readonly prepare?: NonNullable<Store["prepare"]>;
  readonly check?: NonNullable<Store["check"]>;
  readonly setCacheTtl?: NonNullable<Store["setCacheTtl"]>;
  readonly changes?: NonNullable<Store["changes"]>;
  readonly documents?: Documents;
  readonly count?: NonNullable<Store["count"]>;
  readonly glance?: NonNullable<Store["glance"]>;
  readonly peek?: NonNullable<Store["peek"]>;
  readonly outlines?: NonNullable<Store["outlines"]>;
  readonly blobNames?: NonNullable<Store["blobNames"]>;
  readonly transaction?: SqlTransaction;
  readonly #base: Store;
  readonly #onBack: (error: HoldfastError) => void;
  readonly #marks = new Map<string, Mark>();
  #incarnation: string | undefined;
  #back: HoldfastError | undefined;
  /** The check that the store is opened correctly: done, or in progress. */
  #opened: Promise<void> | true | undefined;

  constructor(base: Store, onBack: (error: HoldfastError) => void) {
    this.name = base.name;
    this.#base = base;
    this.#onBack = onBack;
    Object.assign(this, sealOf(base));
    const count = base.count?.bind(base);
    const peek = base.peek?.bind(base);
    const outlines = base.outlines?.bind(base);
    if (outlines) this.outlines = (...range) => this.#ask(() => outlines(...range));
    const blobNames = base.blobNames?.bind(base);
    if (blobNames) this.blobNames = (runId) => this.#ask(() => blobNames(runId));
    const glance = base.glance?.bind(base);
    // It may be older than what was acknowledged, so it's no evidence of a store that went back.
    if (glance) this.glance = (runId) => this.#ask(() => glance(runId));
    if (peek) this.peek = (...blob) => this.#ask(() => peek(...blob));
    if (count) this.count = (query) => this.#ask(() => count(query));
    if (base.documents) this.documents = this.#askedDocuments(base.documents);
    if (base.transaction) this.transaction = (work, append) => this.#transact(work, append);
  }

  get capabilities(): StoreCapabilities {
    return this.#base.capabilities;
  }

  #askedDocuments(base: Documents): Documents {
    return {
      read: (kind, key) => this.#ask(() => base.read(kind, key)),
      list: (kind, page) => this.#ask(() => base.list(kind, page)),
      write: (batch) => this.#ask(() => base.write(batch)),
    };
  }

  async identity(): Promise<StoreIdentity> {
    const identity = await this.#ask(() => this.#base.identity());
    this.#incarnation ??= identity.incarnation;
    if (this.#incarnation !== identity.incarnation) throw this.#wentBack(ANOTHER);
    return identity;
  }

  now(): Promise<number> {
    return this.#ask(() => this.#base.now());
  }

  async append(batch: readonly Append[]): Promise<readonly AppendResult[]> {
    const before = batch.map(({ run }) => this.#marks.get(run.id));
    const results = await this.#ask(() => this.#base.append(batch));
    for (const [index, append] of batch.entries()) {
      const checking = this.#appended(append, results[index], before[index]);
      if (checking) await checking;
    }
    return results;
  }

  async renew(batch: Parameters<Store["renew"]>[0]): Promise<readonly (RunRow | null)[]> {
    const before = batch.map(({ runId }) => this.#marks.get(runId));
    const rows = await this.#ask(() => this.#base.renew(batch));
    for (const [index, { runId }] of batch.entries()) {
      const row = rows[index];
      if (row) await this.#see(runId, row, before[index]);
      // A missing claim was taken by another worker, or by a store that went back.
      else if (before[index]) await this.read(runId);
    }
    return rows;
  }

  async read(runId: string): Promise<RunRow | null> {
    const before = this.#marks.get(runId);
    const row = await this.#ask(() => this.#base.read(runId));
    await this.#see(runId, row, before);
    return row;
  }

  entries(runId: string, range: RunRange): Promise<readonly Entry[]> {
    return this.#ask(() => this.#base.entries(runId, range));
  }

  blobs(runId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#ask(() => this.#base.blobs(runId, hashes));
  }

  async list(query: Parameters<Store["list"]>[0]): Promise<RunPage> {
    const page = await this.#ask(() => this.#base.list(query));
    return { ...page, runs: page.runs.filter(({ id }) => id !== DELETED_RUNS) };
  }

  /**
   * Lists may lag by a moment, so a run that seems to have gone back is read directly. One that has only moved is left
   * out: it may be paused by now, and the next list says whether it is still due.
   */
  async due(query: Parameters<Store["due"]>[0]): Promise<readonly RunRow[]> {
    const rows = await this.#ask(() => this.#base.due(query));
    const old = rows.filter((row) => row.damage === undefined && isBehind(row, this.#marks.get(row.id)));
    await Promise.all(old.map(({ id }) => this.read(id)));
    return rows.filter((row) => !old.includes(row));
  }

  close(): Promise<void> {
    return this.#base.close();
  }

  async #transact<T, S extends AnySqlHandle>(
    work: SqlWork<T, S>,
    append: (value: T) => Append,
  ): Promise<TransactionResult<T>> {
    let made: Append | undefined;
    let before: Mark | undefined;
    const keep = (value: T): Append => {
      made = append(value);
      before = this.#marks.get(made.run.id);
      return made;
    };
    const done = await this.#ask(() => (this.#base as Required<Store>).transaction(work, keep));
    if (made) await this.#appended(made, done.result, before);
    return done;
  }

  async #ask<T>(question: () => Promise<T>): Promise<T> {
    if (this.#back) throw this.#back;
    if (this.#opened !== true) await this.#open();
    try {
      return await question();
    } catch (error) {
      if (HoldfastError.is(error, "HF-3021")) throw this.#wentBack("what it held is gone", error);
      throw HoldfastError.is(error, "HF-3051") ? this.#wentBack(ANOTHER, error) : error;
    }
  }

  /** Runs once, before anything else is asked. If the store doesn't answer now, it is checked again later. */
  async #open(): Promise<void> {
    this.#opened ??= refuseSealed(this.#base);
    try {
      await this.#opened;
      this.#opened = true;
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }

  /** A promise only if the store must be asked. */
  #appended(append: Append, result: AppendResult | undefined, before?: Mark): Promise<void> | undefined {
    const { run, expect, claim } = append;
    if (!result || (!result.ok && result.reason === "damaged")) return undefined;
    if (!result.ok) return this.#see(run.id, result.row, before);
    if (claim.kind === "erase") this.#marks.delete(run.id);
    else if (expect === null && before && !before.isOver) return this.#createdAgain(append, before);
    else this.#mark(run.id, markAfter(append, before), expect === null);
    return undefined;
  }

  async #createdAgain(append: Append, before: Mark): Promise<void> {
    const { id } = append.run;
    if (!(await this.#wasDeleted(id, before))) throw this.#wentBack(`run ${id} was gone`);
    this.#mark(id, markAfter(append, before), true);
  }

  /** Someone may have deleted the run that was seen here, and even started another one with its id. */
  #wasDeleted(id: string, { createdAt }: Mark): Promise<boolean> {
    return this.#ask(() => wasDeleted(this.#base, { id, createdAt }));
  }

  async #see(runId: string, row: RunRow | null, before: Mark | undefined): Promise<void> {
    // Its own statements can't be trusted.
    if (row?.damage !== undefined) return;
    if (row && !isBehind(row, before)) return this.#mark(runId, markOf(row));
    if (!before || (!row && before.isOver)) return;
    if (!(await this.#wasDeleted(runId, before)))
      throw this.#wentBack(
        row ? `run ${runId} was at #${before.seq} and is at #${row.seq} now` : `run ${runId} is gone`,
      );
    if (row) this.#mark(runId, markOf(row), true);
    else this.#marks.delete(runId);
  }

  #mark(runId: string, mark: Mark, isNew = false): void {
    const known = this.#marks.get(runId);
    const newest = known && known.seq > mark.seq && !isNew ? known : mark;
    keepRecent(this.#marks, runId, newest, MOST_MARKS);
  }

  #wentBack(problem: string, cause?: unknown): HoldfastError {
    if (this.#back) return this.#back;
    this.#back = new HoldfastError("HF-3020", { problem }, defined({ cause }));
    this.#onBack(this.#back);
    return this.#back;
  }
}

function markAfter({ run, expect, claim, entries, head }: Append, before: Mark | undefined): Mark {
  const last = entries.at(-1) as Entry;
  const { epoch } = claimAfter({ ...UNCLAIMED, epoch: expect?.epoch ?? 0 }, claim, 0);
  const { createdAt } = expect === null ? run : (before ?? run);
  return { epoch, seq: last.seq + last.count - 1, head, isOver: terminal(run.status), createdAt };
}

const markOf = ({ claim, seq, head, status, createdAt }: RunRow): Mark => ({
  epoch: claim.epoch,
  seq,
  head,
  isOver: terminal(status),
  createdAt,
});

/** There is only one history at the same position. */
const isBehind = ({ seq, head, claim }: RunRow, mark: Mark | undefined): boolean =>
  mark !== undefined &&
  (seq < mark.seq || claim.epoch < mark.epoch || (seq === mark.seq && head !== mark.head));
