import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEngine, type Engine } from "../../src/core/engine/engine.ts";
import { workflow } from "../../src/core/workflow.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { startOpenAiServer } from "../../src/testing/openai-server.ts";
import { ROOT } from "../source-tree.ts";
import { type CliFolder, cliFolder } from "../support/cli.ts";

const MAIN = join(ROOT, "src/cli/main.ts");
const TSX = pathToFileURL(join(ROOT, "node_modules/tsx/dist/esm/index.mjs")).href;

/** Each step calls the witness, which knows calls by their keys. */
const flowOf = (version: string, steps: readonly string[], migrations = "[]"): string => `
const call = (ctx, step) => ctx.step(step, async ({ key }) => {
  const answer = await fetch(process.env.WITNESS + "/" + ctx.runId + "/" + step, { method: "POST", headers: { key, pid: String(process.pid) } });
  return answer.text();
}, { effect: "keyed" });
export const pay = {
  name: "pay", version: "${version}", schema: 1, migrations: ${migrations}, compensateOnFailure: false,
  async body(ctx) {
    const said = [];
    for (const step of ${JSON.stringify(steps)}) said.push(await call(ctx, step));
    return said.join(" ");
  },
};
`;
const FLOW = flowOf("1", ["first", "second", "third"]);
/** The same workflow as far as whoever starts it has to know. */
const pay = workflow("pay", async () => "");

interface Call {
  readonly path: string;
  readonly key: string;
  readonly pid: number;
}

/** Counts effects outside of all workers: a key that it has seen has no effect again. Holds answers if told to. */
class Witness {
  readonly calls: Call[] = [];
  readonly #held: ServerResponse[] = [];
  #holds: (path: string) => boolean = () => false;
  #heard = (): void => undefined;
  readonly #server = createServer((request, response) => {
    const { url: path = "", headers } = request;
    this.calls.push({ path, key: String(headers["key"]), pid: Number(headers["pid"]) });
    if (this.#holds(path)) this.#held.push(response);
    else response.end("ok");
    this.#heard();
  });

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  hold(step: string): void {
    this.#holds = (path) => path.endsWith(`/${step}`);
  }

  release(): void {
    this.#holds = () => false;
    for (const response of this.#held.splice(0)) response.end("ok");
  }

  async until(holds: (calls: readonly Call[]) => boolean): Promise<void> {
    while (!holds(this.calls)) await new Promise<void>((resolve) => (this.#heard = resolve));
  }

  /** How many effects there were for each path. */
  get effects(): Readonly<Record<string, number>> {
    const paths = [...new Map(this.calls.map(({ key, path }) => [key, path])).values()].sort();
    return Object.fromEntries(paths.map((path) => [path, paths.filter((one) => one === path).length]));
  }

  /** What was called for a path, in order. */
  of(path: string): readonly Call[] {
    return this.calls.filter((call) => call.path === path);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

interface Working {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly ended: Promise<{
    readonly code: number | null;
    readonly signal: string | null;
    readonly stderr: string;
  }>;
  /** Resolves when it has printed this on standard error. */
  says(text: string): Promise<void>;
}

let [folder, witness, address, engine]: [CliFolder, Witness, string, Engine] = [] as never;
const workers: Working[] = [];

beforeEach(async () => {
  folder = cliFolder();
  folder.write("pay.mjs", FLOW);
  folder.write("holdfast.config.json", JSON.stringify({ claim: "2s" }));
  witness = new Witness();
  address = await witness.open();
  const file = join(folder.path, ".holdfast/holdfast.db");
  engine = createEngine({ store: await openSqliteStore({ file }), execute: false });
});

afterEach(async () => {
  for (const { child } of workers) child.kill("SIGKILL");
  await Promise.all(workers.splice(0).map(({ ended }) => ended));
  await engine.close();
  witness.close();
  folder.remove();
});

/** Starts `holdfast worker` from source, and resolves when it works. */
async function working(line = "", file = "pay.mjs"): Promise<Working> {
  const { PATH = "" } = process.env;
  const argv = `worker ${file} ${line}`.trim().split(" ");
  const child = spawn(process.execPath, ["--import", TSX, MAIN, ...argv], {
    cwd: folder.path,
    env: { PATH, WITNESS: address, LOCAL_API_KEY: "none" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  let heard = (): void => undefined;
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
    heard();
  });
  const ended = new Promise<{ code: number | null; signal: string | null; stderr: string }>((resolve) =>
    child.on("close", (code, signal) => {
      resolve({ code, signal, stderr });
      heard();
    }),
  );
  const says = async (text: string): Promise<void> => {
    while (!stderr.includes(text)) {
      if (child.exitCode !== null) throw new Error(`The worker ended: ${stderr}`);
      await new Promise<void>((resolve) => (heard = resolve));
    }
  };
  const worker = { child, pid: child.pid ?? 0, ended, says };
  workers.push(worker);
  await says("Ctrl-C stops it");
  return worker;
}

const start = (id: string) => engine.start(pay, undefined as never, { id });

describe("a worker as a process", () => {
  it("finishes its step after SIGTERM and hands the run over, and exits with 0", async () => {
    witness.hold("second");
    const first = await working();
    await start("r");
    await witness.until(({ length }) => length === 2);
    first.child.kill("SIGTERM");
    await first.says("Stopping");
    witness.release();
    const end = await first.ended;
    expect([end.code, end.signal]).toEqual([0, null]);
    const left = await engine.get("r");
    expect([left?.status, left?.claim.owner]).toEqual(["queued", null]);
    const second = await working();
    expect(await engine.result("r")).toBe("ok ok ok");
    expect(witness.calls.map(({ path, pid }) => [path, pid])).toEqual([
      ["/r/first", first.pid],
      ["/r/second", first.pid],
      ["/r/third", second.pid],
    ]);
  });

  it("stops although a step doesn't end within --stop-within, and the step is called with its key again", async () => {
    witness.hold("second");
    const first = await working("--stop-within 100ms");
    await start("r");
    await witness.until(({ length }) => length === 2);
    first.child.kill("SIGTERM");
    const end = await first.ended;
    expect([end.code, end.signal]).toEqual([0, null]);
    witness.release();
    const second = await working();
    expect(await engine.result("r")).toBe("ok ok ok");
    expect(witness.of("/r/second").map(({ pid }) => pid)).toEqual([first.pid, second.pid]);
    expect(witness.effects).toEqual({ "/r/first": 1, "/r/second": 1, "/r/third": 1 });
  });

  it("is replaced by the other one after kill -9, and no effect is repeated", async () => {
    const ids = ["a", "b", "c", "d", "e", "f"];
    witness.hold("second");
    const [one, other] = await Promise.all([working("--concurrency 3"), working("--concurrency 3")]);
    for (const id of ids) await start(id);
    // Neither takes more than three, so that both have three when all six are called.
    await witness.until((calls) => calls.filter(({ path }) => path.endsWith("second")).length === 6);
    expect(new Set(witness.calls.map(({ pid }) => pid))).toEqual(new Set([one.pid, other.pid]));
    const struck = witness.calls.filter(({ pid, path }) => pid === one.pid && path.endsWith("second"));
    one.child.kill("SIGKILL");
    expect((await one.ended).signal).toBe("SIGKILL");
    witness.release();
    for (const id of ids) expect(await engine.result(id)).toBe("ok ok ok");
    const paths = ids.flatMap((id) => ["first", "second", "third"].map((step) => `/${id}/${step}`));
    expect(witness.effects).toEqual(Object.fromEntries(paths.map((path) => [path, 1])));
    const again = paths.filter((path) => witness.of(path).length > 1);
    expect(again).toEqual(struck.map(({ path }) => path).sort());
    for (const path of again) expect(witness.of(path).map(({ pid }) => pid)).toEqual([one.pid, other.pid]);
  });

  it("of an old version hands its runs over while one of a new version takes the new ones", async () => {
    folder.write(
      "new-pay.mjs",
      flowOf("2", ["first", "second", "third", "fourth"], '[{ from: "1", to: "2" }]'),
    );
    witness.hold("second");
    const old = await working();
    await engine.startNamed("pay", undefined, { id: "old" });
    await witness.until(({ length }) => length === 2);
    const current = await working("", "new-pay.mjs");
    await engine.startNamed("pay", undefined, { id: "new" });
    await witness.until(({ length }) => length === 4);
    expect((await engine.get("new"))?.version).toBe("2");
    old.child.kill("SIGTERM");
    await old.says("Stopping");
    witness.release();
    expect((await old.ended).code).toBe(0);
    for (const id of ["old", "new"]) expect(await engine.result(id)).toBe("ok ok ok ok");
    const pidsOf = (id: string) =>
      witness.calls.filter(({ path }) => path.startsWith(`/${id}/`)).map(({ pid }) => pid);
    expect(pidsOf("old")).toEqual([old.pid, old.pid, current.pid, current.pid]);
    expect(pidsOf("new")).toEqual(Array.from({ length: 4 }, () => current.pid));
    expect(await engine.workers.list()).toMatchObject([{ pid: current.pid, workflows: [{ version: "2" }] }]);
  });

  it("calls no model before a Retry-After of its provider has passed, whichever process was told", async () => {
    const arrivals: { readonly at: number; readonly asked: string }[] = [];
    const model = await startOpenAiServer(({ body, index }) => {
      arrivals.push({ at: Date.now(), asked: String(body.messages.at(-1)?.content) });
      return index === 0 ? { status: 429, retryAfter: 3 } : { text: "fine" };
    });
    folder.write(
      "holdfast.config.json",
      JSON.stringify({ claim: "2s", providers: { local: { base_url: model.url, api_key: "none" } } }),
    );
    folder.write(
      "ask.yaml",
      "workflow: { name: ask, entry_point: a, runtime: { provider: local } }\nagents: [{ name: a, model: m, prompt: from yaml, routes: [{ to: $end }] }]\noutput: {}\n",
    );
    folder.write(
      "ask.ts",
      `import { modelProviders } from "${ROOT}/src/adapters/ai-sdk/index.ts";
import { runAgent } from "${ROOT}/src/agent/index.ts";
import { workflow } from "${ROOT}/src/index.ts";
const provider = modelProviders({ local: { baseURL: "${model.url}", apiKey: "none" } });
export const code = workflow("code", (ctx) => runAgent(ctx, "b", { provider, model: "local/m", prompt: "from code" }));`,
    );
    await engine.rateLimits.set("local", { calls: 100, tokens: 100_000 });
    await Promise.all([working("", "ask.yaml"), working("", "ask.ts")]);
    await engine.startNamed("ask", {}, { id: "yaml" });
    await model.waitFor(() => true);
    const held = async (): Promise<number> =>
      (await engine.rateLimits.get("local"))?.heldUntil ?? (await setImmediate(), held());
    const until = await held();
    await engine.startNamed("code", undefined, { id: "code" });
    for (const id of ["yaml", "code"]) await engine.result(id);
    expect(arrivals.map(({ asked }) => asked).sort()).toEqual(["from code", "from yaml", "from yaml"]);
    for (const { at } of arrivals.slice(1)) expect(at).toBeGreaterThanOrEqual(until);
    expect((await engine.rateLimits.get("local"))?.used).toMatchObject({ calls: 3 });
    await model.close();
  });
});
