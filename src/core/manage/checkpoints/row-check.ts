import type { JournalEvent } from "../../journal/events.ts";
import { tagsIn } from "../../tags.ts";
import type { Origin, RunProjection, RunRow } from "../../types.ts";
import { encode } from "../../values/codec.ts";

/** The facts in the journal that the row repeats, besides the projected ones. */
export class RowCheck {
  #created: (JournalEvent & { kind: "run_created" }) | undefined;
  #forked: (JournalEvent & { kind: "run_forked" }) | undefined;
  #epoch = 0;

  see(event: JournalEvent): void {
    if (event.kind === "run_created") this.#created = event;
    if (event.kind === "run_forked") this.#forked = event;
    this.#epoch = Math.max(this.#epoch, event.epoch);
  }

  /** The fields of the row that differ from the journal, which is right. */
  differences(row: RunRow, run: RunProjection): string[] {
    const differs = Object.entries(run).flatMap(([key, value]) =>
      text(value) === text(row[key as keyof RunRow]) ? [] : [key],
    );
    return [...differs, ...this.#identity(row), ...(row.claim.epoch < this.#epoch ? ["claim"] : [])];
  }

  #identity(row: RunRow): string[] {
    if (!this.#created) return [];
    const { workflow, lineage, parent = null } = this.#created.meta;
    const tags = tagsIn(this.#created.meta);
    const forked = this.#forked;
    // A fork has its own parent and lineage, not its source's.
    const known: Partial<RunRow> = forked
      ? { workflow, lineage: row.id, origin: originOf(row, forked.meta.from), ...tags }
      : { workflow, lineage, parent, ...tags };
    return Object.entries(known).flatMap(([key, value]) =>
      text(value) === text(row[key as keyof RunRow]) ? [] : [key],
    );
  }
}

/** A child that only simulates has no source: it originates from itself. */
const originOf = ({ id }: RunRow, from: Origin): Origin | null => (from.runId === id ? null : from);

const text = (value: unknown): string => encode(value, { sorted: true });
