import type { Engine } from "../../core/engine/engine.ts";
import type { Act } from "../../core/journal/act.ts";
import type { JournalEvent } from "../../core/journal/events.ts";
import { isExpected, isPassing } from "../../core/journal/going-on.ts";
import { Values } from "../../core/journal/values.ts";
import { silentLogger } from "../../core/logger.ts";
import type { Store } from "../../core/store/contract.ts";
import { isAway } from "../../core/store/faults.ts";
import { ended } from "../../core/types.ts";
import type { CommandContext } from "../context.ts";
import { duration, oneLine } from "../format.ts";
import { GithubLog } from "../github.ts";
import { messageOf } from "../modules.ts";
import type { Output } from "../output.ts";
import { displayFor } from "../surroundings.ts";
import { RunDisplay } from "../view/display.ts";
import { RunView, type Work } from "../view/run-view.ts";
import { Stopper } from "./stopper.ts";
import { tellSuddenEnd } from "./sudden-end.ts";

/** How often to poll the journal for writes of other processes. */
const LOOK_MS = 500;
/** How long the store may be down; the engine's default patience. */
const PATIENCE_MS = 60_000;

/** How the command left a run. */
export interface Driven {
  readonly view: RunView;
  readonly store: Store;
  /** The work done before this command, and the position at that time. */
  readonly before: Readonly<Work>;
  readonly from: number;
  readonly ms: number;
  /** From the takeover to the first new work. */
  readonly recoveredMs: number | undefined;
  /** The exit code requested by Ctrl-C or SIGTERM. */
  readonly exit: number | undefined;
  /** True when the run was released in the middle of something. */
  readonly isCut: boolean;
}

interface Driving {
  readonly engine: Engine;
  /** The store of the run. */
  readonly store: Store;
  readonly runId: string;
  readonly act: Act;
  /** Starts the run, once everything is ready to watch it. */
  readonly go?: () => Promise<unknown>;
}

/** Stays with a run until it has ended, is paused or waits for a person, and shows its progress. */
export async function drive(context: CommandContext<unknown>, driving: Driving): Promise<Driven> {
  const { engine, store, runId, act } = driving;
  const { out, host } = context;
  const { ui } = (await context.settings()).values;
  const mode = displayFor(host.env, host.stderr.isTTY, ui, context.globals.quiet);
  const view = new RunView(store, runId, context.globals.verbose);
  await view.catchUp();
  const [before, from, begun] = [view.work, view.seq, performance.now()];
  const cli = context.unsaved === undefined ? (command: string) => context.cli(command) : undefined;
  const display = new RunDisplay(view, out, { host, display: mode, cli });
  const stopper = new Stopper({
    engine,
    runId,
    act,
    host,
    say: (text, soon) => display.hint(text, soon),
  });
  const news: JournalEvent[] = [];
  const offs = [...tellFailures(engine, view, out), tellSuddenEnd(context, runId, () => display.end())];
  const github = new GithubLog(host, out);
  github.open(`${view.row.workflow} ${runId}`);
  try {
    await driving.go?.();
    const isCut = await follow(view, display, {
      engine,
      store,
      stopper,
      stays: mode === "live" && host.canAsk,
      seen: (events) => news.push(...events),
    });
    return {
      view,
      store,
      before,
      from,
      ms: performance.now() - begun,
      recoveredMs: recovered(news),
      exit: stopper.exit,
      isCut,
    };
  } finally {
    for (const off of offs) off();
    stopper.end();
    display.end();
    github.close();
  }
}

/** Reports a failing store at once: work in the meantime isn't saved yet. */
function tellFailures(engine: Engine, view: RunView, out: Output): (() => void)[] {
  return [
    engine.on("store_failing", ({ error }) =>
      out.warn(`not saved since #${view.seq}: ${oneLine(messageOf(error))}; the run waits for the store`),
    ),
    engine.on("store_recovered", ({ sinceMs }) =>
      out.say(`${out.note.green("✓")} the store is back after ${duration(sinceMs)}`),
    ),
  ];
}

interface Following {
  readonly engine: Engine;
  readonly store: Store;
  readonly stopper: Stopper;
  readonly stays: boolean;
  readonly seen: (events: readonly JournalEvent[]) => void;
}

/** Returns true when it was released in the middle. */
async function follow(view: RunView, display: RunDisplay, following: Following): Promise<boolean> {
  const { engine, store, stopper, stays, seen } = following;
  const values = new Values(store, { valueBytes: Infinity, warnBytes: Infinity }, silentLogger);
  const bell = new Bell(engine, view.runId);
  const patience = new Patience();
  try {
    for (;;) {
      const events = await patience.during(async () => {
        const news = await view.catchUp();
        seen(news);
        await view.learnChoices(values);
        display.tell(news, await reasonsOf(values, view.runId, news));
        return news;
      });
      if (events && isSettled(view, stays)) return false;
      if ((await Promise.race([bell.next(), stopper.now])) === "stopped") break;
    }
  } finally {
    bell.end();
  }
  // Not like a crash: the run is handed over, so that repeated Ctrl-C isn't taken for a run that kills its workers.
  await engine.close({ drainMs: 1 });
  seen(await view.catchUp());
  return !isSettled(view, false);
}

function isSettled({ row }: RunView, stays: boolean): boolean {
  if (ended(row.status) || row.status === "paused") return true;
  const goesOn = stays ? isExpected : isPassing;
  return row.status === "waiting" && !row.waiting.some(({ kind }) => goesOn(kind));
}

/** Tolerates a store that doesn't answer, as long as the engine does; damage is reported at once. */
class Patience {
  #since: number | undefined;

  async during<T>(look: () => Promise<T>): Promise<T | undefined> {
    try {
      const found = await look();
      this.#since = undefined;
      return found;
    } catch (error) {
      this.#since ??= performance.now();
      if (!isAway(error) || performance.now() - this.#since > PATIENCE_MS) throw error;
      return undefined;
    }
  }
}

/** Rings when a run was written to here, and periodically for writes of others. */
class Bell {
  #ring = (): void => undefined;
  #isDue = false;
  readonly #timer: NodeJS.Timeout;

  constructor(engine: Engine, runId: string) {
    this.#timer = setInterval(() => this.#sound(), LOOK_MS);
    // The timer above makes up for anything it misses.
    this.#listen(engine, runId).catch(() => undefined);
  }

  async #listen(engine: Engine, runId: string): Promise<void> {
    for await (const event of engine.events()) if ("runId" in event && event.runId === runId) this.#sound();
  }

  #sound(): void {
    this.#isDue = true;
    this.#ring();
  }

  async next(): Promise<"rung"> {
    if (!this.#isDue) await new Promise<void>((resolve) => (this.#ring = resolve));
    this.#isDue = false;
    return "rung";
  }

  end(): void {
    clearInterval(this.#timer);
  }
}

/** The reasons of failed attempts, one line each, by position. */
async function reasonsOf(
  values: Values,
  runId: string,
  events: readonly JournalEvent[],
): Promise<ReadonlyMap<number, string>> {
  const reasons = new Map<number, string>();
  for (const { kind, seq } of events) {
    if (kind !== "step_failed") continue;
    const error = await Promise.resolve(values.at(runId, seq)).catch(() => undefined);
    if (error instanceof Error) reasons.set(seq, oneLine(error.message));
  }
  return reasons;
}

function recovered(events: readonly JournalEvent[]): number | undefined {
  const taken = events.find(({ kind }) => kind === "run_claimed");
  const first = taken && events.find(({ kind, seq }) => seq > taken.seq && kind.startsWith("step_"));
  return first && first.at - taken.at;
}
