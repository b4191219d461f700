import {
  ApplicationFailure,
  CancelledFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  scheduleActivity,
  setCurrentDetails,
  setHandler,
  upsertMemo,
  workflowInfo,
} from "@temporalio/workflow";
import { ended, type RunRow } from "../../core/types.ts";
import {
  APPEND,
  type AppendAnswer,
  type AppendMessage,
  type EntriesQuery,
  HOLD,
  type HoldEnd,
  MEMO,
  QUERIES,
  type RunArguments,
} from "./contract.ts";
import { JournalState } from "./journal-state.ts";

/** Pauses between offers of a run that no worker takes; they grow while the workers that are asked lack its code. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 8_000;

/** A sender asks for its answer at once. */
const MOST_ANSWERS = 100;

/** A year: the longest that one claim may last. It is renewed by heartbeats. */
const CLAIM_MS = 365 * 86_400_000;

/** How long an offered run may wait for a worker: as long as it takes. */
const OFFER_MS = 365 * 86_400_000;

/** One run inside Temporal's sandbox: keeps its journal, and sees to it that somebody advances it. */
class RunSandbox {
  readonly #state = new JournalState();
  readonly #args: RunArguments;
  /** The activity of the claim: scheduled, or running. */
  #isHolding = false;
  /** The claim was taken under that activity. */
  #isTaken = false;
  /** Counts activities: the end of an earlier one says nothing of the claim. */
  #holds = 0;
  /** The task queue of the worker that has the claim. */
  #queue: string | null = null;
  /** The latest answers, by the numbers of their messages. */
  readonly #answers = new Map<string, AppendAnswer>();
  #pauseMs = 0;
  #nextPauseMs = FIRST_PAUSE_MS;
  #isErased = false;
  #changes = 0;

  constructor(args: RunArguments) {
    this.#args = args;
    if (args.carried) {
      this.#state.restore(args.carried);
      this.#queue = args.carried.queue;
    }
    const first = args.create ?? args.reopen;
    if (first) this.#append(first);
  }

  listen(): void {
    setHandler(defineQuery(QUERIES.row), () => this.#state.held(this.#isHeld));
    setHandler(defineQuery(QUERIES.entries), (query: EntriesQuery) => this.#state.page(query));
    setHandler(defineQuery(QUERIES.blobs), (hashes: readonly string[]) => this.#state.blobs(hashes));
    setHandler(defineQuery(QUERIES.carried), () => this.#state.carry(workflowInfo().runId, null));
    setHandler(defineQuery(QUERIES.answer), (number: string) => this.#answers.get(number) ?? null);
    setHandler(defineSignal(APPEND), (message: AppendMessage) => {
      this.#answers.set(message.number, this.#append(message));
      for (const [oldest] of this.#answers)
        if (this.#answers.size > MOST_ANSWERS) this.#answers.delete(oldest);
    });
  }

  get #offerId(): string {
    return `${workflowInfo().runId}.${this.#holds}`;
  }

  get #row(): RunRow {
    return this.#state.row;
  }

  /** The claim is somebody's who is alive, as far as anybody knows. */
  get #isHeld(): boolean {
    return this.#row.claim.token !== null && (this.#isTaken || this.#queue !== null);
  }

  #append({ append, queue, offer }: AppendMessage): AppendAnswer {
    const { claim } = append;
    if (claim.kind === "erase") {
      this.#isErased = true;
      return { ok: true };
    }
    const isHeld = append.expect !== null && this.#isHeld;
    const reason = this.#state.append(append, isHeld, Date.now());
    if (reason) return { ok: false, reason, held: this.#state.held(this.#isHeld) };
    if (claim.kind === "acquire") {
      this.#queue = queue ?? null;
      // An offer to somebody else is void, and must not end this claim when it lapses.
      if (this.#isHolding && offer !== this.#offerId) this.#leaveHold();
      this.#isTaken = this.#isHolding;
    }
    if (this.#row.claim.token === null) this.#letGo();
    if (!append.countsOnly) this.#show();
    this.#pauseMs = 0;
    this.#nextPauseMs = FIRST_PAUSE_MS;
    this.#changes++;
    return { ok: true };
  }

  /** The claim has ended, so its activity means nothing any more; the worker ends it, or has died. */
  #letGo(): void {
    this.#queue = null;
    if (this.#isTaken) this.#leaveHold();
  }

  /** Whatever becomes of the activity says nothing any more. */
  #leaveHold(): void {
    this.#isTaken = false;
    this.#isHolding = false;
    this.#holds++;
  }

  /** Shows the row to whoever lists runs or looks at Temporal's own pages. */
  #show(): void {
    const { status, stepsDone, waiting } = this.#row;
    upsertMemo({ [MEMO.row]: this.#row });
    const waits = waiting.map(({ kind, step }) => `${kind} ${step}`.trim()).join(", ");
    setCurrentDetails(`${status}${waits ? `: ${waits}` : ""}, ${stepsDone} steps done`);
  }

  async run(): Promise<unknown> {
    for (;;) {
      if (this.#isErased) return null;
      if (!this.#isHolding && this.#isOver) return this.#end();
      if (this.#isLong) return this.#continue();
      if (!this.#isHolding && this.#isDue) this.#hold().catch(failTask);
      await this.#untilMoved();
    }
  }

  get #isOver(): boolean {
    const { status, wakeAt, claim } = this.#row;
    return ended(status) && wakeAt === null && claim.token === null;
  }

  get #isLong(): boolean {
    const { appendsPerExecution } = this.#args.settings;
    return this.#state.appends >= appendsPerExecution || workflowInfo().continueAsNewSuggested;
  }

  /** A claim needs its activity, and a run whose time has come needs a worker. */
  get #isDue(): boolean {
    const { claim, wakeAt } = this.#row;
    if (this.#pauseMs > 0) return false;
    return (claim.token !== null && this.#queue !== null) || (wakeAt !== null && wakeAt <= Date.now());
  }

  async #untilMoved(): Promise<void> {
    const [seen, holding] = [this.#changes, this.#isHolding];
    const moved = () =>
      this.#changes !== seen || this.#isHolding !== holding || this.#isLong || this.#isErased;
    if (this.#isHolding) return condition(moved);
    const { wakeAt } = this.#row;
    const dueMs = wakeAt === null ? undefined : Math.max(wakeAt - Date.now(), 1);
    const ms = this.#pauseMs > 0 ? this.#pauseMs : dueMs;
    if (ms === undefined) return condition(moved);
    const isMoved = await condition(moved, ms);
    if (!isMoved) this.#pauseMs = 0;
  }

  /** Offers the run to the workers, or to the one that has it; the activity lasts as long as the claim. */
  async #hold(): Promise<void> {
    const { heartbeatMs, adoptMs } = this.#args.settings;
    const isAdopted = this.#queue !== null;
    this.#isHolding = true;
    this.#isTaken = isAdopted;
    const own = ++this.#holds;
    let end: HoldEnd | undefined;
    try {
      end = await scheduleActivity<HoldEnd>(HOLD, [{ row: this.#row, id: this.#offerId }], {
        taskQueue: this.#queue ?? workflowInfo().taskQueue,
        startToCloseTimeout: CLAIM_MS,
        scheduleToStartTimeout: isAdopted ? adoptMs : OFFER_MS,
        heartbeatTimeout: heartbeatMs,
        retry: { maximumAttempts: 1 },
        allowEagerDispatch: true,
        summary: this.#row.workflow,
      });
    } catch {
      // The worker is gone, or never came: its claim has ended, whatever it was doing.
    }
    if (own !== this.#holds) return;
    this.#isHolding = false;
    this.#isTaken = false;
    this.#queue = null;
    if (this.#row.claim.token !== null) this.#state.expire(Date.now());
    else if (end && !end.taken) this.#rest(end);
  }

  #rest({ why }: HoldEnd): void {
    this.#pauseMs = why === "no-code" ? this.#nextPauseMs : FIRST_PAUSE_MS;
    this.#nextPauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
  }

  async #continue(): Promise<never> {
    const { settings } = this.#args;
    const carried = this.#state.carry(
      workflowInfo().runId,
      this.#row.claim.token === null ? null : this.#queue,
    );
    return continueAsNew({ settings, carried } satisfies RunArguments);
  }

  /** Ends the execution as the run has ended, so that Temporal's own pages and alarms tell the truth. */
  async #end(): Promise<unknown> {
    const { status, error } = this.#row;
    if (status === "failed")
      throw ApplicationFailure.nonRetryable(error ?? "The run failed.", "HoldfastRunFailed");
    if (status === "cancelled") throw new CancelledFailure("The run was cancelled.");
    return null;
  }
}

/** The workflow of every run. */
export async function holdfastRun(args: RunArguments): Promise<unknown> {
  const sandbox = new RunSandbox(args);
  sandbox.listen();
  return sandbox.run();
}

/** Keeps the identity of a store in its memo, for good. */
export async function holdfastStore(): Promise<void> {
  await condition(() => false);
}

/** A rejection that nobody handles fails the workflow task, which Temporal tries again: right for a mistake of ours. */
function failTask(error: unknown): never {
  throw error;
}
