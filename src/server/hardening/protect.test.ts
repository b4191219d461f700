import { describe, expect, it } from "vitest";
import { HoldfastError } from "../../core/errors.ts";
import { silentLogger } from "../../core/logger.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { Visits } from "../access/visit.ts";
import { trustedProxies } from "./client-address.ts";
import { type Fetch, type ProtectOptions, protect } from "./protect.ts";
import { Streams } from "./streams.ts";

const HOST = "127.0.0.1:4100";
const TOKEN = `hf_${"0".repeat(16)}_${"s".repeat(43)}`;
const ok: Fetch = async () =>
  new Response('{"runs":[]}', { headers: { "content-type": "application/json" } });

function stage(fetch: Fetch = ok, more: Partial<ProtectOptions> = {}) {
  const clock = createFakeClock();
  const log: string[] = [];
  const note = (message: string, fields?: object): void =>
    void log.push(`${message} ${JSON.stringify(fields)}`);
  const answer = protect(fetch, {
    hosts: [],
    origins: [],
    proxies: trustedProxies([]),
    rate: { perSecond: 1, burst: 1_000 },
    streams: new Streams({ perCredential: 2, total: 3 }),
    isWelcome: async () => true,
    visits: new Visits(),
    isTls: false,
    clock,
    logger: { ...silentLogger, warn: note, error: note },
    ...more,
  });
  const ask = (path: string, headers: Record<string, string> = {}, method = "GET", peer = "127.0.0.1") =>
    answer(new Request(`http://${HOST}${path}`, { method, headers: { host: HOST, ...headers } }), peer);
  return { ask, clock, log, answer };
}

const codeOf = async (response: Response): Promise<string> =>
  ((await response.json()) as { code: string }).code;

describe("the Host header (A6)", () => {
  it("that names another site is refused, so that a page can't rebind its own name to this machine", async () => {
    const { ask, log } = stage();
    for (const host of [
      "evil.example",
      "evil.example:4100",
      "127.0.0.1.evil.example",
      "",
      "a b",
      "[::1",
      "localhost.evil",
    ]) {
      const response = await ask("/v1/runs", { host });
      expect(response.status, host).toBe(421);
      expect(await codeOf(response)).toBe("HF-6054");
    }
    expect(log).toHaveLength(7);
  });

  it("may be an address, localhost, or a name that was allowed", async () => {
    const { ask } = stage(ok, { hosts: ["Holdfast.internal"] });
    for (const host of [
      HOST,
      "localhost",
      "LOCALHOST:4100",
      "[::1]:4100",
      "10.1.2.3",
      "holdfast.internal:443",
    ])
      expect((await ask("/v1/runs", { host })).status, host).toBe(200);
  });
});

describe("a page of another origin (A5, A6)", () => {
  const evil = { origin: "https://evil.example" };

  it("gets nothing, with any method, on streams, and on loopback too (CVE-2026-44211)", async () => {
    const { ask } = stage();
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
      expect((await ask("/v1/events", evil, method)).status, method).toBe(403);
    for (const origin of [
      "null",
      "file://",
      "http://localhost:3000",
      "http://127.0.0.1",
      "https://127.0.0.1:4101",
    ])
      expect((await ask("/v1/runs", { origin })).status, origin).toBe(403);
  });

  it("gets no CORS header", async () => {
    const { ask } = stage();
    const response = await ask("/v1/runs", evil, "OPTIONS");
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  it("that hides its origin is known by what the browser says of the request", async () => {
    const { ask } = stage();
    for (const site of ["cross-site", "same-site"]) {
      expect((await ask("/v1/runs", { "sec-fetch-site": site })).status).toBe(403);
      expect(
        (await ask("/v1/runs", { "sec-fetch-site": site, "sec-fetch-mode": "no-cors" }, "POST")).status,
      ).toBe(403);
    }
    const form = {
      "sec-fetch-site": "cross-site",
      "sec-fetch-mode": "navigate",
      "sec-fetch-dest": "document",
    };
    expect((await ask("/v1/runs/a/cancel", form, "POST")).status, "a form of another site").toBe(403);
    expect((await ask("/", form)).status, "a link to the dashboard").toBe(200);
  });

  it("is let in if its exact origin is listed, without cookies", async () => {
    const { ask } = stage(ok, { origins: ["https://ops.example"] });
    const preflight = await ask("/v1/runs", { origin: "https://ops.example" }, "OPTIONS");
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("https://ops.example");
    expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();
    expect((await ask("/v1/runs", { origin: "https://ops.example" })).status).toBe(200);
    for (const origin of [
      "https://ops.example.evil",
      "http://ops.example",
      "https://ops.example:444",
      "https://x.ops.example",
    ])
      expect((await ask("/v1/runs", { origin })).status, origin).toBe(403);
  });

  it("is no obstacle to pages of this server and to programs", async () => {
    const { ask } = stage();
    expect((await ask("/v1/runs", { origin: `http://${HOST}` }, "POST")).status).toBe(200);
    expect((await ask("/v1/runs", { "sec-fetch-site": "same-origin" })).status).toBe(200);
    expect((await ask("/v1/runs")).status).toBe(200);
  });
});

describe("a credential in the address (A4)", () => {
  it("is refused, whatever it is called and however it is written, and isn't logged", async () => {
    const { ask, log } = stage(async () => Promise.reject(new Error(`at ${TOKEN}`)));
    const encoded = TOKEN.replaceAll("_", "%5F");
    for (const path of [
      `?token=${TOKEN}`,
      "?access_token=x",
      "?api_key=1",
      "?x=1&Authorization=y",
      `?q=${TOKEN}`,
      `/${TOKEN}`,
      `?q=${encoded}`,
    ]) {
      const response = await ask(`/v1/runs${path}`);
      expect(response.status, path).toBe(400);
      expect(await codeOf(response)).toBe("HF-6053");
    }
    expect((await ask("/v1/runs")).status).toBe(500);
    expect(log.join()).not.toContain("s".repeat(43));
  });
});

describe("every answer (A7, A10)", () => {
  it("forbids framing, sniffing, storing and loading, whoever made it", async () => {
    const { ask } = stage();
    for (const response of [await ask("/v1/runs"), await ask("/v1/runs", { host: "evil.example" })]) {
      const of = (name: string) => response.headers.get(name);
      expect(of("content-security-policy")).toContain("default-src 'none'");
      expect(of("content-security-policy")).toContain("frame-ancestors 'none'");
      expect([of("x-content-type-options"), of("cache-control"), of("referrer-policy")]).toEqual([
        "nosniff",
        "no-store",
        "no-referrer",
      ]);
    }
  });

  it("that is a page may load only what this server has, and no inline script", async () => {
    const page: Fetch = async () =>
      new Response("<p>", { headers: { "content-type": "text/html; charset=utf-8" } });
    const policy = (await stage(page).ask("/")).headers.get("content-security-policy");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain("unsafe");
  });

  it("to a failure inside is the same, without stack, path, environment or statement", async () => {
    const secret = "SELECT * FROM /etc/passwd";
    const { ask, log } = stage(async () => Promise.reject(new Error(secret)));
    const response = await ask("/v1/runs");
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(text).not.toContain(secret);
    const { id } = /under (?<id>[0-9a-f-]{36})/.exec(text)?.groups ?? {};
    expect(log[0]).toContain(id);
    expect(log[0]).toContain(secret);
  });

  it("to a method that nobody uses is the same for every path (A10)", async () => {
    const { answer } = stage();
    const odd = (path: string) => {
      const request = new Request(`http://${HOST}${path}`, { method: "PROPFIND", headers: { host: HOST } });
      return answer(request, "127.0.0.1");
    };
    const [one, two] = [await odd("/v1/runs"), await odd("/v1/nothing")];
    expect([one.status, await one.text()]).toEqual([two.status, await two.text()]);
  });
});

describe("limits (A9)", () => {
  it("let so many requests of one address through, exactly, and say when to come back", async () => {
    const { ask, clock } = stage(ok, { rate: { perSecond: 2, burst: 10 } });
    const statuses = async (n: number, peer = "10.0.0.1") => {
      const all: number[] = [];
      for (let i = 0; i < n; i++) all.push((await ask("/v1/runs", {}, "GET", peer)).status);
      return all.filter((status) => status === 200).length;
    };
    expect(await statuses(15)).toBe(10);
    const refused = await ask("/v1/runs", {}, "GET", "10.0.0.1");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(await statuses(1, "10.0.0.2"), "others aren't affected").toBe(1);
    await clock.skip(1_000);
    expect(await statuses(5)).toBe(2);
  });

  it("count a refused credential tenfold", async () => {
    const refused: Fetch = async () => new Response("", { status: 401 });
    const { ask } = stage(refused, { rate: { perSecond: 1, burst: 100 } });
    let tries = 0;
    while ((await ask("/v1/runs")).status === 401) tries++;
    expect(tries).toBe(10);
  });

  it("believe X-Forwarded-For only from a trusted proxy, and only its last foreign entry (A12)", async () => {
    const seen: string[] = [];
    const visits = new Visits();
    const look: Fetch = async (request) => {
      seen.push(visits.of(request).address);
      return new Response();
    };
    const { ask } = stage(look, { visits, proxies: trustedProxies(["10.0.0.0/8", "::1"]) });
    const forged = { "x-forwarded-for": "1.1.1.1, 9.9.9.9" };
    await ask("/", forged, "GET", "203.0.113.5");
    await ask("/", forged, "GET", "10.0.0.1");
    await ask("/", { "x-forwarded-for": "1.1.1.1, 9.9.9.9, 10.0.0.2" }, "GET", "::ffff:10.0.0.1");
    await ask("/", { "x-forwarded-for": "not an address" }, "GET", "::1");
    expect(seen).toEqual(["203.0.113.5", "9.9.9.9", "9.9.9.9", "::1"]);
  });
});

describe("streams of events (A6, A9)", () => {
  const stream: Fetch = async () =>
    new Response(new ReadableStream({ pull: (c) => c.enqueue(new TextEncoder().encode("data: 1\n\n")) }), {
      headers: { "content-type": "text/event-stream" },
    });

  it("are limited for each credential and in all", async () => {
    const streams = new Streams({ perCredential: 2, total: 3 });
    const { ask } = stage(stream, { streams });
    const from = (peer: string) => ask("/v1/events", {}, "GET", peer);
    const open = [await from("1.1.1.1"), await from("1.1.1.1"), await from("2.2.2.2")];
    expect(open.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await from("1.1.1.1")).status).toBe(429);
    expect((await from("2.2.2.2")).status).toBe(429);
    await open[0]?.body?.cancel();
    expect(streams.size).toBe(2);
    expect((await from("2.2.2.2")).status).toBe(200);
  });

  it("end when their credential does, and when the server stops", async () => {
    const streams = new Streams({ perCredential: 10, total: 10 });
    let isValid = true;
    const { ask } = stage(stream, { streams, isWelcome: async () => isValid });
    const [one, two] = [await ask("/v1/events"), await ask("/v1/events", {}, "GET", "2.2.2.2")];
    const ended = async ({ body }: Response) => {
      let parts = 0;
      for await (const _ of body!) parts++;
      return parts;
    };
    await streams.recheck();
    expect(streams.size).toBe(2);
    isValid = false;
    await streams.recheck();
    expect(streams.size).toBe(0);
    expect(await ended(one)).toBeLessThan(5);
    expect(await ended(two)).toBeLessThan(5);
    await ask("/v1/events");
    streams.endAll();
    expect(streams.size).toBe(0);
  });

  it("of a handler that refuses stay refusals", async () => {
    const { ask } = stage(async () => Promise.reject(new HoldfastError("HF-6056")));
    expect((await ask("/v1/events")).status).toBe(403);
  });
});

describe("a busy server (A9)", () => {
  it("refuses what would only wait, answers probes, and takes requests again when it has answered some", async () => {
    const waiting: (() => void)[] = [];
    const slow: Fetch = async (request) => {
      if (new URL(request.url).pathname === "/v1/runs") await new Promise<void>((done) => waiting.push(done));
      return ok(request);
    };
    const { ask } = stage(slow, { atOnce: 2 });
    const taken = [ask("/v1/runs"), ask("/v1/runs")];
    const refused = await ask("/v1/runs");
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(await codeOf(refused)).toBe("HF-6020");
    expect((await ask("/healthz")).status).toBe(200);
    for (const done of waiting.splice(0)) done();
    for (const one of taken) expect((await one).status).toBe(200);
    expect((await ask("/v1/workflows")).status).toBe(200);
  });
});
