import { afterAll, beforeEach } from "vitest";
import { type CliFolder, cliFolder } from "./cli.ts";

/** Workflows as a file, for tests of the command line. They report to, and wait for, {@link hooks} of the process they run in. */
export const FLOWS = `
const hooks = () => globalThis.holdfastTestHooks ?? { call: async () => undefined };
const plain = (name, body) => ({ name, version: "1", schema: 1, migrations: [], compensateOnFailure: false, body });

export const greet = plain("greet", async (ctx, input) => {
  ctx.plan(["look up", "compose"]);
  await ctx.step("look up", async () => {
    ctx.usage({ tokens: 120, costUsd: 0.01 });
    await hooks().call("look up");
  });
  return ctx.step("compose", async () => {
    await hooks().call("compose");
    return "Hello " + input.name;
  });
});

export const fragile = plain("fragile", async (ctx) => {
  await ctx.step("prepare", () => hooks().call("prepare"), { compensate: () => hooks().call("undo prepare") });
  return ctx.step("ask", async () => {
    await hooks().call("ask");
    if (hooks().fail) throw Object.assign(new Error(hooks().fail), { retryAfterMs: hooks().retryAfterMs });
    return "asked";
  }, { retry: false });
});

export const talks = plain("talks", async (ctx) => {
  ctx.log.info("begins", { key: "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA" });
  await ctx.step("load", () => ctx.log.warn("slow today", { ms: 1200 }));
  ctx.log.debug("a detail");
  return "done";
});

export const gated = plain("gated", async (ctx) => (await ctx.gate("release", { choices: ["approve", "reject"] })).choice);

export const once = plain("once", async (ctx) => {
  await ctx.step("prepare", () => hooks().call("prepare"));
  return ctx.step("pay", async () => {
    await hooks().call("pay");
    return "paid";
  }, { effect: "once", timeoutMs: 1 });
});

export const long = plain("long", async (ctx) => {
  return ctx.step("pay", async () => {
    await hooks().call("pay");
    return "paid";
  }, { effect: "once" });
});

export const listens = plain("listens", async (ctx) => {
  await ctx.step("wait", () => hooks().call("wait"));
  return { inbox: (await ctx.inbox()).map(({ payload }) => payload), memory: ctx.memory.get("note") ?? null };
});

export const varied = plain("varied", async (ctx) => {
  await ctx.step("x" + Math.random(), () => hooks().call("x"));
  await ctx.step("last", () => 1);
});

export const echo = plain("echo", (_, input) => input);
`;

class Hooks {
  /** Names of the calls made, in order. */
  calls: string[] = [];
  /** What the fragile step fails with. */
  fail: string | undefined;
  /** How long the fragile step's receiver asks to wait. */
  retryAfterMs: number | undefined = 600_000;
  readonly #held = new Map<string, { begin: () => void; until: Promise<void> }>();

  reset(): void {
    this.calls = [];
    this.fail = undefined;
    this.retryAfterMs = 600_000;
    this.#held.clear();
  }

  async call(name: string): Promise<void> {
    this.calls.push(name);
    const held = this.#held.get(name);
    this.#held.delete(name);
    held?.begin();
    await held?.until;
  }

  /** The next call of this name begins, and ends when it is released. */
  hold(name: string): { begun: Promise<void>; release: () => void } {
    let [begin, release] = [(): void => undefined, (): void => undefined];
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const until = new Promise<void>((resolve) => (release = resolve));
    this.#held.set(name, { begin, until });
    return { begun, release };
  }
}

export const hooks = new Hooks();
Object.assign(globalThis, { holdfastTestHooks: hooks });

/** A folder with the flows for each test of a file. All of them are removed at its end, when nothing works there any more. */
export function useFlows(): CliFolder {
  const folders: CliFolder[] = [];
  beforeEach(() => {
    const folder = cliFolder();
    folder.write("flows.mjs", FLOWS);
    folders.push(folder);
    hooks.reset();
  });
  afterAll(() => folders.forEach((one) => one.remove()));
  return new Proxy({} as CliFolder, { get: (_, key) => Reflect.get(folders.at(-1) as CliFolder, key) });
}
