/**
 * Clients that follow all runs, in a process of their own: each comes back where it was cut off, and counts what it gets.
 * Told what to do by its parent, in messages.
 */
import { type ClientRequest, get } from "node:http";

const EVENT = /^id: (\S+)\n(?:event: run\ndata: \{"run":"([^"]+)","seq":(\d+),"at":(\d+)|event: resync)?/;
/** Delays of events in milliseconds, by how often. */
const delays = new Map<number, number>();

class Follower {
  events = 0;
  doubled = 0;
  /** Events that came before the one that precedes them in their run. */
  early = 0;
  resyncs = 0;
  reconnects = 0;
  refused = 0;
  /** The last position of each run. */
  readonly seen = new Map<string, number>();
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  #request: ClientRequest | undefined;
  #lastId: string | undefined;
  #isClosed = false;

  constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#headers = headers;
  }

  /** Resolves when the first answer has begun. */
  open(): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const last = this.#lastId === undefined ? {} : { "last-event-id": this.#lastId };
      this.#request = get(this.#url, { headers: { ...this.#headers, ...last }, agent: false }, (response) => {
        if (response.statusCode !== 200) {
          this.refused++;
          response.resume();
          return reject(new Error(`status ${response.statusCode}`));
        }
        let rest = "";
        response.setEncoding("utf8").on("data", (part: string) => {
          const blocks = (rest + part).split("\n\n");
          rest = blocks.pop() ?? "";
          for (const block of blocks) this.#take(block);
          resolve();
        });
        response.once("close", () => this.#again());
      });
      this.#request.on("error", reject);
    });
  }

  #again(): void {
    if (this.#isClosed) return;
    this.reconnects++;
    this.open().catch(() => setTimeout(() => this.#again(), 500));
  }

  #take(block: string): void {
    const [found, id, run, seq, at] =
      EVENT.exec(block.startsWith(":") ? block.slice(block.indexOf("\n") + 1) : block) ?? [];
    if (found === undefined) return;
    this.#lastId = id;
    if (run === undefined) {
      if (found.endsWith("resync")) this.resyncs++;
      return;
    }
    this.events++;
    const known = this.seen.get(run) ?? 0;
    const now = Number(seq);
    if (now <= known) this.doubled++;
    else {
      if (now > known + 1) this.early += now - known - 1;
      this.seen.set(run, now);
    }
    const delay = Math.max(0, Date.now() - Number(at));
    delays.set(delay, (delays.get(delay) ?? 0) + 1);
  }

  close(): void {
    this.#isClosed = true;
    this.#request?.destroy();
  }
}

const followers: Follower[] = [];

interface Opening {
  readonly kind: "open";
  readonly url: string;
  readonly token: string;
  readonly clients: number;
}

interface Question {
  readonly kind: "report";
  readonly expected: readonly (readonly [run: string, seq: number])[];
}

async function open({ url, token, clients }: Opening): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  for (let from = 0; from < clients; from += 50) {
    const batch = Array.from({ length: Math.min(50, clients - from) }, () => new Follower(url, headers));
    followers.push(...batch);
    await Promise.all(batch.map((follower) => follower.open()));
  }
}

const sum = (pick: (one: Follower) => number): number =>
  followers.reduce((total, one) => total + pick(one), 0);

/** What is missing of these runs up to their last positions, and what else was seen. */
function report({ expected }: Question): object {
  const behind = (one: Follower): number =>
    expected.reduce((total, [run, seq]) => total + Math.max(0, seq - (one.seen.get(run) ?? 0)), 0);
  return {
    events: sum(({ events }) => events),
    missing: sum(behind),
    early: sum(({ early }) => early),
    doubled: sum(({ doubled }) => doubled),
    resyncs: sum(({ resyncs }) => resyncs),
    reconnects: sum(({ reconnects }) => reconnects),
    refused: sum(({ refused }) => refused),
    delays: [...delays],
  };
}

async function answer(message: Opening | Question | { readonly kind: "close" }): Promise<void> {
  if (message.kind === "open") await open(message);
  if (message.kind === "close") for (const one of followers) one.close();
  process.send?.({ kind: message.kind, ...(message.kind === "report" ? report(message) : {}) });
  if (message.kind === "close") process.disconnect();
}

process.on("message", (message: Parameters<typeof answer>[0]) => void answer(message));
