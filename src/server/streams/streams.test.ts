import { DurableStream, IdempotentProducer, stream } from "@durable-streams/client";
import { afterEach, describe, expect, it } from "vitest";
import { signalled } from "../../../test/support/lab.ts";
import { serveStreams } from "../../../test/support/streams.ts";
import { type Workflow, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function setup(workflows: readonly Workflow<never, unknown>[] = []) {
  const served = await serveStreams(createMemoryStore(), workflows);
  stops.push(served.stop);
  const ask = (path: string, init: RequestInit = {}) => fetch(`${served.url}${path}`, init);
  const start = (name: string, id: string) =>
    ask("/v1/runs", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ workflow: name, id }),
    });
  return { ...served, ask, start };
}

const TEXT = { "content-type": "text/plain" };

describe("a run's stream over HTTP", () => {
  it("is read by the protocol's own client while it is written, to its end", async () => {
    const go = signalled();
    const flow = workflow("chat", (ctx) =>
      ctx.step("ask", async () => {
        const answer = ctx.stream("answer", { everyMs: 1 });
        await answer.append({ token: "to" });
        await go.promise;
        await answer.append({ token: "be" });
        await answer.close();
      }),
    );
    const { url, start } = await setup([flow]);
    expect((await start("chat", "c1")).status).toBe(200);
    const words: unknown[] = [];
    const reading = await stream({ url: `${url}/v1/runs/c1/streams/answer`, offset: "-1", live: "sse" });
    const done = new Promise<void>((resolve) => {
      reading.subscribeJson(({ items, streamClosed }) => {
        words.push(...items);
        if (words.length === 1) go.resolve();
        if (streamClosed) resolve();
      });
    });
    await done;
    expect(words).toEqual([{ token: "to" }, { token: "be" }]);
  });

  it("says where it was restarted, in a message of its own", async () => {
    let calls = 0;
    const flow = workflow("chat", (ctx) =>
      ctx.step(
        "ask",
        async () => {
          const answer = ctx.stream("answer");
          await answer.append(`call ${++calls}`);
          await answer.flush();
          if (calls === 1) throw new Error("cut");
        },
        { retry: { attempts: 2, baseMs: 1 } },
      ),
    );
    const { start, ask } = await setup([flow]);
    await start("chat", "c1");
    for (;;) {
      const answer = await ask("/v1/runs/c1/streams/answer");
      if (answer.headers.get("stream-closed") !== "true") continue;
      const restarted = { type: "data-restarted", transient: true, data: { to: 0, attempt: 2 } };
      expect(await answer.json()).toEqual(["call 1", restarted, "call 2"]);
      break;
    }
  });

  it("is empty and open before its first item, and can't be written to (HF-6214)", async () => {
    const flow = workflow("chat", (ctx) => ctx.gate("wait", { choices: ["yes"] }));
    const { start, ask } = await setup([flow]);
    await start("chat", "c1");
    const head = await ask("/v1/runs/c1/streams/answer", { method: "HEAD" });
    expect([head.status, head.headers.get("stream-closed")]).toEqual([200, null]);
    expect(await (await ask("/v1/runs/c1/streams/answer")).json()).toEqual([]);
    for (const method of ["PUT", "POST", "DELETE"])
      expect(await (await ask("/v1/runs/c1/streams/answer", { method })).json()).toMatchObject({
        status: 405,
        code: "HF-6214",
      });
    expect((await ask("/v1/runs/other/streams/answer")).status).toBe(404);
  });
});

describe("a stream that clients keep", () => {
  it("takes each append of a producer once, however often it is sent", async () => {
    const { url } = await setup();
    const kept = await DurableStream.create({ url: `${url}/v1/stream/a/b`, contentType: "text/plain" });
    const producer = new IdempotentProducer(kept, "writer", { epoch: 0 });
    for (const word of ["to", "be"]) producer.append(word);
    await producer.flush();
    expect(await (await stream({ url: `${url}/v1/stream/a/b`, live: false })).text()).toBe("tobe");
  });

  it("is kept in the store, so that another server has it too", async () => {
    const store = createMemoryStore();
    const [first, second] = [await serveStreams(store), await serveStreams(store)];
    stops.push(first.stop, second.stop);
    const authorization = `Bearer ${first.token}`;
    const made = await fetch(`${first.url}/v1/stream/x`, { method: "PUT", headers: TEXT, body: "one" });
    expect(made.status).toBe(201);
    const there = await fetch(`${second.url}/v1/stream/x`, { headers: { authorization } });
    expect([there.status, await there.text()]).toEqual([200, "one"]);
  });

  const put = (
    ask: (path: string, init: RequestInit) => Promise<Response>,
    headers: Record<string, string> = {},
  ) => ask("/v1/stream/x", { method: "PUT", headers: { ...TEXT, ...headers }, body: "one" });

  it.each([
    ["a name with a control character", "GET", "/v1/stream/a%00b", {}, "", 400, "HF-1050"],
    ["a name that is too long", "PUT", `/v1/stream/${"x".repeat(300)}`, TEXT, "", 400, "HF-1050"],
    ["an offset that nobody was given", "GET", "/v1/stream/x?offset=12", {}, "", 400, "HF-6201"],
    [
      "an offset that lies ahead",
      "GET",
      `/v1/stream/x?offset=${"9".repeat(16)}_${"0".repeat(16)}`,
      {},
      "",
      400,
      "HF-6201",
    ],
    ["an unknown way to follow it", "GET", "/v1/stream/x?offset=-1&live=ws", {}, "", 400, "HF-6004"],
    ["data of another type", "POST", "/v1/stream/x", { "content-type": "image/png" }, "x", 409, "HF-6208"],
    ["no data", "POST", "/v1/stream/x", TEXT, "", 400, "HF-6212"],
    ["half a producer", "POST", "/v1/stream/x", { ...TEXT, "producer-id": "p" }, "x", 400, "HF-6010"],
    ["a stream that isn't there", "POST", "/v1/stream/y", TEXT, "x", 404, "HF-6200"],
    [
      "a fork of what isn't there",
      "PUT",
      "/v1/stream/y",
      { "stream-forked-from": "/v1/stream/z" },
      "",
      404,
      "HF-6200",
    ],
    [
      "a fork of another server",
      "PUT",
      "/v1/stream/y",
      { "stream-forked-from": "/etc/passwd" },
      "",
      404,
      "HF-6200",
    ],
    ["a time that is none", "PUT", "/v1/stream/y", { "stream-expires-at": "soon" }, "", 400, "HF-6010"],
    ["another stream of the name", "PUT", "/v1/stream/x", { ...TEXT, "stream-ttl": "5" }, "", 409, "HF-6207"],
  ])("refuses %s", async (_, method, path, headers, body, status, code) => {
    const { ask } = await setup();
    await put(ask);
    const answer = await ask(path, { method, headers: { ...headers }, ...(body === "" ? {} : { body }) });
    expect(await answer.json()).toMatchObject({ status, code });
    expect(await (await ask("/v1/stream/x")).text()).toBe("one");
  });

  it("refuses a producer of an old epoch (HF-6210), a gap (HF-6211), and everything once closed (HF-6202)", async () => {
    const { ask } = await setup();
    await put(ask);
    const send = async (epoch: number, seq: number, more: Record<string, string> = {}) => {
      const named = { "producer-id": "p", "producer-epoch": `${epoch}`, "producer-seq": `${seq}` };
      const answer = await ask("/v1/stream/x", {
        method: "POST",
        headers: { ...TEXT, ...named, ...more },
        body: "x",
      });
      return answer.status < 300 ? answer.status : ((await answer.json()) as { code: string }).code;
    };
    expect(await send(1, 0)).toBe(200);
    expect(await send(1, 0)).toBe(204);
    expect(await send(0, 1)).toBe("HF-6210");
    expect(await send(1, 5)).toBe("HF-6211");
    expect(await send(1, 1, { "stream-closed": "true" })).toBe(200);
    expect(await send(1, 2)).toBe("HF-6202");
    expect(await (await ask("/v1/stream/x")).text()).toBe("onexx");
  });

  it("keeps an append of megabytes whole, and refuses one that is larger (HF-6006)", async () => {
    const { ask } = await setup();
    const large = "0123456789".repeat(200_000);
    await ask("/v1/stream/big", { method: "PUT", headers: TEXT });
    expect((await ask("/v1/stream/big", { method: "POST", headers: TEXT, body: large })).status).toBe(204);
    expect(await (await ask("/v1/stream/big")).text()).toBe(large);
    const tooLarge = await ask("/v1/stream/big", { method: "POST", headers: TEXT, body: large.repeat(5) });
    expect(await tooLarge.json()).toMatchObject({ status: 413, code: "HF-6006" });
  });
});
