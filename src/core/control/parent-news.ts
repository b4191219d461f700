import { HoldfastError } from "../errors.ts";
import type { EventDraft, EventMeta, JournalEvent } from "../journal/events.ts";
import { actOn, type EngineParts } from "../journal/parts.ts";
import type { StepRecord } from "../journal/records.ts";
import { savedSpent, spentAbove } from "../journal/spent.ts";
import type { RunState } from "../journal/state.ts";
import type { Blob } from "../store/contract.ts";
import { type RunRow, terminal } from "../types.ts";

/** The number of children reported in one write. */
const MOST = 50;

interface News {
  readonly child: RunRow;
  readonly ending: JournalEvent;
  readonly told: () => void;
  readonly failed: (error: unknown) => void;
}

interface Written {
  readonly event: EventDraft;
  readonly blobs: readonly Blob[];
}

/**
 * Tells runs how their children ended. Children that end while a report is being written are combined in the next
 * write: a run with many children is read and written once for all of them, not once for each.
 */
export class ParentNews {
  readonly #parts: EngineParts;
  readonly #waiting = new Map<string, News[]>();

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  tell(parentId: string, child: RunRow, ending: JournalEvent): Promise<void> {
    return new Promise((told, failed) => {
      const news = { child, ending, told, failed };
      const others = this.#waiting.get(parentId);
      if (others) return void others.push(news);
      this.#waiting.set(parentId, [news]);
      return this.#next(parentId);
    });
  }

  #next(parentId: string): void {
    const waiting = this.#waiting.get(parentId) ?? [];
    const batch = waiting.splice(0, MOST);
    if (batch.length === 0) return void this.#waiting.delete(parentId);
    this.#write(parentId, batch).then(
      () => this.#next(parentId),
      (error: unknown) => {
        for (const { failed } of batch) failed(error);
        this.#next(parentId);
      },
    );
  }

  async #write(parentId: string, batch: readonly News[]): Promise<void> {
    const { store, folds } = this.#parts;
    let troubles = new Map<News, unknown>();
    const isThere = (await store.read(parentId)) !== null;
    if (isThere)
      await actOn(this.#parts, parentId, async (row) => {
        troubles = new Map();
        if (terminal(row.status) || row.prunedAt !== null) return null;
        const written = await this.#events(await folds.at(row), batch, troubles);
        if (written.length === 0) return null;
        return { events: written.map(({ event }) => event), blobs: written.flatMap(({ blobs }) => blobs) };
      });
    for (const news of batch) {
      if (troubles.has(news)) news.failed(troubles.get(news));
      else news.told();
    }
  }

  /** A child that can't be reported doesn't block the others. */
  async #events(
    state: RunState,
    batch: readonly News[],
    troubles: Map<News, unknown>,
  ): Promise<readonly Written[]> {
    const written = new Map<string, Written>();
    for (const news of batch) {
      const [step, record] = waitFor(state, news.child) ?? [];
      if (step === undefined || !record || written.has(step)) continue;
      try {
        written.set(step, await this.#event(news, step, record));
      } catch (error) {
        troubles.set(news, error);
      }
    }
    return [...written.values()];
  }

  async #event({ child, ending }: News, step: string, record: StepRecord): Promise<Written> {
    const { values } = this.#parts;
    const { id, status } = child;
    const message = child.error ?? "It was cancelled.";
    // Encoded again, because blobs belong to one run.
    const value =
      status === "completed"
        ? await values.of(id, ending)
        : new HoldfastError("HF-2107", { child: id, status, message });
    const { data, blobs } = values.encode(step, value);
    const meta = { child: id, status, ...usedSince(child, record) };
    return { event: { kind: "child_finished", step, meta, data }, blobs };
  }
}

/**
 * The parent's step that waits for a child, found by the child's id: migrations may have renamed the step before and
 * after the child was created.
 */
function waitFor(state: RunState, { id, parent }: RunRow): [string, StepRecord] | undefined {
  const isOpen = ({ child, status }: StepRecord): boolean => child === id && status === "started";
  const step = parent?.step ?? "";
  const record = state.find(step);
  if (record && isOpen(record)) return [step, record];
  return [...state.steps()].find(([, one]) => isOpen(one));
}

/** A child that failed and was resumed reports only its usage since then. */
function usedSince(
  child: RunRow,
  { reported = {} }: StepRecord,
): Pick<EventMeta["child_finished"], "usage" | "turns" | "activeMs"> {
  const { tokens, costUsd, turns, wallMs } = spentAbove(savedSpent(child), reported);
  return {
    ...(tokens > 0 || costUsd > 0 ? { usage: { tokens, costUsd } } : {}),
    ...(turns > 0 ? { turns } : {}),
    ...(wallMs > 0 ? { activeMs: wallMs } : {}),
  };
}
