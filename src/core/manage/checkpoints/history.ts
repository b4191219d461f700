import { digest } from "../../hash.ts";
import { phaseOf } from "../../journal/address.ts";
import type { JournalEvent } from "../../journal/events.ts";
import { damaged } from "../../journal/journal.ts";
import { newProjection, projectAll } from "../../journal/project.ts";
import { entryPages, headEvents } from "../../journal/read.ts";
import { StepLog } from "../../journal/step-log.ts";
import type { Entry, Store } from "../../store/contract.ts";
import type { RunProjection, RunRow } from "../../types.ts";

/** A summary of a run's heads up to a position. It needs no values, so it is available for every run. */
export class History {
  /** The run's row as it stood then. */
  run: RunProjection | undefined;
  /** The last event. */
  event: JournalEvent | undefined;
  /** The hash of the last entry. */
  head = "";
  phase = "";
  /** The phases so far, in order. */
  readonly phases = new Set<string>();
  /** How often the run was taken over from a dead worker. */
  recoveries = 0;
  readonly decisions: JournalEvent[] = [];
  /** The newest failure of a step, or of the run if no step caused it. */
  failure: JournalEvent | undefined;
  /** When its first event was written. */
  beganAt = 0;
  /** The number of calls begun, counting every attempt. */
  calls = 0;
  /** The histories of its steps. */
  readonly log = new StepLog();
  readonly #hasParent: boolean;

  constructor(hasParent: boolean) {
    this.#hasParent = hasParent;
  }

  /** Adds the events of one entry. The row depends on where entries begin, so they must be given as a whole. */
  take(entry: Pick<Entry, "head">, events: readonly JournalEvent[]): void {
    const [first] = events;
    if (first?.kind === "run_created")
      this.#begin(first.at, newProjection(first.at, first.meta.version, first.meta.schema ?? 1));
    if (this.isTakeover(events)) this.recoveries++;
    if (this.run) this.run = projectAll(this.run, events, this.#hasParent);
    for (const event of events) this.#note(event);
    this.event = events.at(-1) ?? this.event;
    this.head = digest(entry.head);
  }

  /**
   * True when an entry takes the run from a dead worker, to advance it or to put it aside. An entry that only frees the
   * claim of a dead process counts no death: the takeover follows.
   */
  isTakeover(events: readonly JournalEvent[]): boolean {
    const [first, ...rest] = events;
    if (first?.kind !== "run_claimed" || this.run?.status !== "running") return false;
    return first.meta.recovery > this.run.recoveries || rest.length > 0;
  }

  #begin(at: number, run: RunProjection): void {
    if (this.run) return;
    this.run = run;
    this.beganAt = at;
  }

  #note(event: JournalEvent): void {
    this.phase = phaseOf(event) || this.phase;
    if (this.phase !== "") this.phases.add(this.phase);
    this.log.take(event);
    switch (event.kind) {
      case "step_started":
        if (event.meta.type === "call" || event.meta.type === "transaction") this.calls++;
        return;
      case "run_forked":
        // The source's calls belong to the source.
        this.calls = 0;
        return;
      case "decision_made":
        this.decisions.push(event);
        return;
      case "step_failed":
        this.failure = event;
        return;
      case "child_finished":
        if (event.meta.status !== "completed") this.failure = event;
        return;
      case "run_failed":
        if (!this.failure || !event.meta.steps.includes(this.failure.step)) this.failure = event;
        return;
      default:
    }
  }
}

export interface Told extends History {
  readonly run: RunProjection;
  readonly event: JournalEvent;
}

export async function readHistory(store: Store, row: RunRow, upTo: number): Promise<Told> {
  const history = new History(row.parent !== null);
  for await (const page of entryPages(store, row.id, 1, upTo)) {
    for (const entry of page) {
      const events = headEvents(row.id, entry);
      const isPart = entry.seq + entry.count - 1 > upTo;
      history.take(entry, isPart ? events.filter(({ seq }) => seq <= upTo) : events);
    }
  }
  if (history.event?.seq !== upTo || !history.run) throw damaged(row.id, upTo, "An entry is missing.");
  return history as Told;
}
