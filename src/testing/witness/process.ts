import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { type CallMatch, type LoggedCall, onLines, type Reply, type Request } from "./wire.ts";

/**
 * The outside world as a separate process: it records and syncs every call before it answers, so its knowledge survives
 * whatever happens to the caller. Ends with its parent, when standard input closes.
 */
interface Pending {
  readonly socket: Socket;
  readonly call: LoggedCall;
  readonly reply: Reply;
}

const RETRY_AFTER_MS = 15;

const send = (socket: Socket, message: object): void => {
  if (!socket.destroyed) socket.write(`${JSON.stringify(message)}\n`);
};

const place = (runId: string, deed: string): string => `${runId} ${deed}`;

/** One log file and the memory of the receivers behind it. */
class Log {
  readonly watchers = new Set<Socket>();
  readonly #name: string;
  readonly #file: number;
  readonly #results = new Map<string, string>();
  readonly #refused = new Map<string, number>();
  #calls = 0;
  #arrived: Pending[] = [];
  #held: Pending[] = [];
  #holds: { match: CallMatch; left: number }[] = [];

  constructor(name: string, file: string) {
    this.#name = name;
    this.#file = openSync(file, "a");
  }

  receive(socket: Socket, id: number, { call, refuse }: Request & { do: "call" }): void {
    const where = place(call.runId, call.deed);
    const before = this.#refused.get(where) ?? 0;
    const n = ++this.#calls;
    if (before < refuse) {
      this.#refused.set(where, before + 1);
      const reply = { id, status: 429, retryAfterMs: RETRY_AFTER_MS };
      this.#arrived.push({ socket, call: { n, ...call, outcome: "refused" }, reply });
    } else {
      const known = call.effect === "keyed" ? this.#results.get(call.key) : undefined;
      const result = known ?? `${call.deed} ${call.args.slice(0, 12)}`;
      this.#results.set(where, result);
      if (call.effect === "keyed") this.#results.set(call.key, result);
      const outcome = known === undefined ? "done" : "repeated";
      this.#arrived.push({ socket, call: { n, ...call, outcome }, reply: { id, status: 200, result } });
    }
    // Calls that arrive in the same turn are synced together.
    if (this.#arrived.length === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const batch = this.#arrived;
    this.#arrived = [];
    writeSync(this.#file, batch.map(({ call }) => `${JSON.stringify(call)}\n`).join(""));
    fsyncSync(this.#file);
    for (const pending of batch) {
      const hold = this.#holds.find(({ match, left }) => left > 0 && matches(match, pending.call));
      if (hold) {
        hold.left--;
        this.#held.push(pending);
      } else {
        send(pending.socket, pending.reply);
      }
      for (const watcher of this.watchers) send(watcher, { log: this.#name, call: pending.call });
    }
  }

  note(note: object): void {
    writeSync(this.#file, `${JSON.stringify({ n: ++this.#calls, ...note })}\n`);
    fsyncSync(this.#file);
  }

  seen(runId: string, deed: string): string | null {
    return this.#results.get(place(runId, deed)) ?? null;
  }

  hold(match: CallMatch, times: number): void {
    this.#holds.push({ match, left: times });
  }

  release(): void {
    this.#holds = [];
    for (const { socket, reply } of this.#held.splice(0)) send(socket, reply);
  }

  close(): void {
    closeSync(this.#file);
  }
}

const matches = (match: CallMatch, call: LoggedCall): boolean =>
  (match.runId === undefined || match.runId === call.runId) &&
  (match.step === undefined || match.step === call.step) &&
  (match.effect === undefined || match.effect === call.effect);

const logs = new Map<string, Log>();

function logOf(name: string): Log {
  let log = logs.get(name);
  if (!log) logs.set(name, (log = new Log(name, name === "" ? (process.argv[2] ?? "witness.jsonl") : name)));
  return log;
}

function answer(socket: Socket, id: number, request: Request): void {
  const log = logOf(request.log);
  let result: string | null = null;
  switch (request.do) {
    case "call":
      return log.receive(socket, id, request);
    case "seen":
      result = log.seen(request.runId, request.deed);
      break;
    case "note":
      log.note(request.note);
      break;
    case "watch":
      log.watchers.add(socket);
      break;
    case "hold":
      log.hold(request.match, request.times);
      break;
    case "release":
      log.release();
      break;
    case "forget":
      log.close();
      logs.delete(request.log);
      break;
  }
  send(socket, { id, status: 200, result });
}

const server = createServer({ noDelay: true }, (socket) => {
  socket.on("error", () => socket.destroy());
  onLines(socket, (line) => {
    const { id, ...request } = JSON.parse(line) as Request & { id: number };
    answer(socket, id, request as Request);
  });
});

server.listen(0, "127.0.0.1", () => writeSync(1, `${(server.address() as AddressInfo).port}\n`));
process.stdin.on("end", () => process.exit(0)).resume();
