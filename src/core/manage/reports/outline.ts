import { checkWhole } from "../../check-options.ts";
import { defined } from "../../defined.ts";
import type { EventKind, JournalEvent } from "../../journal/events.ts";
import { readRow } from "../../journal/positions.ts";
import { RunState } from "../../journal/state.ts";
import { StepLog } from "../../journal/step-log.ts";
import { outerOf } from "../../keys.ts";
import type { Store } from "../../store/contract.ts";
import type { RunRow } from "../../types.ts";
import { measure, type Progress } from "../checkpoints/progress.ts";
import { type Account, costOf, Ledger } from "./costs.ts";
import { type ReadTo, readOn, type Story, storyOf } from "./stories.ts";

/** A step of an outline: its history, the step or loop it belongs to ("" for the run itself), and its agent's name. */
export interface OutlineStep extends Story {
  readonly within: string;
  /** Its result is that of the run it was forked from, or simulated. */
  readonly instead?: "reused" | "simulated";
}

/** The iterations of a loop: turn `iteration` is finished. */
export interface OutlineLoop {
  readonly loop: string;
  readonly iteration: number;
  readonly done: boolean;
}

/** What a run has done, does and is expected to do, step by step. No value is read for it. */
export interface Outline {
  readonly run: string;
  readonly seq: number;
  readonly progress: Progress;
  /** In the order they began; one page of them. */
  readonly steps: readonly OutlineStep[];
  /** The number of all steps, and where the next page begins; `null` on the last one. */
  readonly total: number;
  readonly next: number | null;
  /** The position after which `steps` tells what moved; 0 when it tells of all steps. */
  readonly since: number;
  /** Planned steps that haven't begun. */
  readonly pending: readonly string[];
  readonly loops: readonly OutlineLoop[];
  /** Agents that have reported, each with the position of its last report. */
  readonly agents: readonly { readonly agent: string; readonly seq: number; readonly at: number }[];
  /** Marked positions: phases, layers, evaluations, and what a person has marked. */
  readonly marks: readonly Mark[];
  readonly decisions: readonly { readonly seq: number; readonly at: number; readonly step: string }[];
  readonly children: readonly { readonly step: string; readonly runId: string }[];
  /** Takeovers from a lost worker, and resumes by people. */
  readonly recoveries: number;
  readonly resumes: number;
  /** What would have been spent again if each of these had started from the beginning. */
  readonly saved: Account["saved"];
}

export interface Mark {
  readonly seq: number;
  readonly at: number;
  readonly step: string;
  readonly label: string;
  readonly trigger: string;
}

export interface OutlineQuery {
  /** The number of steps to skip. */
  readonly from?: number;
  /** The most steps to return. Default 200. */
  readonly limit?: number;
  /** Only steps that moved after this position, for whoever has seen the others. */
  readonly since?: number;
}

const LIMIT = 200;
const MOST = 2_000;

/** The most positions whose sum is remembered. */
const MOST_KEPT = 60_000;

interface Known {
  /** The head of the run's row then: as long as it is the same, nothing has happened. */
  readonly head: string;
  readonly end: ReadTo | undefined;
  readonly fold: Fold;
}

/**
 * The outlines of runs. Whoever looks at a long run asks for it in pages, and again whenever it moves: what was read before
 * is remembered, and only what came after it is read.
 */
export class OutlineReader {
  readonly #store: Store;
  readonly #known = new Map<string, Known>();
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(store: Store) {
    this.#store = store;
  }

  async of(runId: string, query: OutlineQuery): Promise<Outline> {
    const from = checkWhole("from", query.from ?? 0, 0);
    const limit = checkWhole("limit", query.limit ?? LIMIT, 1, MOST);
    const since = checkWhole("since", query.since ?? 0, 0);
    // Readers of a run take turns: the sum is shared.
    const read = async (): Promise<Outline> => {
      const row = await readRow(this.#store, runId);
      return outlineOf(row, await this.#read(row), { from, limit, since });
    };
    const turn = (this.#turns.get(runId) ?? Promise.resolve()).then(read);
    const rested = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#turns.set(runId, rested);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(runId) === rested) this.#turns.delete(runId);
    }
  }

  async #read(row: RunRow): Promise<Fold> {
    const known = this.#known.get(row.id);
    if (known?.head === row.head) return known.fold;
    // A sum that failed halfway is no sum of anything.
    this.#known.delete(row.id);
    // A store that is behind shows less than what was read.
    const before = known && known.fold.seq < row.seq ? known : undefined;
    let fold = before?.fold ?? new Fold();
    let end = await readOn(this.#store, row, before?.end, (event) => fold.take(event));
    if (!end && before) {
      fold = new Fold();
      end = await readOn(this.#store, row, undefined, (event) => fold.take(event));
    }
    this.#keep(row.id, { head: row.head, end, fold });
    return fold;
  }

  #keep(id: string, known: Known): void {
    this.#known.set(id, known);
    let kept = 0;
    for (const [one, { fold }] of [...this.#known].reverse()) {
      kept += fold.seq;
      if (kept > MOST_KEPT) this.#known.delete(one);
    }
  }
}

function outlineOf(row: RunRow, fold: Fold, { from, limit, since: asked }: Required<OutlineQuery>): Outline {
  const { log, state, ledger, agents, marks, decisions } = fold;
  const { progress, pending } = measure(state, row.stepsDone, row.status);
  const all = [...log.steps()];
  const begun = new Set(all.map(({ step }) => step));
  // Events about many steps at once leave no trace in each of them.
  const since = fold.changedAll > asked ? 0 : asked;
  const moved = since === 0 ? all : all.filter(({ record }) => record.seq > since);
  const steps = moved.slice(from, from + limit).map((logged) => ({
    ...storyOf(logged),
    within: outerOf(logged.step),
    ...defined({ instead: logged.instead }),
  }));
  return {
    run: row.id,
    seq: row.seq,
    progress,
    steps,
    total: all.length,
    next: from + limit < moved.length ? from + limit : null,
    since,
    pending: pending.filter((step) => !begun.has(step)),
    loops: [...state.loops()].map(([loop, { iteration, done }]) => ({ loop, iteration, done })),
    agents: [...agents].map(([agent, event]) => ({ agent, ...event })),
    marks: [...marks],
    decisions: [...decisions],
    children: [...log.children].map(([child, { step }]) => ({ step, runId: child })),
    recoveries: ledger.takeovers,
    resumes: ledger.resumes,
    saved: costOf(ledger.total.saved),
  };
}

const CHANGES_ALL: ReadonlySet<EventKind> = new Set(["run_resumed", "run_forked", "run_migrated"]);

/** The sum of the heads. */
class Fold {
  readonly state = new RunState();
  readonly log = new StepLog();
  readonly ledger = new Ledger();
  readonly agents = new Map<string, { readonly seq: number; readonly at: number }>();
  readonly marks: Mark[] = [];
  readonly decisions: { readonly seq: number; readonly at: number; readonly step: string }[] = [];
  /** The position of the last event that changed many steps at once. */
  changedAll = 0;

  /** The position up to which the journal is in it. */
  get seq(): number {
    return this.log.seq;
  }

  take(event: JournalEvent): void {
    this.state.apply(event);
    this.ledger.take(event, this.log.take(event));
    const { seq, at, step } = event;
    if (CHANGES_ALL.has(event.kind)) this.changedAll = seq;
    if (event.kind === "decision_made") this.decisions.push({ seq, at, step });
    if (event.kind === "agent_updated") this.agents.set(event.meta.agent, { seq, at });
    if (event.kind !== "checkpoint_marked") return;
    const { label, trigger } = event.meta;
    this.marks.push({ seq, at, step, label, trigger });
  }
}
