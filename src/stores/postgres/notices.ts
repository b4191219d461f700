import type { Append, AppendResult, News } from "../../core/store/contract.ts";
import type { Database } from "./queryable.ts";

/** A notice is sent at most this often, with everything that was written in the meantime. */
const GAP_MS = 20;
/** How long to wait before listening again after the connection was lost: at first, and at most. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** A notice holds less than 8,000 bytes. Runs beyond this are found by polling. */
const MOST_CHARACTERS = 4_000;

type Listener = (news: News) => void;

interface Setup {
  readonly database: Database;
  readonly schema: string;
}

/**
 * Tells the other processes of a schema what was written, and hears it from them, by NOTIFY and LISTEN. Nothing depends
 * on it: whatever fails here is passed over, and is found by polling as without it.
 *
 * A notice is a statement of its own, after the append: within it, all commits of the database would take turns.
 */
export class Notices {
  readonly #setup: Setup;
  readonly #self = crypto.randomUUID().slice(0, 8);
  readonly #listeners = new Set<Listener>();
  #runs = new Set<string>();
  #size = 0;
  #hasNews = false;
  #isDue = false;
  #sending: Promise<unknown> = Promise.resolve();
  #listening: Promise<() => Promise<void>> | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(setup: Setup) {
    this.#setup = setup;
  }

  /** The length of a channel's name is limited, and a schema's may be just as long. */
  get #channel(): string {
    return `holdfast ${this.#setup.schema}`.slice(0, 63);
  }

  /** Called with every batch. What a run's own worker does to it step by step concerns only those who follow everything. */
  wrote(batch: readonly Append[], results: readonly AppendResult[]): void {
    for (const [index, { run, claim }] of batch.entries()) {
      if (!results[index]?.ok) continue;
      this.#hasNews = true;
      this.#isDue ||= run.wakeAt !== null && claim.kind !== "hold" && claim.kind !== "acquire";
      if (claim.kind === "hold" || this.#size > MOST_CHARACTERS || this.#runs.has(run.id)) continue;
      this.#runs.add(run.id);
      this.#size += run.id.length;
    }
    if (this.#hasNews) this.#soon();
  }

  #soon(): void {
    if (this.#timer || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#send();
    }, GAP_MS);
    this.#timer.unref();
  }

  #send(): void {
    const told = JSON.stringify([this.#self, this.#isDue ? "due" : "", ...this.#runs]);
    this.#runs = new Set();
    this.#size = 0;
    this.#hasNews = this.#isDue = false;
    this.#sending = this.#setup.database
      .query("SELECT pg_notify($1, $2)", [this.#channel, told])
      .catch(() => undefined);
  }

  /** Listens from the first listener on. */
  hear(listener: Listener): () => void {
    this.#listeners.add(listener);
    this.#listen();
    return () => this.#listeners.delete(listener);
  }

  #listen(): void {
    const { database } = this.#setup;
    if (!database.listen || this.#listening || this.#isClosed) return;
    const listening = database.listen(
      this.#channel,
      (told) => this.#heard(told),
      () => this.#lost(),
    );
    this.#listening = listening;
    listening.then(
      () => {
        this.#pauseMs = FIRST_PAUSE_MS;
        // What was written before may have been told to nobody.
        for (const listener of this.#listeners) listener({ runs: null, isDue: true });
      },
      () => this.#lost(),
    );
  }

  #lost(): void {
    this.#listening = undefined;
    const again = setTimeout(() => this.#listen(), this.#pauseMs);
    again.unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }

  #heard(told: string): void {
    const [from, due, ...runs] = readNotice(told);
    if (from === undefined || from === this.#self) return;
    for (const listener of this.#listeners) listener({ runs, isDue: due === "due" });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    if (this.#hasNews) this.#send();
    const stop = await this.#listening?.catch(() => undefined);
    await Promise.all([this.#sending, stop?.().catch(() => undefined)]);
  }
}

/** Anybody who may connect can send to a channel. */
function readNotice(told: string): string[] {
  try {
    const read: unknown = JSON.parse(told);
    return Array.isArray(read) && read.every((one) => typeof one === "string") ? read : [];
  } catch {
    return [];
  }
}
