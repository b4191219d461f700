import type { EventDraft } from "../journal/events.ts";
import { JOURNAL_FORMAT } from "../journal/format.ts";
import { projectionOf } from "../journal/row-fold.ts";
import { isBehind, type Snapshot, takeSnapshot } from "../journal/snapshot.ts";
import type { RunState } from "../journal/state.ts";
import { loopState } from "../journal/state-view.ts";
import { around } from "../keys.ts";
import type { ActiveRun } from "./active-run.ts";

const MIN_TAIL_BYTES = 32_768;

/** Decides when a run's state is saved in full, and saves it. */
export class Snapshots {
  readonly #execution: ActiveRun;
  #wanted = false;
  #isReading = false;

  constructor(execution: ActiveRun) {
    this.#execution = execution;
  }

  /** As soon as everything is saved, however little has been written since the last one. */
  soon(): void {
    this.#wanted = true;
    if (this.#execution.writer.calm) this.ifDue();
  }

  /** A full snapshot once the tail outweighs the last one: all of them together stay in proportion to the journal. */
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

  /** The journal holds everything that it would. The next one is tried when as much again has been written. */
  #skip(error: unknown): void {
    const { writer, deps, runId } = this.#execution;
    Object.assign(writer.state, { snapshotBytes: writer.state.tailBytes, tailBytes: 0 });
    this.#wanted = false;
    deps.ports.logger.warn("snapshot was not taken", { runId, error: String(error) });
  }

  /**
   * After a resume, a loop's state is known when the body comes to it. To one inside a finished step it never comes, so that its state is
   * read here; the loop itself still counts as not met.
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
        // The body may have come to it meanwhile, or somebody may have edited it.
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

/** Whether a step around it has its outcome: then nobody comes to it any more. */
function isInsideFinished(state: RunState, key: string): boolean {
  return around(key).some((outer) => {
    const record = state.find(outer);
    return record?.status === "completed" || (record?.status === "failed" && !record.reopened);
  });
}
