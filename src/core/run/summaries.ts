import type { JournalEvent } from "../journal/events.ts";
import { knownAct, knownActs } from "../journal/known-acts.ts";
import { copiedRow } from "../journal/row-copy.ts";
import { type KnownAct, MOST_LISTED, newestSummary, summarize, summaryEvery } from "../journal/summary.ts";
import type { ActiveRun } from "./active-run.ts";

/** Writes a summary of a long run now and then, with whatever is written next. */
export class Summaries {
  readonly #execution: ActiveRun;
  /** The position that the newest one covers; before the first look, the beginning. */
  #upTo = 0;
  /** The acts that have an id: those from before this process had the run, once they were read, and those since. */
  #before: readonly KnownAct[] | undefined;
  readonly #since: KnownAct[] = [];
  /** The position of the first event that was heard here. */
  #first: number | undefined;
  #isBusy = false;

  constructor(execution: ActiveRun) {
    this.#execution = execution;
  }

  /** Called with everything that is written to the run, in order: then nothing has to be read back. */
  hear(events: readonly JournalEvent[]): void {
    this.#first ??= events[0]?.seq;
    for (const event of events) {
      const act = knownAct(event);
      if (act && this.#since.length <= MOST_LISTED) this.#since.push(act);
    }
  }

  ifDue(): void {
    if (this.#isBusy || !this.#isDue()) return;
    this.#isBusy = true;
    this.#execution.detach(this.#take(), "summarizing the run");
  }

  #isDue(): boolean {
    const { seq } = this.#execution.writer.row;
    return seq - this.#upTo >= summaryEvery(seq);
  }

  async #take(): Promise<void> {
    const { writer, deps, runId } = this.#execution;
    try {
      this.#before ??= await this.#read();
      if (!this.#isDue()) return;
      const { seq: upTo } = writer.row;
      const acts = [...this.#before, ...this.#since];
      const summary = summarize(writer.state, { upTo, actsUpTo: upTo, acts });
      this.#upTo = upTo;
      if (!summary) return;
      const { data, blobs } = deps.values.encode("summary", summary);
      writer.ride({ kind: "summary_taken", step: "", meta: {}, data }, blobs);
    } catch (error) {
      // Without it readers read more.
      this.#upTo = writer.row.seq;
      deps.ports.logger.debug("summary was not taken", { runId, error: String(error) });
    } finally {
      this.#isBusy = false;
    }
  }

  /** The acts from before the first event that was heard here. */
  async #read(): Promise<readonly KnownAct[]> {
    const { writer, deps } = this.#execution;
    const row = copiedRow(writer.row);
    row.seq = this.#first === undefined ? row.seq : this.#first - 1;
    if (row.seq === 0) return [];
    this.#upTo = (await newestSummary(deps.store, deps.values, row))?.upTo ?? 0;
    const acts = await knownActs(deps.store, deps.values, row);
    // Another reader may have read on.
    return acts.filter(({ seq }) => seq <= row.seq);
  }
}
