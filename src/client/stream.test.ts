import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createTcp, type Server } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { afterEach, describe, expect, it } from "vitest";
import { createEngine, workflow } from "../index.ts";
import { permissionsOf } from "../server/access/permission.ts";
import { createApp } from "../server/app.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { ApiError, createClient, type StreamEvent, type StreamState } from "./index.ts";

const talk = workflow("talk", async (ctx) => {
  for (let turn = 0; ; turn++) {
    const { payload } = await ctx.signal("say");
    await ctx.step(`turn-${turn}`, () => payload);
    if (payload === "end") return turn;
  }
});

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ended.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function serve() {
  const store = createMemoryStore();
  const engine = createEngine({ store, workflows: [talk] });
  const permissions = permissionsOf(["admin"]);
  const app = createApp({ engine, store, pollMs: 10, identify: () => ({ actor: "ada", permissions }) });
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  const server = createServer((request, response) => void listener(request, response));
  ended.push(async () => {
    await app.close();
    await engine.close({ drainMs: 0 });
    server.closeAllConnections();
  });
  return { engine, store, port: await portOf(server) };
}

/** A wire that breaks after so many bytes of an answer, wherever an event is then. */
async function brittle(target: number, bytesOf: (connection: number) => number) {
  const cuts = { count: 0 };
  let connections = 0;
  const wire = createTcp((near) => {
    let left = bytesOf(connections++);
    const far = connect(target, "127.0.0.1");
    near.on("error", () => far.destroy()).on("close", () => far.destroy());
    far.on("error", () => near.destroy()).on("close", () => near.destroy());
    near.pipe(far);
    far.on("data", (chunk) => {
      near.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left > 0) return;
      cuts.count++;
      near.destroySoon();
      far.destroy();
    });
  });
  return { port: await portOf(wire), cuts };
}

const urlOf = (port: number): string => `http://127.0.0.1:${port}`;
const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

/** Reads until the run has completed. */
async function untilDone(events: AsyncIterable<StreamEvent>, run: string): Promise<number[]> {
  const seqs: number[] = [];
  for await (const told of events) {
    if (told.type === "resync") throw new Error("events are missing");
    if (told.event.run !== run) continue;
    seqs.push(told.event.seq);
    if (told.event.kind === "run_completed") break;
  }
  return seqs;
}

/** Sends requests, and tells of the first answer. */
function tellingFetch() {
  let tell: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const sending = async (request: Request): Promise<Response> => fetch(request).finally(tell);
  return { fetch: sending, answered };
}

describe("client.streamEvents", () => {
  it.each([
    ["a named run", { run: ["a"] }],
    ["all runs", {}],
  ])("tells every event of %s once over a wire that breaks again and again", async (_, args) => {
    const { engine, store, port } = await serve();
    const wire = await brittle(port, (connection) => 900 + ((connection * 137) % 600));
    const { fetch, answered } = tellingFetch();
    const client = createClient({ url: urlOf(wire.port), fetch });
    await engine.start(talk, undefined, { id: "run" in args ? "a" : "b" });
    const before = (await store.read("a"))?.seq ?? 0;
    const reading = untilDone(
      client.streamEvents({ ...args, ...("run" in args ? { after: 0 } : {}) }, { retryMs: 1 }),
      "a",
    );
    await answered;
    if (before === 0) await engine.start(talk, undefined, { id: "a" });
    for (let turn = 1; turn <= 25; turn++) await engine.signal("a", "say", turn === 25 ? "end" : turn);
    expect(await reading).toEqual(upTo((await store.read("a"))?.seq ?? 0));
    expect(wire.cuts.count).toBeGreaterThan(3);
  });

  it("loses nothing when the connection breaks before the first event", async () => {
    const { engine, store, port } = await serve();
    await engine.start(talk, undefined, { id: "a" });
    await engine.signal("a", "say", 1);
    const { seq = 0 } = (await store.read("a")) ?? {};
    // The second connection waits until the run has gone on and ended, which the first didn't live to tell.
    let sent = 0;
    const sending = async (request: Request): Promise<Response> => {
      if (++sent !== 1) return fetch(request);
      const response = await fetch(request);
      const reader = response.body?.getReader();
      const first = await reader?.read();
      await reader?.cancel();
      await engine.signal("a", "say", "end");
      await engine.result("a");
      const { headers } = response;
      return new Response(first?.value ?? null, { headers });
    };
    const client = createClient({ url: urlOf(port), fetch: sending });
    const seqs = await untilDone(client.streamEvents({ run: ["a"] }, { retryMs: 1 }), "a");
    const last = (await store.read("a"))?.seq ?? 0;
    expect(seqs).toEqual(upTo(last).filter((one) => one >= (seqs[0] ?? 0)));
    expect(seqs[0]).toBeGreaterThan(seq);
    expect(sent).toBe(2);
  });

  it("takes a silent connection for dead and makes another", async () => {
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.headers["last-event-id"]?.toString());
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(asked.length === 1 ? "id: x.1\n\n" : 'id: x.2\nevent: run\ndata: {"run":"a"}\n\n');
    });
    ended.push(() => server.closeAllConnections());
    const client = createClient({ url: urlOf(await portOf(server)) });
    for await (const told of client.streamEvents({}, { retryMs: 1, silenceMs: 200 })) {
      expect(told).toEqual({ type: "run", id: "x.2", event: { run: "a" } });
      break;
    }
    expect(asked).toEqual([undefined, "x.1"]);
  });

  it("says whether it is connected, so that a page can show it", async () => {
    const states: StreamState[] = [];
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`id: x.${states.length}\nevent: run\ndata: {"run":"a"}\n\n`);
    });
    const client = createClient({ url: urlOf(await portOf(server)) });
    const options = { retryMs: 1, onState: (state: StreamState) => void states.push(state) };
    let told = 0;
    for await (const _ of client.streamEvents({}, options)) if (++told === 3) break;
    expect(states).toEqual(["connecting", "live", "reconnecting", "live", "reconnecting", "live"]);
  });

  it("ends when its signal aborts, while it reads and while it waits to connect again", async () => {
    const { port } = await serve();
    const { fetch, answered } = tellingFetch();
    const reads = new AbortController();
    const client = createClient({ url: urlOf(port), fetch });
    const reading = client.streamEvents({}, { signal: reads.signal }).next();
    await answered;
    reads.abort();
    expect(await reading).toEqual({ done: true, value: undefined });
    const waits = new AbortController();
    const closing = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(": bye\n\n");
      setImmediate(() => waits.abort());
    });
    const other = createClient({ url: urlOf(await portOf(closing)) });
    const stream = other.streamEvents({}, { signal: waits.signal, retryMs: 600_000 });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it("fails when it is refused, at first and later, and goes on through an outage", async () => {
    const answers = [
      (): [number, string, string] => [200, "text/event-stream", "id: x.1\n\n"],
      (): [number, string, string] => [503, "text/plain", "restarting"],
      (): [number, string, string] => [429, "text/plain", "too many"],
      (): [number, string, string] => [401, "text/plain", "token revoked"],
    ];
    let asked = 0;
    const server = createServer((_, response) => {
      const [status, type, text] = answers[asked++ % answers.length]?.() ?? [500, "", ""];
      response.writeHead(status, { "content-type": type }).end(text);
    });
    const client = createClient({ url: urlOf(await portOf(server)) });
    await expect(client.streamEvents({}, { retryMs: 1 }).next()).rejects.toMatchObject({ status: 401 });
    expect(asked).toBe(4);
    asked = 1;
    await expect(client.streamEvents({}, { retryMs: 1 }).next()).rejects.toBeInstanceOf(ApiError);
    expect(asked).toBe(2);
  });
});
