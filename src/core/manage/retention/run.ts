import { defined } from "../../defined.ts";
import { HoldfastError } from "../../errors.ts";
import { because } from "../../journal/act.ts";
import { isBeingDropped } from "../../journal/dropped.ts";
import type { Keep } from "../../journal/events.ts";
import type { EngineParts } from "../../journal/parts.ts";
import type { Store } from "../../store/contract.ts";
import { DELETED_RUNS } from "../../store/deleted.ts";
import { everyRun } from "../../store/query.ts";
import { ended, type RunRow, terminal } from "../../types.ts";
import { WHOLE_RUN } from "../checkpoints/kept.ts";
import { bundleOf, handOver } from "./archive.ts";
import { eraseRun, recordDeletion } from "./erase.ts";
import { type Needed, NOTHING, neededFor, type ReadSnapshot, snapshotReader } from "./needed.ts";
import { Inventory, type Item, itemsToDrop, recordsToDrop } from "./plan.ts";
import type { RetentionOptions } from "./policy.ts";
import { keepOf, type PolicyRules, type Rules } from "./policy.ts";
import { type ReportDraft, type RetentionReason, type RetentionSkip, trimming } from "./report.ts";
import { JournalScan } from "./scan.ts";
import type { Share } from "./shares.ts";
import { unhurried } from "./store.ts";

/** A run that changes this often while it is examined is left for the next time. */
const ATTEMPTS = 10;
const ARCHIVE_MS = 600_000;

/** One call of retention: its rules, and its results so far. */
export interface Pass {
  readonly rules: PolicyRules;
  readonly options: RetentionOptions;
  readonly batch: number;
  readonly now: number;
  /** Completed runs that are kept regardless of age; determined when the first run is due. */
  readonly spared: () => Promise<ReadonlySet<string>>;
  /** The runs that unfinished forks need. */
  readonly forks: () => Promise<ReadonlyMap<string, string>>;
  /** By run, how many checkpoints of it are left when they are counted by workflow. */
  readonly shares: (workflow: string) => Promise<ReadonlyMap<string, Share>>;
  readonly report: ReportDraft;
  /** By run: the position at which nothing could be dropped between its checkpoints. */
  readonly settled: Map<string, number>;
  readonly writes: boolean;
}

/** What a run must lose: everything, or only what its older checkpoints need; and by which rules. */
interface Verdict {
  readonly all: boolean;
  readonly why: readonly RetentionReason[];
}

/** The items that a run loses. */
interface Loss {
  readonly items: readonly Item[];
  /** The positions of its checkpoints that are dropped, and how many of them were listed. */
  readonly lost: ReadonlySet<number>;
  readonly checkpoints: number;
}

/** One run in one call of retention. */
export class RunPruner {
  readonly #parts: EngineParts;
  readonly #pass: Pass;
  readonly #runId: string;
  #store: Store;
  #scan: JournalScan;
  #inventory: Inventory;
  #readSnapshot: ReadSnapshot;

  constructor(parts: EngineParts, pass: Pass, runId: string) {
    this.#parts = parts;
    this.#pass = pass;
    this.#runId = runId;
    this.#store = unhurried(parts.store, parts.ports.clock);
    this.#scan = new JournalScan(runId);
    this.#inventory = new Inventory(runId);
    this.#readSnapshot = snapshotReader(parts.store, parts.values, runId);
  }

  /** Drops everything due. If the run has changed in between, it is examined again. */
  async work(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const row = await this.#parts.store.read(this.#runId);
      const verdict = row && (await this.#judge(row));
      if (!row || !verdict) return;
      try {
        if (await this.#attempt(row, verdict)) return;
      } catch (error) {
        if (!HoldfastError.is(error, "HF-3010") && !HoldfastError.is(error, "HF-3011")) throw error;
        return this.#pass.report.skip(row, "unreadable", error.message);
      }
      // Only new entries must be read now, and the run may change again at any moment.
      this.#store = this.#parts.store;
      if (attempt === ATTEMPTS) return this.#pass.report.skip(row, "in use", "It changes again and again.");
    }
  }

  async #judge(row: RunRow): Promise<Verdict | null> {
    const { report } = this.#pass;
    const { aged, trims } = due(this.#pass, row);
    if (!aged && trims.length === 0) return null;
    const hasPinnedParent = await this.#isBelowPinned(row);
    const spare = aged && (hasPinnedParent ? "pinned" : await this.#whySpared(row));
    if (aged && !spare) return { all: true, why: [aged] };
    if (aged && spare) report.skip(row, spare);
    return trims.length === 0 || hasPinnedParent ? null : { all: false, why: trims };
  }

  /** A fork of a pinned checkpoint also needs the runs that were in progress below it. */
  async #isBelowPinned(row: RunRow): Promise<boolean> {
    for (let parent = row.parent; parent; ) {
      const above = await this.#parts.store.read(parent.runId);
      if (above?.pinned) return true;
      parent = above?.parent ?? null;
    }
    return false;
  }

  async #whySpared(row: RunRow): Promise<RetentionSkip["why"] | undefined> {
    if (row.pinned) return "pinned";
    if ((await this.#pass.spared()).has(row.id)) return "keepSuccessful";
    // Its parent still needs its result, or a child will still report to it.
    if (row.wakeAt !== null || (row.status === "failed" && row.openChildren > 0)) return "in use";
    return row.status === "failed" && (await this.#mayBeResumed(row)) ? "in use" : undefined;
  }

  /** A failed run continues when its parent is resumed, as long as that is possible. */
  async #mayBeResumed({ parent }: RunRow): Promise<boolean> {
    const above = parent && (await this.#parts.store.read(parent.runId));
    if (!above || above.prunedAt !== null || terminal(above.status)) return false;
    return !due(this.#pass, above).aged || (await this.#whySpared(above)) !== undefined;
  }

  /** Returns true when the run is finished. */
  async #attempt(row: RunRow, { all, why }: Verdict): Promise<boolean> {
    const { report, settled, writes } = this.#pass;
    await this.#read(row);
    const { checkpoints } = this.#scan;
    const lost = all ? new Set(checkpoints.listed) : await this.#outside(row);
    const items = await this.#items(all, lost);
    if (items === null) {
      report.skip(row, "unreadable", "Its newest state cannot be restored.");
      return true;
    }
    if (!all && items.length === 0 && lost.size === 0) {
      settled.set(row.id, row.seq);
      return true;
    }
    const loss = { items, lost, checkpoints: checkpoints.listed.filter((seq) => lost.has(seq)).length };
    const isDeleted = all && this.#pass.rules.of(row.workflow).onExpiry === "delete";
    if (isDeleted && (await this.#isNeeded(row))) {
      report.skip(row, "in use");
      return true;
    }
    if (!writes) {
      report.add(row, why, items, { ...loss, pruned: all, ...(isDeleted ? { deleted: true } : {}) });
      return true;
    }
    if (all && !(await this.#archive(row, items))) return true;
    return isDeleted ? this.#erase(row, why, loss) : this.#drop(row, { all, why }, loss);
  }

  /** The checkpoints that the policy drops. None for a run that a person wants to examine. */
  async #outside(row: RunRow): Promise<ReadonlySet<number>> {
    const { checkpoints, stale } = this.#scan;
    const lost = checkpoints.outside((await this.#keepOf(row)) ?? { last: Infinity });
    return checkpoints.tags.get(WHOLE_RUN)?.pinned ? lost : new Set([...lost, ...stale]);
  }

  async #keepOf({ id, workflow }: RunRow): Promise<Keep | undefined> {
    const rules = this.#pass.rules.of(workflow);
    const share = rules.keepPer === "workflow" && (await this.#pass.shares(workflow)).get(id);
    const keep = keepOf(share ? { ...rules, keepLast: share.left } : rules);
    const age = rules.checkpointMaxAge;
    return age === undefined ? keep : { ...keep, after: this.#pass.now - age };
  }

  async #read(row: RunRow): Promise<void> {
    if (await this.#scan.extend(this.#store, row)) return;
    const { store, values } = this.#parts;
    this.#scan = new JournalScan(row.id);
    this.#inventory = new Inventory(row.id);
    this.#readSnapshot = snapshotReader(store, values, row.id);
    await this.#scan.extend(this.#store, row);
  }

  async #items(all: boolean, lost: ReadonlySet<number>): Promise<readonly Item[] | null> {
    const drop = (needed: Needed) => itemsToDrop(this.#store, this.#scan, this.#inventory, needed);
    if (all) return drop(NOTHING);
    const { checkpoints, seq } = this.#scan;
    if (checkpoints.tags.get(WHOLE_RUN)?.pinned) return [];
    const wanted = new Set([seq, ...checkpoints.positions.filter((one) => !lost.has(one))]);
    const needed = await neededFor(this.#scan, wanted, this.#readSnapshot);
    return needed && drop(needed);
  }

  /** Passes the run to the archive, unless that was done before the first of its values was dropped. */
  async #archive(row: RunRow, items: readonly Item[]): Promise<boolean> {
    const { rules, report, options } = this.#pass;
    const { archive, archiveTimeout: ms = ARCHIVE_MS } = rules.of(row.workflow);
    if (!archive || (await isBeingDropped(this.#parts.store, row.id))) return true;
    const { clock } = this.#parts.ports;
    try {
      await handOver(archive, bundleOf(this.#parts.store, row, items), { clock, ms, stop: options.signal });
      return true;
    } catch (error) {
      if (options.signal?.aborted) report.complete = false;
      else report.skip(row, "archive failed", error instanceof Error ? error.message : String(error));
      return false;
    }
  }

  /** True when another run needs the whole record: a parent that may go on, a run below, or a fork. */
  async #isNeeded({ id, parent }: RunRow): Promise<boolean> {
    const { store } = this.#parts;
    const above = parent && (await store.read(parent.runId));
    if (above && !terminal(above.status)) return true;
    for await (const { status } of everyRun(store, { parent: id })) if (!ended(status)) return true;
    return (await this.#pass.forks()).has(id);
  }

  /** Erases the run, and those below it whose time has come too; returns `false` when it has moved. */
  async #erase(row: RunRow, why: Verdict["why"], { items, checkpoints }: Loss): Promise<boolean> {
    const { rules, options, report, settled } = this.#pass;
    for await (const child of everyRun(this.#parts.store, { parent: row.id }))
      await new RunPruner(this.#parts, this.#pass, child.id).work();
    const { tombstone = false, archiveRecords = false } = rules.of(row.workflow);
    const { actor = "retention" } = options;
    await recordDeletion(this.#parts, [row], { tombstone, actor, ...because(options) });
    if (!(await eraseRun(this.#parts, row, archiveRecords))) return false;
    report.add(row, why, items, { checkpoints, pruned: true, deleted: true });
    settled.delete(row.id);
    return true;
  }

  /** Writes batch after batch; returns `false` when the run has moved. */
  async #drop(row: RunRow, { all, why }: Verdict, { items, lost, checkpoints }: Loss): Promise<boolean> {
    const { options, report, batch, settled, rules } = this.#pass;
    const { archiveRecords } = rules.of(row.workflow);
    const keep = all ? undefined : await this.#keepOf(row);
    let current = row;
    for (let from = 0; from === 0 || from < items.length; from += batch) {
      if (options.signal?.aborted) {
        report.complete = false;
        return true;
      }
      const part = items.slice(from, from + batch);
      const isLast = all && from + batch >= items.length;
      const entries = part.flatMap((item) => ("entry" in item ? [item.entry] : []));
      const blobs = part.flatMap((item) => ("blob" in item ? [item.blob] : []));
      const counts = { entries: entries.length, blobs: blobs.length };
      const said = { ...(isLast ? { all: true as const } : {}), ...defined({ keep }) };
      const meta = { ...counts, ...said, ...because(options) };
      const acted = await this.#parts.acts.write(current, {
        events: [{ kind: "values_dropped", step: "", meta }],
        drop: {
          entries,
          blobs,
          ...recordsToDrop(this.#scan, { entries, blobs }, lost),
          ...(archiveRecords ? { archive: true } : {}),
        },
        actor: options.actor ?? "retention",
      });
      if (!acted) return false;
      this.#parts.written(acted.row, acted.events);
      report.add(row, why, part, { checkpoints: from === 0 ? checkpoints : 0, pruned: isLast });
      current = acted.row;
    }
    if (all) {
      settled.delete(row.id);
      await this.#parts.logs.drop(row.id);
    } else settled.set(row.id, current.seq);
    return true;
  }
}

/** The rules by which a run may have to lose values, according to its row. */
export function due(
  { rules: policy, now, settled }: Pick<Pass, "rules" | "now" | "settled">,
  row: RunRow,
): { readonly aged: RetentionReason | null; readonly trims: readonly RetentionReason[] } {
  const rules = policy.of(row.workflow);
  const isOver = row.prunedAt !== null && rules.onExpiry !== "delete";
  if (isOver || row.id === DELETED_RUNS) return { aged: null, trims: [] };
  const { keepPer, checkpointMaxAge: age = Infinity } = rules;
  const isSame = settled.get(row.id) === row.seq && keepPer !== "workflow" && now - row.createdAt <= age;
  const isSettled = row.prunedAt !== null || isSame;
  return { aged: agedBy(rules, row, now), trims: isSettled ? [] : trimming(rules) };
}

/** The rule by which a run's age makes it lose its values. */
function agedBy({ maxAge, failedMaxAge }: Rules, row: RunRow, now: number): RetentionReason | null {
  if (!ended(row.status) || row.finishedAt === null) return null;
  const hasFailed = row.status === "failed";
  const limit = hasFailed ? failedMaxAge : maxAge;
  if (limit === undefined || Math.max(0, now - row.finishedAt) < limit) return null;
  return hasFailed ? "failedMaxAge" : "maxAge";
}
