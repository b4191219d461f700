import { type ClientRequest, get } from "node:http";

interface Line {
  readonly runId?: string;
  readonly run?: string;
  readonly seq: number;
}

/** A client that follows all runs, comes back where it was cut off, and counts what it gets. */
export class Follower {
  events = 0;
  doubled = 0;
  reconnects = 0;
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #seen = new Map<string, Set<number>>();
  #request: ClientRequest | undefined;
  #lastId: string | undefined;
  #isClosed = false;

  constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.#url = url;
    this.#headers = headers;
  }

  /** Resolves when the first answer has begun. */
  open(): Promise<void> {
    return new Promise((resolve, reject) => {
      const last = this.#lastId === undefined ? {} : { "last-event-id": this.#lastId };
      this.#request = get(this.#url, { headers: { ...this.#headers, ...last }, agent: false }, (response) => {
        if (response.statusCode !== 200) return reject(new Error(`status ${response.statusCode}`));
        resolve();
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => {
          text += part;
          for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
            this.#take(text.slice(0, end));
            text = text.slice(end + 2);
          }
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
    const [, id] = /^id: (.*)$/m.exec(block) ?? [];
    const [, data] = /^data: (.*)$/m.exec(block) ?? [];
    if (id === undefined || data === undefined) return;
    this.#lastId = id;
    const line = JSON.parse(data) as Line;
    const run = line.runId ?? line.run ?? "";
    const seen = this.#seen.get(run) ?? new Set<number>();
    this.#seen.set(run, seen);
    this.events++;
    if (seen.has(line.seq)) this.doubled++;
    seen.add(line.seq);
  }

  /** How many events of these runs, up to their last positions, haven't arrived. */
  missing(expected: ReadonlyMap<string, number>): number {
    let missing = 0;
    for (const [run, seq] of expected) {
      const seen = this.#seen.get(run);
      for (let at = 1; at <= seq; at++) if (!seen?.has(at)) missing++;
    }
    return missing;
  }

  hasAll(expected: ReadonlyMap<string, number>): boolean {
    return [...expected].every(([run, seq]) => (this.#seen.get(run)?.size ?? 0) >= seq);
  }

  close(): void {
    this.#isClosed = true;
    this.#request?.destroy();
  }
}
