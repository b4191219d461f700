import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { afterEach, describe, expect, it } from "vitest";
import { createClient } from "../client/index.ts";
import { createEngine, workflow } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { createApp, permissionsOf } from "./index.ts";

const echo = workflow("echo", async (ctx, text: string) => ctx.step("say", () => text));

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** An app under a path of its host, as docs/api.md shows it. */
function stage() {
  const store = createMemoryStore();
  const engine = createEngine({ store, workflows: [echo] });
  const api = createApp({
    engine,
    store,
    path: "/holdfast",
    identify: async (request) => {
      const actor = request.headers.get("x-user");
      return actor === null ? null : { actor, permissions: permissionsOf(["operator"]) };
    },
  });
  closing.push(async () => {
    await api.close();
    await engine.close();
    await store.close();
  });
  return { api, engine };
}

type Api = ReturnType<typeof stage>["api"];

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const HOSTS: Readonly<Record<string, (api: Api) => Promise<{ url: string; fetch?: typeof fetch }>>> = {
  async Express(api) {
    const app = express();
    app.all("/holdfast/{*path}", getRequestListener(api.fetch));
    app.use(express.json());
    app.get("/own", (_, response) => void response.send("own"));
    return { url: await listening(createServer(app)) };
  },
  async Fastify(api) {
    const app = fastify();
    const listener = getRequestListener(api.fetch);
    app.get("/own", async () => "own");
    await app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
      scope.all("/holdfast/*", (request, reply) => {
        reply.hijack();
        void listener(request.raw, reply.raw);
      });
    });
    await app.ready();
    closing.push(() => app.close());
    await app.listen({ port: 0, host: "127.0.0.1" });
    return { url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}` };
  },
  async "Next.js's route handlers"(api) {
    const handler = (request: Request): Response | Promise<Response> => api.fetch(request);
    const [GET, POST, PUT, DELETE] = [handler, handler, handler, handler];
    const routes: Readonly<Record<string, typeof handler>> = { GET, POST, PUT, DELETE };
    const call: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      if (new URL(request.url).pathname === "/own") return new Response("own");
      return (await routes[request.method]?.(request)) ?? new Response(null, { status: 405 });
    };
    return { url: "http://next.example", fetch: call };
  },
};

describe.each(Object.entries(HOSTS))("an app mounted in %s", (_, host) => {
  it("starts runs, follows their events, and refuses a caller without a name", async () => {
    const { api, engine } = stage();
    const { url, fetch: own = fetch } = await host(api);
    const client = createClient({ url: `${url}/holdfast`, fetch: own, headers: { "x-user": "ada" } });
    let isLive = (): void => undefined;
    const live = new Promise<void>((resolve) => (isLive = resolve));
    const kinds: string[] = [];
    const following = (async () => {
      const events = client.streamEvents({}, { onState: (state) => state === "live" && isLive() });
      for await (const one of events) {
        if (one.type === "run") kinds.push(one.event.kind);
        if (kinds.at(-1) === "run_completed") return;
      }
    })();
    await live;
    const text = "x".repeat(100_000);
    await client.startRun({ workflow: "echo", input: text, id: "r" });
    await following;
    expect(kinds).toContain("step_completed");
    expect(await engine.result("r")).toBe(text);
    expect((await own(`${url}/holdfast/v1/runs`)).status).toBe(401);
    expect(await (await own(`${url}/own`)).text()).toBe("own");
  });
});
