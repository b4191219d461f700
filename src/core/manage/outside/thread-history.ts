import { HoldfastError } from "../../errors.ts";
import type { JournalEvent } from "../../journal/events.ts";
import { ChainCheck } from "../../journal/journal.ts";
import type { EngineParts } from "../../journal/parts.ts";
import { entryPages } from "../../journal/read.ts";
import type { Snapshot } from "../../journal/snapshot.ts";
import { type Advance, patching } from "../../journal/state-view.ts";
import { blobsIn } from "../../journal/values.ts";
import type { RunRow } from "../../types.ts";

/** What happened in a thread: a loop came to a state, or a step finished. */
export type ThreadMoment =
  | { readonly loop: string; readonly state: object; readonly seq: number; readonly edited: boolean }
  | { readonly step: string; readonly value: unknown; readonly seq: number };

const PAGE = 500;

/**
 * Everything that a thread has recorded and that is still there, oldest first, from the verified journal. What retention
 * has dropped is left out: then the first moments are those after the oldest snapshot that is left.
 */
export async function* threadHistory(parts: EngineParts, row: RunRow): AsyncGenerator<ThreadMoment> {
  const reader = new Reader(parts, row);
  const chain = new ChainCheck(row.id, 1, "");
  for await (const page of entryPages(parts.store, row.id, 1, row.seq, PAGE)) {
    const events = page.flatMap((entry) => chain.take(entry).events);
    await reader.prepare(events);
    for (const event of events) {
      const moment = await reader.moment(event);
      if (moment) yield moment;
    }
  }
  chain.end(row.seq, row.head);
}

class Reader {
  readonly #parts: EngineParts;
  readonly #row: RunRow;
  /** The states of loops; one that isn't here begins with the next complete state. */
  readonly #loops = new Map<string, object>();
  #isCut = false;

  constructor(parts: EngineParts, row: RunRow) {
    this.#parts = parts;
    this.#row = row;
  }

  /** Fetches the blobs of many values at once. */
  async prepare(events: readonly JournalEvent[]): Promise<void> {
    const texts = events.flatMap(({ data }) =>
      typeof data === "string" ? blobsIn(data) : (data?.blob ?? []),
    );
    await this.#parts.values.fetchAhead(this.#row.id, texts);
  }

  async moment(event: JournalEvent): Promise<ThreadMoment | undefined> {
    const { seq, step } = event;
    if (event.kind === "snapshot_taken" && this.#isCut) await this.#resume(event);
    if (event.kind === "step_completed") {
      const value = await this.#value(event);
      return value === undefined ? undefined : { step, value, seq };
    }
    const edited = event.kind === "value_edited" && event.meta.what === "loop";
    if (event.kind !== "loop_advanced" && !edited) return undefined;
    const change = (await this.#value(event)) as Advance | undefined;
    const state = change && (await this.#after(step, change));
    if (!state) {
      this.#isCut = true;
      this.#loops.delete(step);
      return undefined;
    }
    this.#loops.set(step, state);
    return { loop: step, state, seq, edited };
  }

  async #after(loop: string, change: Advance): Promise<object | undefined> {
    if ("state" in change) return change.state;
    const before = this.#loops.get(loop);
    return before && (await patching()).applyPatches(before, change.patches);
  }

  /** `undefined` when retention has dropped it. */
  async #value(event: JournalEvent): Promise<unknown> {
    if (event.dropped || event.data === undefined) return undefined;
    try {
      return await this.#parts.values.decode(this.#row.id, event.data);
    } catch (error) {
      if (HoldfastError.is(error, "HF-1023")) return undefined;
      throw error;
    }
  }

  async #resume(event: JournalEvent): Promise<void> {
    const snapshot = (await this.#value(event)) as Snapshot | undefined;
    if (!snapshot) return;
    this.#isCut = false;
    this.#loops.clear();
    for (const [name, , , , state] of snapshot.root.loops) this.#loops.set(name, state as object);
  }
}
