import path from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { checkId } from "../../core/ids.ts";
import type { Logger } from "../../core/logger.ts";
import type { StoredRecord } from "../../core/records.ts";
import { refusal } from "../../core/store/claim.ts";
import type {
  Append,
  AppendResult,
  DueQuery,
  Entry,
  Renewal,
  RunCount,
  RunFilter,
  RunPage,
  RunQuery,
  Store,
  StoreCapabilities,
  StoreIdentity,
} from "../../core/store/contract.ts";
import type { Documents } from "../../core/store/documents.ts";
import { checkLimit, countRows, dueRows, listRows } from "../../core/store/query.ts";
import { NO_TAGS } from "../../core/tags.ts";
import type { RunRow } from "../../core/types.ts";
import { type Disk, forEach, hasCode, ifThere } from "../disk.ts";
import type { FolderLock } from "../folder-lock.ts";
import { RenewedClaims } from "./claims.ts";
import { commit } from "./commit.ts";
import { Copies } from "./copies.ts";
import { documentsIn } from "./documents.ts";
import { carryOut, removeRun } from "./drop.ts";
import { storeError } from "./errors.ts";
import { markRestored } from "./identity.ts";
import { blobFile, type Layout } from "./layout.ts";
import { idOf } from "./names.ts";
import { phasesIn } from "./phase-file.ts";
import { Flush, isErasure, settled } from "./plan.ts";
import { loadRun, type Recovered, readRecords } from "./run-folder.ts";
import { placeOf, Runs } from "./runs.ts";

export interface Setup {
  readonly disk: Disk;
  readonly layout: Layout;
  readonly lock: FolderLock;
  readonly identity: StoreIdentity;
  readonly clock: { now(): number };
  readonly logger: Logger;
  readonly copyDelayMs: number;
}

/** How many records to read before checking whether there are enough. */
const RECORDS_AT_ONCE = 256;

/**
 * Runs as files in a folder that belongs to this process. Rows are checked and listed in memory; files are written one
 * flush at a time, and a row changes in memory only when its record is durable.
 */
export class FolderStore implements Store {
  readonly name = "file";
  readonly capabilities = {
    durability: "power-loss",
    transactions: false,
    records: ["phase_checkpoints"],
    limits: true,
  } as const satisfies StoreCapabilities;
  readonly documents: Documents;
  readonly recovered: Recovered[] = [];
  readonly #setup: Setup;
  readonly #runs: Runs;
  readonly #claims: RenewedClaims;
  readonly #copies: Copies;
  /** Runs whose state on disk is unknown, with the failure that caused it. */
  readonly #unknown = new Map<string, unknown>();
  #identity: StoreIdentity;
  #queue: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(setup: Setup) {
    const { disk, layout, copyDelayMs } = setup;
    this.#setup = setup;
    this.#identity = setup.identity;
    this.#runs = new Runs(disk, layout);
    this.#claims = new RenewedClaims(disk, layout);
    this.#copies = new Copies(disk, layout, copyDelayMs);
    this.documents = documentsIn({
      disk,
      layout,
      read: (work) => this.#read([], work),
      write: (work) => this.#write([], work),
    });
  }

  /** Reads the newest record of every run and finishes whatever a crash interrupted. */
  async load(): Promise<void> {
    const { disk, layout } = this.#setup;
    const problem = await this.#claims.load();
    if (problem !== undefined)
      this.#report({ runId: null, file: layout.relative(layout.claims), problem, keptAs: null });
    const names = (await disk.list(layout.runs)).filter((entry) => !entry.isFile());
    await forEach(names, async ({ name }) => {
      const id = idOf(name);
      const file = layout.relative(path.join(layout.runs, name));
      if (id !== undefined) await this.#load(id);
      else this.#report({ runId: null, file, problem: "it is not the folder of a run", keptAs: null });
    });
  }

  identity(): Promise<StoreIdentity> {
    return this.#read([], async () => this.#identity);
  }

  markRestored(): Promise<StoreIdentity> {
    return this.#write([], async () => {
      const { disk, layout, clock } = this.#setup;
      const [newest] = listRows(this.#runs.rows(), { limit: 1 }).runs;
      const times = { now: clock.now(), newestRun: newest?.createdAt ?? 0 };
      this.#identity = await markRestored(disk, layout, this.#identity, times);
      return this.#identity;
    });
  }

  now(): Promise<number> {
    return this.#read([], async () => this.#setup.clock.now());
  }

  append(batch: readonly Append[]): Promise<readonly AppendResult[]> {
    const ids = batch.map(({ run }) => run.id);
    return this.#write(ids, async () => {
      for (const id of ids) checkId(id);
      const now = this.#setup.clock.now();
      const results: AppendResult[] = [];
      let flush = new Flush(this.#runs, now);
      for (const [index, append] of batch.entries()) {
        if (flush.mustGoFirst(append)) {
          await this.#flush(flush, results, now);
          flush = new Flush(this.#runs, now);
        }
        results.push(isErasure(append) ? await this.#erase(append, now) : flush.take(append, index));
      }
      await this.#flush(flush, results, now);
      return results;
    });
  }

  renew(batch: readonly Renewal[]): Promise<readonly (RunRow | null)[]> {
    const ids = batch.map(({ runId }) => runId);
    return this.#write(ids, async () => {
      const now = this.#setup.clock.now();
      const renewed = new Map<string, RunRow>();
      const results = batch.map(({ runId, epoch, token, ttlMs }) => {
        const row = this.#runs.isDamaged(runId) ? undefined : this.#runs.row(runId);
        if (!row || row.claim.token !== token || row.claim.epoch !== epoch) return null;
        const after = settled({ ...row, claim: { ...row.claim, until: now + ttlMs } });
        renewed.set(runId, after);
        return after;
      });
      if (renewed.size === 0) return results;
      const isCurrent = (id: string, seq: number) =>
        !this.#runs.isDamaged(id) && this.#runs.row(id)?.seq === seq;
      await this.#claims.save([...renewed.values()], isCurrent);
      for (const row of renewed.values()) this.#runs.set(row);
      return results;
    });
  }

  read(runId: string): Promise<RunRow | null> {
    return this.#read([runId], async () => this.#runs.row(runId) ?? null);
  }

  entries(runId: string, { from, limit }: Parameters<Store["entries"]>[1]): Promise<readonly Entry[]> {
    return this.#read([runId], async () => {
      checkLimit(limit);
      const row = this.#runs.row(runId);
      if (!row) return [];
      const { disk, layout } = this.#setup;
      const names = await this.#runs.names(row);
      const entries: Entry[] = [];
      for (let next = placeOf(names, from); next < names.length && entries.length < limit; ) {
        const some = names.slice(next, next + Math.min(limit - entries.length + 1, RECORDS_AT_ONCE));
        next += some.length;
        for (const record of await readRecords(disk, layout.run(runId), runId, some)) {
          if (!record.ok) this.#reportDamaged(runId, record.name, record.problem);
          else if (record.entry.seq + record.entry.count > from) entries.push(Object.freeze(record.entry));
        }
      }
      return entries.slice(0, limit);
    });
  }

  blobs(runId: string, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#read([runId], async () => {
      const { disk, layout } = this.#setup;
      if (!this.#runs.row(runId)) return new Map();
      const found = await forEach([...new Set(hashes)], async (hash) => {
        const bytes = await ifThere(disk.read(blobFile(layout.run(runId), hash)));
        return [hash, bytes?.toString("utf8")] as const;
      });
      return new Map(found.filter((pair): pair is [string, string] => pair[1] !== undefined));
    });
  }

  records(runId: string): Promise<readonly StoredRecord[]> {
    return this.#read([runId], async () => {
      const { disk, layout } = this.#setup;
      const row = this.#runs.row(runId);
      const found = row ? await phasesIn(disk, layout.run(runId), runId) : [];
      return found.map(({ record }) => record);
    });
  }

  list(query: RunQuery): Promise<RunPage> {
    return this.#read([], async () => listRows([...this.#runs.rows(), ...this.#runs.damaged()], query));
  }

  count(query: RunFilter): Promise<readonly RunCount[]> {
    return this.#read([], async () => countRows([...this.#runs.rows(), ...this.#runs.damaged()], query));
  }

  due(query: DueQuery): Promise<readonly RunRow[]> {
    return this.#read([], async () => dueRows(this.#runs.rows(), query, this.#setup.clock.now()));
  }

  /** Returns problems with the store's own files, and with files that belong to no run. */
  async check(): Promise<readonly string[]> {
    const found = this.recovered.filter(({ runId }) => runId === null);
    return found.map(({ file, problem }) => `${file}: ${problem}.`);
  }

  close(): Promise<void> {
    this.#closing ??= this.#queue.then(async () => {
      await this.#copies.flush();
      await this.#setup.lock.release();
    });
    return this.#closing;
  }

  async #erase(append: Append, now: number): Promise<AppendResult> {
    const { id } = append.run;
    if (this.#runs.isDamaged(id)) return { ok: false, reason: "damaged", row: null };
    const row = this.#runs.row(id) ?? null;
    const reason = refusal(append, row, now);
    if (reason) return { ok: false, reason, row };
    await this.#copies.forget(id);
    try {
      await removeRun(this.#setup.disk, this.#setup.layout, id);
    } catch (error) {
      this.#unknown.set(id, error);
      throw error;
    }
    this.#runs.forget(id);
    return { ok: true };
  }

  async #flush({ plans }: Flush, results: AppendResult[], now: number): Promise<void> {
    if (plans.size === 0) return;
    const { disk, layout } = this.#setup;
    let lost: ReadonlySet<string>;
    try {
      lost = await commit(disk, layout, [...plans.values()]);
    } catch (error) {
      for (const id of plans.keys()) this.#unknown.set(id, error);
      throw error;
    }
    for (const { row, records } of plans.values()) {
      if (lost.has(row.id)) continue;
      this.#runs.set(row, records);
      this.#copies.mark(row);
    }
    for (const id of lost) {
      await this.#load(id);
      const isDamaged = this.#runs.isDamaged(id);
      const row = isDamaged ? null : (this.#runs.row(id) ?? null);
      for (const [index, append] of plans.get(id)?.appends ?? []) {
        const reason = isDamaged ? "damaged" : (refusal(append, row, now) ?? "conflict");
        results[index] = { ok: false, reason, row };
      }
    }
  }

  /** Loads a run into memory from its folder. */
  async #load(id: string): Promise<void> {
    const { disk, layout } = this.#setup;
    const loaded = await loadRun(disk, layout, id, (found) => this.#report(found));
    if (loaded.state === "absent" && !this.#runs.has(id)) return;
    if (loaded.state !== "whole") {
      const problem = loaded.state === "damaged" ? loaded.problem : "Its folder is gone.";
      this.#report({ runId: id, file: layout.relative(layout.run(id)), problem, keptAs: null });
      return this.#runs.setDamaged(id, problem, loaded.state === "damaged" ? loaded.row : undefined);
    }
    if (loaded.drop) await carryOut(disk, layout, id, loaded.drop);
    // Records of earlier versions have no tags.
    const tags = "labels" in loaded.row ? {} : NO_TAGS;
    const row = settled({ ...loaded.row, ...tags, claim: this.#claims.of(loaded.row) });
    this.#runs.forget(id);
    this.#runs.set(row);
    if (loaded.isCopyOld) this.#copies.mark(row);
  }

  #report(found: Recovered): void {
    this.recovered.push(found);
    this.#setup.logger.warn("a file of the store was changed from outside", { ...found });
  }

  #reportDamaged(runId: string, name: string, problem: string): void {
    const { layout } = this.#setup;
    const file = layout.relative(path.join(layout.run(runId), name));
    if (!this.recovered.some((found) => found.file === file))
      this.#report({ runId, file, problem, keptAs: null });
  }

  /** After a failure, reads the disk again before answering. Names are synced before they count. */
  async #lookAgain(): Promise<void> {
    const { disk, layout } = this.#setup;
    for (const id of this.#unknown.keys()) {
      try {
        await disk.syncFolder(layout.runs);
        await disk.syncFolder(layout.run(id)).catch((error: unknown) => {
          // The folder is missing or isn't a folder: the next step reports that.
          if (!hasCode(error, "ENOENT", "ELOOP", "ENOTDIR")) throw error;
        });
        await this.#load(id);
        this.#unknown.delete(id);
      } catch (error) {
        this.#unknown.set(id, error);
      }
    }
  }

  /** Keeps an unreadable folder of one run from blocking the others. */
  #insist(ids: readonly string[]): void {
    const unknown = ids.find((id) => this.#unknown.has(id));
    if (unknown !== undefined) throw this.#unknown.get(unknown) as Error;
  }

  async #read<T>(ids: readonly string[], work: () => Promise<T>): Promise<T> {
    if (this.#closing) throw new HoldfastError("HF-3012");
    if (this.#unknown.size > 0) await this.#inTurn(async () => undefined);
    return this.#translated(async () => {
      this.#insist(ids);
      return work();
    });
  }

  async #write<T>(ids: readonly string[], work: () => Promise<T>): Promise<T> {
    if (this.#closing) throw new HoldfastError("HF-3012");
    return this.#inTurn(async () => {
      this.#insist(ids);
      await this.#setup.lock.verify();
      return work();
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(() =>
      this.#translated(async () => {
        await this.#lookAgain();
        return work();
      }),
    );
    this.#queue = done.catch(() => undefined);
    return done;
  }

  async #translated<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw storeError(error, this.#setup.layout.root);
    }
  }
}
