import type { EventDraft } from "../journal/events.ts";
import { JOURNAL_FORMAT } from "../journal/format.ts";
import { projectionOf } from "../journal/row-copy.ts";
import { isBehind, type Snapshot, takeSnapshot } from "../journal/snapshot.ts";
import type { RunState } from "../journal/state.ts";
import { loopState } from "../journal/state-view.ts";
import { around } from "../keys.ts";
import type { ActiveRun } from "./active-run.ts";

const MIN_TAIL_BYTES = 32_768;

/** Decides when to save a run's complete state, and saves it. */
export class Snapshots {
  readonly #execution: ActiveRun;
  #wanted = false;
  #isReading = false;

  constructor(execution: ActiveRun) {
    this.#execution = execution;
  }

  /** Takes one as soon as everything is saved, however little has been written since the last one. */
  soon(): void {
    this.#wanted = true;
    if (this.#execution.writer.calm) this.ifDue();
  }

  /** Takes one once the tail outweighs the last one, so that all of them together stay in proportion to the journal. */
  ifDue(): void {
    const { state } = this.#execution.writer;
    const least = this.#wanted ? 1 : Math.max(MIN_TAIL_BYTES, 2 * state.snapshotBytes);
    if (!state.looping || state.tailBytes < least) return;
    try {
      const snapshot = takeSnapshot(state);
      if (snapshot) this.#save({ ...snapshot, row: projectionOf(this.#execution.writer.row) });
      else this.#execution.detach(this.#catchUp(), "reading the states of loops");
    } catch (error) {
      this.#skip(error);
    }
  }

  /** The journal has everything that it would contain. The next attempt comes when as much again has been written. */
  #skip(error: unknown): void {
    const { writer, deps, runId } = this.#execution;
    Object.assign(writer.state, { snapshotBytes: writer.state.tailBytes, tailBytes: 0 });
    this.#wanted = false;
    deps.ports.logger.warn("snapshot was not taken", { runId, error: String(error) });
  }

  /**
   * After a resume, a loop's state is known when the body reaches it. The body never reaches one inside a finished
   * step, so its state is read here; the loop still counts as not reached.
   */
  async #catchUp(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const { writer, deps, runId } = this.#execution;
    try {
      for (const [key, loop] of writer.state.loops()) {
        const { length } = loop.changes;
        if (!isBehind(loop) || !isInsideFinished(writer.state, key)) continue;
        const value = await loopState(deps.values, runId, loop);
        // The body may have reached it in the meantime, or it may have been edited.
        if (value === undefined || loop.live || loop.changes.length !== length) continue;
        Object.assign(loop, { state: { value }, changes: [] });
      }
    } catch (error) {
      this.#skip(error);
    } finally {
      this.#isReading = false;
    }
  }

  #save(snapshot: Snapshot): void {
    const { writer, deps, runId } = this.#execution;
    const { state } = writer;
    const { probe } = deps.ports;
    probe("C12:before-snapshot", { runId });
    const { data, blobs, text } = deps.values.encode("snapshot", snapshot, true);
    // Always separate: if it is damaged, the journal around it isn't, and an older one will do.
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
      // A snapshot represents everything before it, and something from outside came first.
      onOvertaken: () => {
        Object.assign(state, before);
        this.#wanted = wasWanted;
      },
    });
  }
}

/** True when a step around it has its outcome: then the body never reaches it. */
function isInsideFinished(state: RunState, key: string): boolean {
  return around(key).some((outer) => {
    const record = state.find(outer);
    return record?.status === "completed" || (record?.status === "failed" && !record.reopened);
  });
}
