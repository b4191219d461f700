import type { Execution } from "../run/execution.ts";
import type { EventDraft } from "./events.ts";
import { JOURNAL_FORMAT } from "./format.ts";
import { projectionOf } from "./row-fold.ts";
import { type Snapshot, takeSnapshot } from "./snapshot.ts";

const MIN_TAIL_BYTES = 32_768;

/** Decides when a run's state is saved in full, and saves it. */
export class Snapshots {
  readonly #execution: Execution;
  #wanted = false;

  constructor(execution: Execution) {
    this.#execution = execution;
  }

  /** As soon as everything is saved, however little has been written since the last one. */
  soon(): void {
    this.#wanted = true;
    if (this.#execution.writer.calm) this.ifDue();
  }

  /** A full snapshot once the tail outweighs the last one: all of them together stay in proportion to the journal. */
  ifDue(): void {
    const { writer, deps, runId } = this.#execution;
    const { state } = writer;
    const least = this.#wanted ? 1 : Math.max(MIN_TAIL_BYTES, 2 * state.snapshotBytes);
    if (!state.looping || state.tailBytes < least) return;
    try {
      const snapshot = takeSnapshot(state);
      if (snapshot) this.#save({ ...snapshot, row: projectionOf(writer.row) });
    } catch (error) {
      // The journal holds everything that it would. The next one is tried when as much again has been written.
      Object.assign(state, { snapshotBytes: state.tailBytes, tailBytes: 0 });
      this.#wanted = false;
      deps.ports.logger.warn("snapshot was not taken", { runId, error: String(error) });
    }
  }

  #save(snapshot: Snapshot): void {
    const { writer, deps, runId } = this.#execution;
    const { state } = writer;
    const { probe } = deps.ports;
    probe("C12:before-snapshot", { runId });
    const { data, blobs, text } = deps.values.encode("snapshot", snapshot, true);
    // Always apart: where it is damaged, the journal around it is not, and an older one will do.
    const own = typeof data === "string" ? deps.values.blob(text) : undefined;
    const meta = { previous: writer.row.snapshotSeq, format: JOURNAL_FORMAT };
    const event: EventDraft = {
      kind: "snapshot_taken",
      step: "",
      meta,
      data: own ? { blob: own.hash } : data,
    };
    const before = { tailBytes: state.tailBytes, snapshotBytes: state.snapshotBytes };
    Object.assign(state, { tailBytes: 0, snapshotBytes: text.length });
    const wasWanted = this.#wanted;
    this.#wanted = false;
    writer.record({
      event,
      blobs: own ? [...blobs, own] : blobs,
      onDurable: () => probe("C12:after-snapshot", { runId }),
      // It stands for everything before it, and something from outside came first.
      onOvertaken: () => {
        Object.assign(state, before);
        this.#wanted = wasWanted;
      },
    });
  }
}
