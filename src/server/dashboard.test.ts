import { brotliDecompressSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createEngine } from "../core/engine/engine.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { permissionsOf } from "./access/permission.ts";
import { createApp } from "./app.ts";

/** The app under `path`, with the pages that `npm run build` has made. */
function app(path = "") {
  const store = createMemoryStore();
  const engine = createEngine({ store, execute: false });
  const identify = () => ({ actor: "maria", permissions: permissionsOf(["viewer"]) });
  const { fetch } = createApp({ engine, store, identify, path, dashboard: true });
  return (address: string, init?: RequestInit) => fetch(new Request(`http://localhost${address}`, init));
}

const scriptIn = (html: string): string => /src="([^"]+\.js)"/.exec(html)?.[1] ?? "";

describe("the pages of the dashboard", () => {
  it("are one page at every address that isn't a file of theirs or the API's", async () => {
    const get = app();
    const bodies = await Promise.all(
      ["/", "/runs", "/r/run-1", "/a/b/c"].map(async (address) => (await get(address)).text()),
    );
    expect(new Set(bodies).size).toBe(1);
    expect(scriptIn(bodies[0] ?? "")).toMatch(/^\/assets\//);
    expect((await get("/v1/nothing")).headers.get("content-type")).toContain("problem");
    expect((await get("/assets/nothing.js")).status).toBe(404);
    expect((await get("/runs", { method: "POST" })).status).toBe(404);
  });

  it("work under any path: their files are named from it", async () => {
    const get = app("/ops/holdfast");
    const html = await (await get("/ops/holdfast/r/run-1")).text();
    expect(scriptIn(html)).toMatch(/^\/ops\/holdfast\/assets\//);
    expect((await get(scriptIn(html))).headers.get("content-type")).toContain("javascript");
    expect((await get("/elsewhere")).status).toBe(404);
  });

  it("have nothing inline, so that a strict policy lets all of them through", async () => {
    const html = await (await app()("/")).text();
    expect(html).not.toMatch(/<style|<script(?![^>]*src=)|\son\w+=|style=/);
  });

  it("take at most 200 KB for what is loaded first, compressed", async () => {
    const get = app();
    const html = await (await get("/")).text();
    const files = [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, file = ""]) => file);
    const bodies = await Promise.all(files.map(async (file) => (await get(file)).arrayBuffer()));
    const size = bodies.reduce((sum, body) => sum + gzipSync(new Uint8Array(body)).length, 0);
    expect(size).toBeGreaterThan(0);
    expect(size).toBeLessThanOrEqual(200_000);
  });

  it("are kept by browsers for ever, except for the page that names them", async () => {
    const get = app();
    const page = await get("/");
    expect(page.headers.get("cache-control")).toBe("no-cache");
    const etag = page.headers.get("etag") ?? "";
    expect((await get("/runs", { headers: { "if-none-match": etag } })).status).toBe(304);
    const script = await get(scriptIn(await page.text()));
    expect(script.headers.get("cache-control")).toContain("immutable");
  });

  it("are compressed for whoever can read it", async () => {
    const get = app();
    const address = scriptIn(await (await get("/")).text());
    const plain = Buffer.from(await (await get(address)).arrayBuffer());
    const packed = await get(address, { headers: { "accept-encoding": "gzip, deflate, br" } });
    expect(packed.headers.get("content-encoding")).toBe("br");
    const body = Buffer.from(await packed.arrayBuffer());
    expect(body.length).toBeLessThan(plain.length / 2);
    expect(brotliDecompressSync(body).equals(plain)).toBe(true);
    expect((await get(address, { method: "HEAD" })).body).toBeNull();
  });

  it("learn who looks at them where the host has no sessions of its own", async () => {
    expect(await (await app("/x")("/x/v1/session")).json()).toEqual({
      actor: "maria",
      roles: [],
      permissions: ["runs:read", "metrics:read"],
      scope: null,
      csrf: null,
    });
  });
});
