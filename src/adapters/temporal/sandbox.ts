import {
  ApplicationFailure,
  CancelledFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  proxySinks,
  scheduleActivity,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertMemo,
  workflowInfo,
} from "@temporalio/workflow";
import type { Refusal } from "../../core/store/contract.ts";
import { ended, type RunRow } from "../../core/types.ts";
import {
  ACTIVITIES,
  APPEND,
  type AppendAnswer,
  type AppendMessage,
  type Carried,
  type EntriesQuery,
  LOST,
  type Loss,
  MEMO,
  type Offer,
  type OfferEnd,
  QUERIES,
  type RunArguments,
  SINK,
} from "./contract.ts";
import { JournalState } from "./journal-state.ts";

export { holdfastWorker } from "./worker-life.ts";

/** Pauses between offers of a run that no worker takes; they grow while the workers that are asked lack its code. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 8_000;

/** A sender asks for its answer at once. */
const MOST_ANSWERS = 100;

/** Lives that are remembered after their end: a claim that is late in one comes within seconds. */
const MOST_BURIED = 20;

/** A year: how long an offered run may wait for a worker, and for what that one says. */
const OFFER_MS = 365 * 86_400_000;

/**
 * How often a run that is held asks whether the life of its worker lasts. Whoever buries a life tells its runs within a
 * second or two; this is for a claim that came too late to be told.
 */
const PROBE_MS = 60_000;

/** How long one look at a life may take. */
const LOOK_MS = 10_000;

interface Sink {
  /** What came of a message. */
  readonly answered: (number: string, answer: AppendAnswer) => void;
  /** The next messages will be answered. */
  readonly here: () => void;
}

const sink = proxySinks<{ [SINK]: Sink }>()[SINK];

/** One run inside Temporal's sandbox: keeps its journal, and sees to it that somebody advances it. */
class RunSandbox {
  readonly #state = new JournalState();
  readonly #args: RunArguments;
  /** The activity that offers the run: scheduled, or running. */
  #isOffered = false;
  /** Counts offers: the end of an earlier one says nothing of the run. */
  #offers = 0;
  /** The life of the worker that has the claim. */
  #life: string | null = null;
  /** Lives that are over, the newest last. */
  #buried: readonly string[] = [];
  #isProbing = false;
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
      this.#life = args.carried.life;
      this.#buried = args.carried.buried;
    }
    const first = args.create ?? args.reopen;
    if (first) this.#append(first);
    if (this.#isHeld) this.#probe().catch(failTask);
  }

  listen(): void {
    setHandler(defineQuery(QUERIES.row), () => this.#state.held(this.#isHeld));
    setHandler(defineQuery(QUERIES.entries), (query: EntriesQuery) => this.#state.page(query));
    setHandler(defineQuery(QUERIES.blobs), (hashes: readonly string[]) => this.#state.blobs(hashes));
    setHandler(defineQuery(QUERIES.carried), () => this.#carried(null));
    setHandler(defineQuery(QUERIES.answer), (number: string) => this.#answers.get(number) ?? null);
    setHandler(defineSignal(LOST), (loss: Loss) => this.#lost(loss));
    setHandler(defineSignal(APPEND), (message: AppendMessage) => {
      // What comes of a signal follows from what came before it alone, so it can be told before this task is saved.
      sink.answered(message.number, this.#take(message));
    });
  }

  /** Applies a message and keeps its answer. */
  #take(message: AppendMessage): AppendAnswer {
    const answer = this.#append(message);
    this.#answers.set(message.number, answer);
    for (const [oldest] of this.#answers) if (this.#answers.size > MOST_ANSWERS) this.#answers.delete(oldest);
    return answer;
  }

  get #row(): RunRow {
    return this.#state.row;
  }

  /** The claim is somebody's who is alive, as far as anybody knows. */
  get #isHeld(): boolean {
    return this.#row.claim.token !== null && this.#life !== null;
  }

  #append({ append, life }: AppendMessage): AppendAnswer {
    const { claim } = append;
    if (claim.kind === "erase") {
      this.#isErased = true;
      return { ok: true };
    }
    const isAcquired = claim.kind === "acquire";
    if (isAcquired && life !== undefined && this.#buried.includes(life)) return this.#refused("conflict");
    const reason = this.#state.append(append, append.expect !== null && this.#isHeld, Date.now());
    if (reason) return this.#refused(reason);
    // A message that came twice says nothing of the claim that followed.
    if (isAcquired && this.#row.claim.token === claim.token) this.#claimed(life ?? null);
    if (this.#row.claim.token === null) this.#life = null;
    if (!append.countsOnly) this.#show();
    this.#pauseMs = 0;
    this.#nextPauseMs = FIRST_PAUSE_MS;
    this.#changes++;
    return { ok: true };
  }

  #refused(reason: Refusal): AppendAnswer {
    return { ok: false, reason, held: this.#state.held(this.#isHeld) };
  }

  #claimed(life: string | null): void {
    this.#life = life;
    // An offer to somebody else is void.
    this.#isOffered = false;
    this.#offers++;
    sink.here();
    this.#probe().catch(failTask);
  }

  #lost(loss: Loss): void {
    if ("life" in loss) this.#buried = [...this.#buried, loss.life].slice(-MOST_BURIED);
    const isOurs = "life" in loss ? loss.life === this.#life : loss.token === this.#row.claim.token;
    if (!this.#isHeld || !isOurs) return;
    this.#life = null;
    this.#state.expire(Date.now());
    this.#changes++;
  }

  /** Asks now and then whether the life lasts in which the run is claimed. */
  async #probe(): Promise<void> {
    if (this.#isProbing) return;
    this.#isProbing = true;
    while (this.#life !== null) {
      const life = this.#life;
      await sleep(PROBE_MS);
      if (this.#life === life && (await this.#isOver(life))) this.#lost({ life });
    }
    this.#isProbing = false;
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
      if (!this.#isOffered && this.#hasEnded) return this.#end();
      if (this.#isLong) return this.#continue();
      if (!this.#isOffered && this.#isDue) this.#offer().catch(failTask);
      await this.#untilMoved();
    }
  }

  get #hasEnded(): boolean {
    const { status, wakeAt, claim } = this.#row;
    return ended(status) && wakeAt === null && claim.token === null;
  }

  get #isLong(): boolean {
    const { appendsPerExecution } = this.#args.settings;
    return this.#state.appends >= appendsPerExecution || workflowInfo().continueAsNewSuggested;
  }

  /** Its time has come, and nobody advances it. */
  get #isDue(): boolean {
    const { wakeAt } = this.#row;
    return this.#pauseMs === 0 && !this.#isHeld && wakeAt !== null && wakeAt <= Date.now();
  }

  async #untilMoved(): Promise<void> {
    const [seen, offered] = [this.#changes, this.#isOffered];
    const moved = () =>
      this.#changes !== seen || this.#isOffered !== offered || this.#isLong || this.#isErased;
    if (this.#isOffered || this.#isHeld) return condition(moved);
    const { wakeAt } = this.#row;
    const dueMs = wakeAt === null ? undefined : Math.max(wakeAt - Date.now(), 1);
    const ms = this.#pauseMs > 0 ? this.#pauseMs : dueMs;
    if (ms === undefined) return condition(moved);
    const isMoved = await condition(moved, ms);
    if (!isMoved) this.#pauseMs = 0;
  }

  /** Offers the run to the workers, until one of them has said what it does with it. */
  async #offer(): Promise<void> {
    this.#isOffered = true;
    const own = ++this.#offers;
    let end: OfferEnd | undefined;
    try {
      end = await scheduleActivity<OfferEnd>(ACTIVITIES.offer, [{ row: this.#row } satisfies Offer], {
        startToCloseTimeout: OFFER_MS,
        scheduleToStartTimeout: OFFER_MS,
        heartbeatTimeout: this.#args.settings.heartbeatMs,
        retry: { maximumAttempts: 1 },
        allowEagerDispatch: true,
        summary: this.#row.workflow,
      });
    } catch {
      // The worker is gone that had the offer.
    }
    const isCurrent = own === this.#offers;
    if (isCurrent) this.#isOffered = false;
    // Signals are applied first, whenever they come: what is said here may change while this task isn't saved.
    if (end?.claim) this.#take(end.claim);
    else if (end?.kept) this.#keep(end.kept);
    else if (isCurrent && end && !end.taken) this.#rest(end);
    this.#changes++;
  }

  /** The worker that has the claim goes on with it, in another life. */
  #keep({ token, life }: { readonly token: string; readonly life: string }): void {
    if (this.#row.claim.token !== token || this.#isHeld || this.#buried.includes(life)) return;
    this.#claimed(life);
  }

  /** True when the life is over, and false when nobody can say so now. */
  async #isOver(life: string): Promise<boolean> {
    try {
      const lasts = await scheduleActivity<boolean>(ACTIVITIES.probe, [life], {
        scheduleToCloseTimeout: PROBE_MS,
        startToCloseTimeout: LOOK_MS,
      });
      return !lasts;
    } catch {
      return false;
    }
  }

  #rest({ why }: OfferEnd): void {
    this.#pauseMs = why === "no-code" ? this.#nextPauseMs : FIRST_PAUSE_MS;
    this.#nextPauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
  }

  #carried(life: string | null): Carried {
    return this.#state.carry(workflowInfo().runId, { life, buried: this.#buried });
  }

  async #continue(): Promise<never> {
    const { settings } = this.#args;
    return continueAsNew({ settings, carried: this.#carried(this.#life) } satisfies RunArguments);
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
