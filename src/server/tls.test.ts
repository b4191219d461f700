import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get, type RequestOptions } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect } from "node:tls";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { silentLogger } from "../core/logger.ts";
import { createEngine, workflow } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { createApp } from "./app.ts";
import { type Serving, serve } from "./serve.ts";

const folder = mkdtempSync(path.join(tmpdir(), "holdfast-tls-"));
const [cert, key] = [path.join(folder, "cert.pem"), path.join(folder, "key.pem")];
const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A certificate for this machine that nobody else has signed. */
function makeCertificate(): boolean {
  const names = ["-subj", "/CN=holdfast test", "-addext", "subjectAltName=IP:127.0.0.1"];
  const files = ["-keyout", key, "-out", cert];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...files, ...names];
  try {
    execFileSync("openssl", made, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const isMade = makeCertificate();
const flow = workflow("flow", (ctx) => ctx.step("one", () => 1));

async function start(): Promise<Serving & { readonly engine: ReturnType<typeof createEngine> }> {
  const store = createMemoryStore();
  const engine = createEngine({ store, workflows: [flow] });
  const serving = await serve({
    store,
    app: (identify) => createApp({ engine, store, identify }).fetch,
    port: 0,
    tls: { cert, key },
    owner: "ada",
    logger: silentLogger,
  });
  ended.push(
    () => engine.close({ drainMs: 0 }),
    () => serving.stop(0),
  );
  return { ...serving, engine };
}

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Reads an answer until it ends, or has this in it. */
function ask(url: string, options: RequestOptions, until?: string): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, ca: readFileSync(cert), ...options }, (response) => {
      let text = "";
      const done = (): void => resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
        if (until === undefined || !text.includes(until)) return;
        done();
        request.destroy();
      });
      response.once("end", done);
    });
    request.once("error", reject);
  });
}

describe.skipIf(!isMade)("a server with a certificate (A12)", () => {
  it("answers over TLS, tells browsers to stay with it, and streams events", async () => {
    const { url, firstToken, engine } = await start();
    expect(url).toMatch(/^https:/);
    const headers = { authorization: `Bearer ${firstToken}` };
    const runs = await ask(`${url}/v1/runs`, { headers });
    expect(runs.status).toBe(200);
    expect(runs.headers["strict-transport-security"]).toMatch(/max-age=\d+/);
    await engine.start(flow, undefined, { id: "a" });
    const told = await ask(`${url}/v1/events?run=a&after=0`, { headers }, "run_completed");
    expect(told.text).toContain('"kind":"run_completed"');
  });

  it("is refused by a client that doesn't know its certificate", async () => {
    const { url } = await start();
    await expect(ask(`${url}/v1/runs`, { ca: [] })).rejects.toMatchObject({
      code: "DEPTH_ZERO_SELF_SIGNED_CERT",
    });
  });

  it("speaks neither old TLS nor plain HTTP", async () => {
    const { url, port } = await start();
    const old = connect({
      port,
      host: "127.0.0.1",
      ca: readFileSync(cert),
      maxVersion: "TLSv1.1",
      minVersion: "TLSv1",
    });
    await expect(new Promise((_, reject) => old.once("error", reject))).rejects.toThrow();
    await expect(fetch(url.replace("https:", "http:"))).rejects.toThrow();
  });
});
