import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { type CallMatch, type LoggedCall, onLines, type Reply, type Request } from "./crash/wire.ts";

/**
 * The outside world as a process of its own: it writes down and syncs every call before it answers, so what it
 * has seen survives whatever happens to the caller. Ends with its parent, when standard input closes.
 */
interface Pending {
  readonly socket: Socket;
  readonly call: LoggedCall;
  readonly reply: Reply;
}

const RETRY_AFTER_MS = 15;

let log = openSync(process.argv[2] ?? "witness.jsonl", "a");
let calls = 0;
let results = new Map<string, string>();
let refused = new Map<string, number>();
let arrived: Pending[] = [];
let held: Pending[] = [];
let holds: { match: CallMatch; left: number }[] = [];
const watchers = new Set<Socket>();

const send = (socket: Socket, message: object): void => {
  if (!socket.destroyed) socket.write(`${JSON.stringify(message)}\n`);
};

const place = (runId: string, step: string): string => `${runId} ${step}`;

function receive(socket: Socket, id: number, { call, refuse }: Request & { do: "call" }): void {
  const where = place(call.runId, call.step);
  const before = refused.get(where) ?? 0;
  const n = ++calls;
  if (before < refuse) {
    refused.set(where, before + 1);
    const reply = { id, status: 429, retryAfterMs: RETRY_AFTER_MS };
    arrived.push({ socket, call: { n, ...call, outcome: "refused" }, reply });
  } else {
    const known = call.effect === "keyed" ? results.get(call.key) : undefined;
    const result = known ?? `${call.step} ${call.args.slice(0, 12)}`;
    results.set(where, result);
    if (call.effect === "keyed") results.set(call.key, result);
    const outcome = known === undefined ? "done" : "repeated";
    arrived.push({ socket, call: { n, ...call, outcome }, reply: { id, status: 200, result } });
  }
  // Whatever arrives in the same turn is synced together.
  if (arrived.length === 1) setImmediate(flush);
}

function flush(): void {
  const batch = arrived;
  arrived = [];
  writeSync(log, batch.map(({ call }) => `${JSON.stringify(call)}\n`).join(""));
  fsyncSync(log);
  for (const pending of batch) {
    const hold = holds.find(({ match, left }) => left > 0 && matches(match, pending.call));
    if (hold) {
      hold.left--;
      held.push(pending);
    } else {
      send(pending.socket, pending.reply);
    }
    for (const watcher of watchers) send(watcher, { call: pending.call });
  }
}

const matches = (match: CallMatch, call: LoggedCall): boolean =>
  (match.runId === undefined || match.runId === call.runId) &&
  (match.step === undefined || match.step === call.step) &&
  (match.effect === undefined || match.effect === call.effect);

function begin(file: string): void {
  closeSync(log);
  log = openSync(file, "a");
  calls = 0;
  results = new Map();
  refused = new Map();
  held = [];
  holds = [];
}

function answer(socket: Socket, id: number, request: Exclude<Request, { do: "call" }>): void {
  let result: string | null = null;
  switch (request.do) {
    case "seen":
      result = results.get(place(request.runId, request.step)) ?? null;
      break;
    case "watch":
      watchers.add(socket);
      break;
    case "hold":
      holds.push({ match: request.match, left: request.times });
      break;
    case "release":
      holds = [];
      for (const one of held.splice(0)) send(one.socket, one.reply);
      break;
    case "begin":
      begin(request.file);
      break;
  }
  send(socket, { id, status: 200, result });
}

const server = createServer({ noDelay: true }, (socket) => {
  socket.on("error", () => socket.destroy());
  socket.on("close", () => watchers.delete(socket));
  onLines(socket, (line) => {
    const { id, ...request } = JSON.parse(line) as Request & { id: number };
    if (request.do === "call") receive(socket, id, request);
    else answer(socket, id, request);
  });
});

server.listen(0, "127.0.0.1", () => writeSync(1, `${(server.address() as AddressInfo).port}\n`));
process.stdin.on("end", () => process.exit(0)).resume();
