import { defined } from "../../core/defined.ts";
import { verified } from "../../core/journal/door.ts";
import { parseEntry } from "../../core/journal/journal.ts";
import { lastEvent } from "../../core/journal/load.ts";
import { entryAt } from "../../core/journal/read.ts";
import { shownRow } from "../../core/journal/row-shape.ts";
import type { Progress } from "../../core/manage/checkpoints/progress.ts";
import type { RunDetails } from "../../core/manage/status/status.ts";
import type { Store } from "../../core/store/contract.ts";
import { ended, type RunRow, shownUsage } from "../../core/types.ts";
import { type RunOrigin, readOrigin, withTags } from "../run-origin.ts";
import { RunView } from "./run-view.ts";
import { type Standing, standingOf } from "./standing.ts";
import { fetched, summary, valuesOf } from "./stored-values.ts";

/** A run in a list. */
export interface RunItem {
  readonly row: RunRow;
  readonly standing: Standing;
  readonly progress: Progress;
  readonly origin: RunOrigin;
  /** A short form of its input. */
  readonly input: string;
}

/** The maximum number of journal positions read for one list, newest runs first; the rest relies on the rows. */
const MOST_POSITIONS = 20_000;
const INPUT_COLUMNS = 40;

/** Adds what a row doesn't say, only for the rows that are shown. */
export class RunItems {
  readonly #store: Store;
  readonly #now: number;
  #left = MOST_POSITIONS;

  constructor(store: Store, now: number) {
    this.#store = store;
    this.#now = now;
  }

  async of(listed: RunRow): Promise<RunItem> {
    const row = shownRow(await verified(this.#store, listed));
    const { stepsDone: done } = row;
    if (row.damage !== undefined) return this.#damaged(row);
    const view = await this.#read(row);
    const open = view && !ended(row.status) ? view.open : [];
    const details: RunDetails = { open, ...(await this.#undone(row)) };
    return {
      row,
      standing: standingOf(spoken(row, view), this.#now, details),
      progress: view?.progress ?? { done, text: `${done} done` },
      origin: await originOf(this.#store, row),
      input: await inputOf(this.#store, row),
    };
  }

  /** Shows nothing but the damage. */
  #damaged(row: RunRow): RunItem {
    const standing = standingOf(row, this.#now);
    return {
      row,
      standing,
      progress: { done: row.stepsDone, text: "damaged" },
      origin: withTags(row, {}),
      input: "",
    };
  }

  async #read(row: RunRow): Promise<RunView | undefined> {
    if (row.seq > this.#left) return undefined;
    this.#left -= row.seq;
    const view = new RunView(this.#store, row.id);
    const isRead = await fetched(() => view.catchUp());
    return "gone" in isRead ? undefined : view;
  }

  /** True when a failed run was undone, and so can't be resumed. */
  async #undone(row: RunRow): Promise<{ undone?: boolean }> {
    if (row.status !== "failed") return {};
    const found = await fetched(() => lastEvent(this.#store, row, ["run_failed"]));
    const event = "value" in found ? (found.value as Awaited<ReturnType<typeof lastEvent>>) : undefined;
    return { undone: event?.kind === "run_failed" && event.meta.compensated === true };
  }
}

/** The row with the author's names, for sentences. Steps to decide about keep their exact names. */
const spoken = (row: RunRow, view: RunView | undefined): RunRow =>
  view
    ? {
        ...row,
        waiting: row.waiting.map((wait) =>
          wait.kind === "retry" ? { ...wait, step: view.nameOf(wait.step) } : wait,
        ),
      }
    : row;

/** How it was started; empty when that can't be read: one damaged run doesn't hide the others. */
export async function originOf(store: Store, row: RunRow): Promise<RunOrigin> {
  const found = await fetched(() => readOrigin(store, row.id));
  return withTags(row, "gone" in found ? {} : (found.value as RunOrigin));
}

/** A short form of the run's input; "" when it can't be read any more. */
async function inputOf(store: Store, row: RunRow): Promise<string> {
  if (row.prunedAt !== null) return "";
  const found = await fetched(async () => {
    const entry = await entryAt(store, row.id, 1);
    const first = entry && parseEntry(row.id, entry).events[0];
    return first && valuesOf(store).decode(row.id, first.data);
  });
  return "gone" in found || found.value === undefined || found.value === null
    ? ""
    : summary(found.value, INPUT_COLUMNS);
}

/** A run in a list, as data. */
export const itemData = ({ row, standing, progress, origin, input }: RunItem) => ({
  id: row.id,
  ...defined({ name: origin.name }),
  workflow: row.workflow,
  version: row.version,
  status: row.status,
  standing: standing.words,
  headline: standing.headline,
  since: iso(standing.since),
  needsYou: standing.needsYou,
  stalledSince: standing.stalledSince === null ? null : iso(standing.stalledSince),
  can: standing.can,
  progress,
  stepsDone: row.stepsDone,
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt),
  finishedAt: row.finishedAt === null ? null : iso(row.finishedAt),
  usage: shownUsage(row.usage),
  waiting: row.waiting,
  error: row.error,
  input,
  labels: origin.labels ?? {},
  queue: row.queue,
  key: row.key,
  priority: row.priority,
  parent: row.parent,
  origin: row.origin,
  pinned: row.pinned,
  pruned: row.prunedAt !== null,
});

/** `3/5`, or how many are done where no total is known. */
export const doneOf = ({ done, total }: Progress): string =>
  total === undefined ? String(done) : `${done}/${total}`;

export const iso = (at: number): string => new Date(at).toISOString();
