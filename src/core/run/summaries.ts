import { knownActs } from "../journal/known-acts.ts";
import { newestSummary, summarize, summaryEvery } from "../journal/summary.ts";
import type { ActiveRun } from "./active-run.ts";

/** Writes a summary of a long run now and then, with whatever is written next. */
export class Summaries {
  readonly #execution: ActiveRun;
  /** The position that the newest one covers; before the first look, the beginning. */
  #upTo = 0;
  #hasLooked = false;
  #isBusy = false;

  constructor(execution: ActiveRun) {
    this.#execution = execution;
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
      if (!this.#hasLooked)
        this.#upTo = (await newestSummary(deps.store, deps.values, writer.row))?.upTo ?? 0;
      this.#hasLooked = true;
      if (!this.#isDue()) return;
      const { row } = writer;
      const acts = await knownActs(deps.store, deps.values, row);
      const { seq: upTo } = writer.row;
      const summary = summarize(writer.state, { upTo, actsUpTo: row.seq, acts });
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
}
