import { setTimeout as delay } from "node:timers/promises";
import { silentLogger } from "../../src/core/logger.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { createEngine, type Engine, type EngineOptions, type Workflow, workflow } from "../../src/index.ts";

/** A store with a run in every state, and the result that each must reach, whatever happens to its bytes. */

/** Calls with an effect, by run and step, counted by the receiver. */
export const effects = new Map<string, number>();

const act = (run: string, step: string): string => {
  const key = `${run} ${step}`;
  effects.set(key, (effects.get(key) ?? 0) + 1);
  return `${step} done`;
};

/** While the world is built, some steps never return: called when one of them has begun. */
let begun: (() => void) | null = null;
const hangs = (tell: () => void): Promise<never> => {
  tell();
  return new Promise<never>(() => undefined);
};
const waits = (): Promise<string> => (begun ? hangs(begun) : Promise.resolve("waited"));

const LONG = "a long text ".repeat(900);

const plain = workflow("plain", async (ctx, name: string) => {
  const text = await ctx.step("read", () => `${name} ${LONG}`);
  const sent = await ctx.step("send", () => act(ctx.runId, "send"), { effect: "once" });
  return { length: text.length, sent, sum: await ctx.step("sum", () => 12_345) };
});

const fails = workflow("fails", (ctx) =>
  ctx.step("s", () => Promise.reject(Object.assign(new Error("no such account"), { retryable: false }))),
);

const asks = workflow("asks", async (ctx) => {
  await ctx.step("send", () => act(ctx.runId, "send"), { effect: "once" });
  const { choice } = await ctx.gate("g", { show: { amount: 10 }, choices: ["yes", "no"] });
  return choice === "yes" ? ctx.step("pay", () => act(ctx.runId, "pay"), { effect: "once" }) : "refused";
});

const dies = workflow("dies", async (ctx) => {
  const sent = await ctx.step("send", () => act(ctx.runId, "send"), { effect: "once" });
  const numbers = await ctx.all("both", {
    one: () => ctx.step("one", () => 1),
    two: () => ctx.step("two", () => 2),
  });
  await ctx.step("wait", waits);
  return {
    sent,
    sum: numbers.one + numbers.two,
    paid: await ctx.step("pay", () => act(ctx.runId, "pay"), { effect: "once" }),
  };
});

const loops = workflow("loops", (ctx) =>
  ctx.loop("turn", { n: 0, log: "" }, async (state, turn) => {
    state.log = await ctx.step("bulk", () => `${turn.index} ${"x".repeat(3_000)}`);
    state.n += await ctx.step("add", () => turn.index);
    if (turn.index === 20) await ctx.step("wait", waits);
    return turn.index === 22 ? turn.done() : undefined;
  }),
);

const above = workflow("above", async (ctx) => {
  const answer = await ctx.child("below", asks, undefined);
  return ctx.step("tell", () => `${String(answer)}!`);
});

export const flows = [plain, fails, asks, dies, loops, above] as unknown as readonly Workflow[];

const OPTIONS = {
  logger: silentLogger,
  sweepMs: 40,
  quietMs: 5,
  holdMs: 20,
  storePatienceMs: 3_000,
} as const;

export const engineOn = (store: Store, options: Partial<EngineOptions> = {}): Engine =>
  createEngine({ store, workflows: flows as never, claimMs: 5_000, ...OPTIONS, ...options });

/** Creates all runs and dies. */
export async function build(store: Store): Promise<void> {
  const bothHang = new Promise<void>((resolve) => {
    let hanging = 0;
    begun = () => void (++hanging === 2 && resolve());
  });
  effects.clear();
  const engine = engineOn(store, { claimMs: 300 });
  const start = (flow: Workflow<never, unknown>, id: string, input?: unknown): Promise<unknown> =>
    engine.start(flow as never, input as never, { id });
  await start(plain, "done", "Ada");
  await start(fails, "failed");
  await start(asks, "asks");
  await start(asks, "stopped");
  await start(above, "above");
  await start(dies, "dies");
  await start(loops, "loops");
  await engine.result("done");
  await engine.result("failed").catch(() => undefined);
  await engine.settled("asks");
  await engine.settled("stopped");
  await engine.pause("stopped");
  await engine.settled("above");
  // By then everything before the hanging step is stored.
  await bothHang;
  await engine.close({ drainMs: 0 });
  begun = null;
}

/** The outcome of a run: its result; the code of the obstacle, if any; or no outcome. */
export type Fate =
  | { readonly kind: "result"; readonly value: unknown }
  | { readonly kind: "code"; readonly code: string }
  | { readonly kind: "raw"; readonly error: string }
  | { readonly kind: "hangs" };

const WATCH_MS = Number(process.env["HOLDFAST_DAMAGE_WATCH_MS"] ?? 20_000);

/** Distinguishes a run that hangs. */
const HANGS: Fate = { kind: "hangs" };

export async function fateOf(work: () => Promise<unknown>): Promise<Fate> {
  const timer = new AbortController();
  const watch = delay(WATCH_MS, HANGS, { signal: timer.signal }).catch(() => HANGS);
  const done = work().then(
    (value): Fate => ({ kind: "result", value }),
    (error: unknown): Fate => {
      const { code } = error as { readonly code?: unknown };
      if (typeof code === "string" && code.startsWith("HF-")) return { kind: "code", code };
      return { kind: "raw", error: String(error) };
    },
  );
  const fate = await Promise.race([done, watch]);
  timer.abort();
  return fate;
}

/** The result of a run that may need a person's decision first; or the code of what it waits for. */
async function outcome(engine: Engine, id: string): Promise<unknown> {
  const run = await engine.settled(id);
  if (run.status === "completed" || run.status === "failed" || run.status === "cancelled")
    return engine.result(id);
  const [wait] = run.waiting;
  const code = /HF-\d+/.exec(wait?.detail ?? "")?.[0] ?? `${run.status} ${wait?.kind ?? ""}`;
  throw Object.assign(new Error(code), { code: code.startsWith("HF-") ? code : `HF-${code}` });
}

const answered = async (engine: Engine, id: string): Promise<void> => {
  await engine.settled(id);
  await engine.answer(id, "g", { choice: "yes", actor: "ada" });
};

const CHILD = "above";

/** Brings every run to its end. */
export const ROUTES: Readonly<Record<string, (engine: Engine) => Promise<unknown>>> = {
  done: (engine) => outcome(engine, "done"),
  failed: (engine) => outcome(engine, "failed"),
  asks: async (engine) => {
    await answered(engine, "asks");
    return ended(engine, "asks");
  },
  stopped: async (engine) => {
    await engine.settled("stopped");
    await engine.resume("stopped");
    await answered(engine, "stopped");
    return ended(engine, "stopped");
  },
  above: async (engine) => {
    const { runs } = await engine.list({ parent: CHILD, limit: 5 });
    // Its child can't be found through it: it keeps waiting and says so.
    if (runs.length === 0) return outcome(engine, "above");
    for (const { id } of runs) {
      await answered(engine, id);
      await ended(engine, id);
    }
    return ended(engine, "above");
  },
  dies: (engine) => ended(engine, "dies"),
  loops: (engine) => ended(engine, "loops"),
};

/** After an answer: waits while the run is still on its way to the end. */
async function ended(engine: Engine, id: string): Promise<unknown> {
  const events = engine.events();
  try {
    for (;;) {
      const { status, waiting } = await engine.settled(id);
      const onItsWay = status === "waiting" && waiting.every(({ kind }) => kind === "child");
      if (!onItsWay) return await outcome(engine, id);
      await events.next();
    }
  } finally {
    await events.return?.();
  }
}
