import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { silentLogger } from "../core/logger.ts";
import type { Store } from "../core/store/contract.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import type { Identify } from "./access/identify.ts";
import { parseToken } from "./access/token-text.ts";
import { Tokens } from "./access/tokens.ts";
import { type ServeOptions, type Serving, serve } from "./serve.ts";

const open: Serving[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.stop(0);
});

/** An API of one operation that says who calls. */
const whoami = (identify: Identify) => async (request: Request) => {
  const principal = await identify(request);
  if (!principal) return new Response("", { status: 401 });
  return Response.json({ actor: principal.actor });
};

async function start(more: Partial<ServeOptions> = {}) {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const lines: string[] = [];
  const warn = (message: string, fields?: object): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  const logger = { ...silentLogger, warn, error: warn };
  const base = { store, app: whoami, port: 0, owner: "ada", clock, logger };
  const server = await serve({ ...base, ...more });
  open.push(server);
  const ask = (path: string, init: RequestInit = {}) => fetch(`${server.url}${path}`, init);
  const tokens = new Tokens({ documents: (more.store ?? store).documents!, clock, logger });
  return { server, clock, store, lines, ask, tokens, bearer: bearer(server.firstToken ?? "") };
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

describe("the start (A1, A12)", () => {
  it("prints an administrator's token once, on a store that has never had one", async () => {
    const { server, ask, store, bearer } = await start();
    expect(server.firstToken).toMatch(/^hf_/);
    expect(new URL(server.url).hostname).toBe("127.0.0.1");
    expect(await (await ask("/v1/whoami", bearer)).json()).toEqual({ actor: "ada" });
    const again = await start({ store });
    expect(again.server.firstToken).toBeNull();
    expect((await again.ask("/v1/whoami", bearer)).status).toBe(200);
  });

  it("is refused when every token has ended, and when the store keeps none (HF-6060)", async () => {
    const { store, tokens } = await start();
    await tokens.revoke("first", "ada");
    await expect(start({ store })).rejects.toMatchObject({ code: "HF-6060" });
    const { documents: _, ...bare } = createMemoryStore();
    await expect(start({ store: bare as Store })).rejects.toMatchObject({ code: "HF-6060" });
  });

  it("is refused on an address of the network without TLS or a proxy that has it (HF-6059)", async () => {
    for (const host of ["0.0.0.0", "::", "192.168.1.4", "holdfast.internal", "127.evil.example"])
      await expect(start({ host }), host).rejects.toMatchObject({ code: "HF-6059" });
    const { server } = await start({ host: "0.0.0.0", isBehindProxy: true });
    expect(server.firstToken).not.toBeNull();
  });

  it("on a port that is taken makes no token, so that it isn't lost (HF-6066)", async () => {
    const { server } = await start();
    const store = createMemoryStore();
    await expect(start({ store, port: server.port })).rejects.toMatchObject({ code: "HF-6066" });
    expect(await store.documents?.list("token", { limit: 1 })).toEqual([]);
  });
});

describe("a credential", () => {
  it("that is missing, malformed, unknown, expired or revoked gets one and the same answer (A10)", async () => {
    const { ask, tokens, clock, lines, server } = await start();
    const soon = await tokens.create({
      name: "a",
      actor: "a",
      roles: ["viewer"],
      createdBy: "x",
      expiresAt: clock.now() + 1,
    });
    const gone = await tokens.create({ name: "b", actor: "b", roles: ["viewer"], createdBy: "x" });
    await tokens.revoke("b", "x");
    clock.jump(10);
    const swapped = `hf_${gone.info.id}_${parseToken(server.firstToken!)!.secret}`;
    const answers = [];
    const headers = [
      {},
      { authorization: "Basic YTpi" },
      ...[soon.token, gone.token, swapped, "hf_x"].map((t) => bearer(t).headers),
    ];
    for (const one of headers) {
      const response = await ask("/v1/session", { headers: one });
      const { date: _, ...rest } = Object.fromEntries(response.headers);
      answers.push(JSON.stringify([response.status, rest, await response.text()]));
    }
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain("401");
    const why = lines.map((line) => (JSON.parse(line.slice(line.indexOf("{"))) as { why: string }).why);
    expect(why, "the log says which").toEqual([
      "none",
      "malformed",
      "expired",
      "revoked",
      "unknown",
      "malformed",
    ]);
    expect(lines.join()).not.toContain(parseToken(gone.token)!.secret);
  });

  it("has an allowance of its own, wherever it is used", async () => {
    const { ask, bearer } = await start({ limits: { perCredential: { perSecond: 1, burst: 3 } } });
    const statuses = [];
    for (let i = 0; i < 5; i++) statuses.push((await ask("/v1/session", bearer)).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect((await ask("/v1/session", bearer)).headers.get("retry-after")).toBe("1");
  });
});

describe("a session of the dashboard (A5)", () => {
  async function login() {
    const stage = await start();
    const response = await stage.ask("/v1/session", { method: "POST", ...stage.bearer });
    const { csrf } = (await response.json()) as { csrf: string };
    const cookie = response.headers.get("set-cookie") ?? "";
    const [pair = ""] = cookie.split(";");
    return { ...stage, csrf, cookie, session: { cookie: pair } };
  }

  it("is a cookie that scripts can't read and other sites can't send; the store has only its hash", async () => {
    const { cookie, session, store } = await login();
    expect(cookie).toMatch(/^holdfast_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    const stored = JSON.stringify(await store.documents?.list("session", { limit: 10 }));
    expect(stored).not.toContain(session.cookie.split("=")[1]);
    const { server } = await start({ isBehindProxy: true });
    const secure = await fetch(`${server.url}/v1/session`, { method: "POST", ...bearer(server.firstToken!) });
    expect(secure.headers.get("set-cookie")).toMatch(/^__Host-holdfast=.*; Secure$/);
  });

  it("reads with the cookie alone, but acts only with the header that proves its page", async () => {
    const { ask, session, csrf } = await login();
    expect(await (await ask("/v1/whoami", { headers: session })).json()).toEqual({ actor: "ada" });
    expect(await (await ask("/v1/session", { headers: session })).json()).toMatchObject({
      actor: "ada",
      csrf,
    });
    for (const proof of [{}, { "x-holdfast-csrf": "" }, { "x-holdfast-csrf": `${csrf.slice(0, -1)}x` }]) {
      const forged = await ask("/v1/session", { method: "DELETE", headers: { ...session, ...proof } });
      expect(forged.status).toBe(403);
    }
    const headers = { ...session, "x-holdfast-csrf": csrf };
    expect((await ask("/v1/session", { method: "DELETE", headers })).status).toBe(204);
    expect((await ask("/v1/whoami", { headers: session })).status, "signed out").toBe(401);
  });

  it("isn't opened with a cookie, and every login gets another one", async () => {
    const { ask, session, csrf, bearer, cookie } = await login();
    const headers = { ...session, "x-holdfast-csrf": csrf };
    expect((await ask("/v1/session", { method: "POST", headers })).status).toBe(401);
    const planted = { ...bearer.headers, cookie: `holdfast_session=${"a".repeat(43)}` };
    const other = await ask("/v1/session", { method: "POST", headers: planted });
    expect(other.headers.get("set-cookie")).not.toBe(cookie);
    expect(other.headers.get("set-cookie")).not.toContain("a".repeat(43));
  });

  it("ends after half an hour without a request, after twelve hours, and with its token", async () => {
    const { ask, session, clock } = await login();
    const status = async () => (await ask("/v1/whoami", { headers: session })).status;
    for (let minutes = 0; minutes < 11 * 60; minutes += 29) {
      clock.jump(29 * 60_000);
      expect(await status()).toBe(200);
    }
    clock.jump(60 * 60_000);
    expect(await status(), "idle").toBe(401);
    const second = await login();
    for (let minutes = 0; minutes < 12 * 60 - 20; minutes += 20) {
      second.clock.jump(20 * 60_000);
      await second.ask("/v1/whoami", { headers: second.session });
    }
    second.clock.jump(20 * 60_000);
    expect((await second.ask("/v1/whoami", { headers: second.session })).status, "twelve hours").toBe(401);
    const third = await login();
    await third.tokens.revoke("first", "ada");
    await third.clock.skip(1_000);
    expect((await third.ask("/v1/whoami", { headers: third.session })).status, "revoked").toBe(401);
  });
});

describe("a connection (A9)", () => {
  /** What comes back over a raw connection until the server ends it. */
  const raw = async (port: number, text: string): Promise<string> => {
    const socket = connect(port, "127.0.0.1").setEncoding("utf8");
    let back = "";
    socket.on("data", (part: string) => (back += part)).on("error", () => undefined);
    socket.write(text);
    await once(socket, "close");
    return back;
  };

  it("that sends its headers too slowly is cut (slow loris)", async () => {
    const { server } = await start({ limits: { connection: { headersMs: 50, requestMs: 100 } } });
    expect(await raw(server.port, "GET /v1/whoami HTTP/1.1\r\nHost: localhost\r\nX-A: b\r\n")).toMatch(
      /^HTTP\/1.1 408/,
    );
  });

  it("that sends its body too slowly is cut", async () => {
    const app = () => async (request: Request) => new Response(await request.text());
    const { server } = await start({ app, limits: { connection: { headersMs: 50, requestMs: 100 } } });
    const head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n";
    expect(await raw(server.port, `${head}a`)).not.toMatch(/^HTTP\/1.1 200/);
  });

  it("with too large headers, without a host, with two lengths or with something else than HTTP is refused", async () => {
    const { server } = await start();
    const status = async (text: string) => (await raw(server.port, text)).slice(9, 12);
    expect(await status(`GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(20_000)}\r\n\r\n`)).toBe("431");
    expect(await status("GET / HTTP/1.1\r\nConnection: close\r\n\r\n")).toBe("400");
    const both = "Content-Length: 1\r\nTransfer-Encoding: chunked";
    expect(await status(`POST / HTTP/1.1\r\nHost: localhost\r\n${both}\r\n\r\n0\r\n\r\n`)).toBe("400");
    expect(await status("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")).toBe("400");
  });
});

describe("health", () => {
  it("is told without a credential, and nothing else is", async () => {
    const { ask, store } = await start();
    expect(await (await ask("/healthz")).json()).toEqual({ status: "ok" });
    expect(await (await ask("/readyz")).json()).toEqual({ status: "ready" });
    await store.close();
    expect((await ask("/healthz")).status).toBe(200);
    const away = await ask("/readyz");
    expect([away.status, await away.json()]).toEqual([503, { status: "the store doesn't answer" }]);
  });
});

describe("the stop", () => {
  it("lets a request under way finish and ends streams at once", async () => {
    let release = (): void => undefined;
    let arrived = (): void => undefined;
    const inside = new Promise<void>((resolve) => (arrived = resolve));
    const app = () => async (request: Request) => {
      if (request.url.endsWith("/events"))
        return new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } });
      arrived();
      await new Promise<void>((resolve) => (release = resolve));
      return new Response("done");
    };
    const { server, ask } = await start({ app });
    const stream = await ask("/events");
    const slow = ask("/slow");
    await inside;
    const stopped = server.stop(60_000);
    expect(await stream.text()).toBe("");
    release();
    expect(await (await slow).text()).toBe("done");
    await stopped;
    await expect(ask("/slow")).rejects.toThrow();
  });
});
