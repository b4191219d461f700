import { badOption, checkKeys, checkOneOf } from "../../check-options.ts";
import type { Family } from "../../control/family.ts";
import { HoldfastError } from "../../errors.ts";
import { checkId } from "../../ids.ts";
import { type Act, checkAct } from "../../journal/act.ts";
import { readRun } from "../../journal/door.ts";
import { ChainCheck, dropped } from "../../journal/journal.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { readRow, remarks } from "../../journal/positions.ts";
import { entryAt, entryPages } from "../../journal/read.ts";
import { insistOn } from "../../journal/row-shape.ts";
import { onDemand } from "../../on-demand.ts";
import { ended, type RunRow, terminal } from "../../types.ts";
import type { Arrived } from "./arrival.ts";
import type { BundleWriter } from "./bundle.ts";
import type { CheckedRun } from "./bundle-check.ts";
import type { ComingBack } from "./coming-back.ts";
import type { AcceptOptions, ImportReview } from "./review.ts";

const moving = onDemand(() => import("./moving.ts"));

export interface ExportOptions extends Act {
  /** Includes the runs that it started, and theirs. */
  readonly children?: boolean;
  /** Signs the digest of the bundle, so that the importer can tell where it comes from. */
  readonly sign?: (digest: string) => string | Promise<string>;
}

export interface ImportOptions extends Act {
  /** Checks the signature; a bundle without one, or with another one, is then refused. */
  readonly verify?: (digest: string, signature: string) => boolean | Promise<boolean>;
  /** Decides whether a signature is trusted. Runs of a trusted bundle continue without a review; others wait for it. */
  readonly trust?: (digest: string, signature: string) => boolean | Promise<boolean>;
  /** Who accepts these runs, for example when they move between your own stores: they continue without a review. */
  readonly accept?: Act;
  /**
   * What to do about an existing run. `refuse` (default): import nothing. `skip`: leave it as it is, import the others.
   * `update`: add what the bundle has more, for a run that was moved away and comes back; refused unless the bundle begins
   * with all that is here, and nobody works on it here (HF-3100).
   */
  readonly onConflict?: OnConflict;
  /** A longer bundle is refused: all of it is in memory before the first run is written. Default 256 Mi characters. */
  readonly maxLength?: number;
}

type OnConflict = "refuse" | "skip" | "update";

export interface ImportReport {
  /** Runs that were created here, or brought up to date. */
  readonly imported: readonly string[];
  /** Runs that already existed. */
  readonly skipped: readonly string[];
  /** The imported runs that wait until a person accepts what they would execute; see `review`. */
  readonly review: readonly string[];
}

const MAX_LENGTH = 256 * 1024 * 1024;

/**
 * Moves runs from one store to another as text (JSON Lines), in whatever state they are. A bundle is a copy: if the run
 * is to continue elsewhere, make sure that it doesn't continue here as well, for example by pausing it first.
 *
 * A bundle contains no secrets, so another store produces other idempotency keys. A `keyed` or `once` step whose
 * outcome was unknown at the export is therefore not repeated automatically: it waits for a decision.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 *
 * export async function move(from: Engine, to: Engine, runId: string): Promise<void> {
 *   await from.pause(runId, { reason: "moving", children: true });
 *   await from.settled(runId);
 *   const accept = { actor: "ops", reason: "moved between our own stores" };
 *   await to.transfer.importRuns(from.transfer.exportRun(runId, { children: true }), { accept });
 *   await to.resume(runId, { children: true });
 * }
 * ```
 */
export class Transfer {
  readonly #parts: EngineParts;
  readonly #family: Family;

  constructor(parts: EngineParts, family: Family) {
    this.#parts = parts;
    this.#family = family;
  }

  /**
   * The run in its current state as text, line by line. The runs that it was forked from are included: without them a
   * fork couldn't tell which calls they have made.
   */
  async *exportRun(runId: string, options: ExportOptions = {}): AsyncGenerator<string, void, undefined> {
    checkId(runId);
    const { store, time } = this.#parts;
    const { incarnation } = await store.identity();
    await time.read();
    const rows = await this.#relatives(runId, options.children ?? false);
    const { BundleWriter } = await moving();
    const writer = new BundleWriter();
    yield writer.header({ runs: rows.map(({ id }) => id), createdAt: time.now(), incarnation });
    for (const row of rows) yield* this.#lines(writer, row);
    yield await writer.end(options.sign);
  }

  /**
   * The run and everything that must go with it, parents first: the copy of a child is never older than that of its
   * parent.
   */
  async #relatives(runId: string, withChildren: boolean): Promise<readonly RunRow[]> {
    const { store } = this.#parts;
    const found = new Map<string, RunRow>([[runId, await readRow(store, runId)]]);
    // Grows during the loop.
    for (const row of found.values()) {
      const origin = row.origin && (await store.read(row.origin.runId));
      if (origin && !found.has(origin.id)) found.set(origin.id, origin);
      for (const child of withChildren ? await this.#family.children(row.id) : [])
        if (!found.has(child.id)) found.set(child.id, child);
    }
    return [...found.values()];
  }

  async *#lines(writer: BundleWriter, row: RunRow): AsyncGenerator<string> {
    const { store } = this.#parts;
    const { Blobs } = await moving();
    const chain = new ChainCheck(row.id, 1, "");
    const needed = new Blobs(store, row.id);
    yield writer.run(row);
    for await (const page of entryPages(store, row.id, 1, row.seq)) {
      for (const entry of page) {
        needed.of(entry, chain.take(entry).events);
        yield writer.entry(entry);
      }
    }
    chain.end(row.seq, row.head);
    for (const [hash, data] of await needed.read()) yield writer.blob({ hash, data });
    // Values dropped during the read would be missing silently.
    const { droppedAt } = await remarks(store, await readRow(store, row.id), row.seq);
    if (droppedAt > 0) throw dropped(row.id, droppedAt);
  }

  /**
   * Creates the runs of a bundle, each in one write with every entry as it was. Everything is checked before the first
   * write: form, digest, signature, and every run from its first entry to its last. `lines` may be split anywhere. An
   * unfinished run waits for review (HF-3060) until a person accepts what it would execute, unless `trust`, `verify` or
   * `accept` says otherwise; unused answers that people gave at its gates elsewhere don't count here.
   */
  async importRuns(lines: AsyncIterable<string>, options: ImportOptions = {}): Promise<ImportReport> {
    checkKeys(options, ["verify", "trust", "accept", "onConflict", "maxLength", "actor", "reason"]);
    if (typeof Object(lines)[Symbol.asyncIterator] !== "function")
      throw badOption("lines", "it must be an async iterable of texts, such as a stream");
    const { verify, trust, accept, onConflict = "refuse", maxLength = MAX_LENGTH } = options;
    if (accept) checkAct(accept);
    checkOneOf("onConflict", onConflict, ["refuse", "skip", "update"]);
    const bundle = new Map<string, CheckedRun>();
    const { arrive, checkRun, Needs, readBundle } = await moving();
    const read = await readBundle(lines, { maxLength, verify, trust });
    for (const run of read.runs) bundle.set(run.row.id, await checkRun(run, this.#parts.ports));
    const { skipped, back } = await this.#conflicts(bundle, onConflict);
    const runs = [...bundle.values()].filter(({ row }) => !skipped.includes(row.id));
    await new Needs(this.#parts, bundle).check(runs);
    await this.#parts.time.read();
    const arrivals = runs.map((one) =>
      arrive(this.#parts, one, { ...read, accept, back: back.get(one.row.id) }),
    );
    const arrived = await this.#create(arrivals);
    await this.#tell(runs);
    const review = arrived.flatMap(({ row, isHeld }) => (isHeld && !terminal(row.status) ? [row.id] : []));
    return { imported: arrived.map(({ row }) => row.id), skipped, review };
  }

  /** What an imported run would execute here, according to the run itself; see {@link ImportReview}. */
  async review(runId: string): Promise<ImportReview> {
    checkId(runId);
    return (await moving()).reviewImport(this.#parts, runId);
  }

  /** True when it came from another store and hasn't been accepted here: until then it does nothing (HF-3060). */
  async isHeld(runId: string): Promise<boolean> {
    checkId(runId);
    return (await moving()).isHeldImport(this.#parts, runId);
  }

  /** Lets an imported run continue, for a person who has seen what it would execute. Repeating it changes nothing. */
  async accept(runId: string, options: AcceptOptions): Promise<RunRow> {
    checkId(runId);
    return (await moving()).acceptImport(this.#parts, runId, options);
  }

  /** Runs of the bundle that are here: left as they are, or brought up to date. */
  async #conflicts(
    bundle: ReadonlyMap<string, CheckedRun>,
    onConflict: OnConflict,
  ): Promise<{ skipped: readonly string[]; back: ReadonlyMap<string, ComingBack> }> {
    const { store } = this.#parts;
    const { comingBack } = await moving();
    const skipped: string[] = [];
    const back = new Map<string, ComingBack>();
    for (const [id, checked] of bundle) {
      const here = await readRun(store, id);
      if (!here) continue;
      if (onConflict === "refuse") throw new HoldfastError("HF-4333", { run: id });
      const first = await entryAt(store, id, 1);
      if (first?.head !== checked.run.entries[0]?.head) throw new HoldfastError("HF-4334", { run: id });
      const news = onConflict === "update" && (await comingBack(store, insistOn(here), checked));
      if (news) back.set(id, news);
      else skipped.push(id);
    }
    return { skipped, back };
  }

  /** All at once, so that they share a flush. */
  async #create(runs: readonly Arrived[]): Promise<readonly Arrived[]> {
    const { acts } = this.#parts;
    const taken = await Promise.all(runs.map(({ append }) => acts.submit(append)));
    runs.forEach(({ row, events }, index) => {
      if (taken[index]) this.#parts.written(row, events);
    });
    const lost = runs.find((_, index) => !taken[index]);
    if (lost)
      throw (await moving()).refusedBundle(`holds run ${lost.row.id}, which was written to here meanwhile`);
    return runs;
  }

  /**
   * A child may have reported its end before its parent was exported or arrived here: nothing else would tell the
   * parent.
   */
  async #tell(runs: readonly CheckedRun[]): Promise<void> {
    for (const { relatives, row } of runs) {
      if (terminal(row.status)) continue;
      for (const id of relatives.open) {
        const child = await this.#parts.store.read(id);
        if (child && ended(child.status)) await this.#family.tell(child);
      }
    }
  }
}
