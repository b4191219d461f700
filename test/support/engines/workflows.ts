import { workflow } from "../../../src/index.ts";

/** What the workflows below have done in this process, by run. */
export const calls = new Map<string, string[]>();

const note = (runId: string, text: string): void => {
  calls.set(runId, [...(calls.get(runId) ?? []), text]);
};

export const callsOf = (runId: string): readonly string[] => calls.get(runId) ?? [];

export const sums = workflow("sums", async (ctx, n: number) => {
  const first = await ctx.step("first", () => (note(ctx.runId, "first"), n + 1));
  const outer = await ctx.step("outer", async () => {
    note(ctx.runId, "outer");
    const inner = await ctx.step("inner", () => (note(ctx.runId, "inner"), first * 2));
    return inner + 1;
  });
  const again = await ctx.step("first", () => (note(ctx.runId, "first#2"), outer + 1));
  return { first, outer, again, at: new Date(0), big: 12n };
});

export const groups = workflow("groups", async (ctx, items: number[]) => {
  const each = await ctx.each("line", items, (item) => (note(ctx.runId, `line ${item}`), item * 10), {
    concurrency: 2,
  });
  const { left, right } = await ctx.all("side", { left: () => "l", right: () => "r" });
  const settled = await ctx.each(
    "maybe",
    items,
    (item) => {
      if (item === 2) throw Object.assign(new Error("no twos"), { retryable: false });
      return item;
    },
    { failure: "continue", retry: false },
  );
  return { each, left, right, ok: settled.map((one) => one.ok) };
});

export const turns = workflow("turns", async (ctx, input: { turns: number; text?: string }) => {
  const state = await ctx.loop("turn", { said: [] as string[], sum: 0 }, async (draft, turn) => {
    const more = await ctx.step("add", () => (note(ctx.runId, `add ${turn.index}`), turn.index));
    draft.sum += more;
    if (turn.index < 3) draft.said.push(`${input.text ?? "turn"} ${turn.index}`);
    return turn.index >= input.turns - 1 ? turn.done() : undefined;
  });
  return { ...state, last: await ctx.step("report", () => state.said.length) };
});

export const approval = workflow("approval", async (ctx, total: number) => {
  const answer = await ctx.gate("approve", { show: { total }, choices: ["yes", "no"], text: true });
  if (answer.choice === "no") return "refused";
  return ctx.step("pay", () => (note(ctx.runId, "pay"), `paid ${total} for ${answer.actor}`));
});

export const silence = workflow("silence", async (ctx) => {
  const answer = await ctx.gate("approve", {
    choices: ["yes", "no"],
    timeoutMs: 300,
    onTimeout: { choice: "no" },
  });
  return { choice: answer.choice, timedOut: answer.timedOut };
});

export const mailbox = workflow("mailbox", async (ctx) => {
  const first = await ctx.signal<number>("number");
  const second = await ctx.signal<number>("number", { or: ["stop"] });
  const injected = await ctx.inbox();
  return { first: first.payload, second: second.name, injected: injected.map(({ payload }) => payload) };
});

export const naps = workflow("naps", async (ctx, ms: number) => {
  const before = ctx.now();
  await ctx.sleep("nap", ms);
  await ctx.step("wake", () => note(ctx.runId, "wake"));
  return ctx.now() - before >= ms;
});

export const half = workflow("half", async (ctx, n: number) => ctx.step("halve", () => n / 2));

export const family = workflow("family", { children: [half] }, async (ctx, n: number) => {
  const [a, b] = await Promise.all([ctx.child("a", half, n), ctx.child("b", half, n * 2)]);
  return a + b;
});

export const remembers = workflow("remembers", async (ctx) => {
  const [id, number, at] = [ctx.uuid(), ctx.random(), ctx.now()];
  ctx.memory.set("seen", { id });
  ctx.decide({ description: "go on", agent: "tester", confidence: 0.9 });
  await ctx.checkpoint("marked");
  await ctx.gate("wait", { choices: ["on"] });
  const same = ctx.memory.get<{ id: string }>("seen")?.id === id;
  ctx.memory.set("seen", { id, again: true });
  return { id, number, at, same, keys: ctx.memory.keys() };
});

export const flaky = workflow("flaky", async (ctx, failures: number) =>
  ctx.step(
    "call",
    ({ attempt, key, epoch }) => {
      note(ctx.runId, `${key} ${epoch}`);
      if (attempt <= failures) throw new Error(`attempt ${attempt}`);
      return attempt;
    },
    { effect: "keyed", retry: { attempts: 3, baseMs: 20 } },
  ),
);

/** Runs of it fail until their id is in here. */
export const mended = new Set<string>();

export const breaks = workflow("breaks", async (ctx) => {
  const before = await ctx.step("before", () => (note(ctx.runId, "before"), 1));
  return ctx.step(
    "call",
    () => {
      note(ctx.runId, "call");
      if (!mended.has(ctx.runId)) throw new Error("not yet");
      return before + 1;
    },
    { retry: false },
  );
});

/** What `verify` says of the runs' orders. */
export const verdicts = new Map<string, "done" | "not-done" | "unknown">();

export const orders = workflow("orders", async (ctx) =>
  ctx.step(
    "order",
    ({ attempt }) => {
      note(ctx.runId, "order");
      if (attempt === 1) throw new Error("the connection broke");
      return "ordered again";
    },
    {
      effect: "once",
      verify: () => {
        const status = verdicts.get(ctx.runId) ?? "unknown";
        return status === "done" ? { status, value: "found" } : { status };
      },
    },
  ),
);

export const trip = workflow("trip", async (ctx) => {
  const undo = (name: string) => ({ compensate: () => note(ctx.runId, `undo ${name}`) });
  await ctx.step("flight", () => note(ctx.runId, "flight"), undo("flight"));
  await ctx.step("hotel", () => note(ctx.runId, "hotel"), undo("hotel"));
  await ctx.gate("agree", { choices: ["yes"] });
  return "gone";
});

export const rows = workflow("rows", async (ctx) => ctx.transaction("write", () => 1));

export const large = workflow("large", async (ctx, bytes: number) => {
  const text = await ctx.step("text", () => "x".repeat(bytes));
  return ctx.step("length", () => text.length);
});

export const all = [
  sums,
  groups,
  turns,
  approval,
  silence,
  mailbox,
  naps,
  family,
  remembers,
  flaky,
  breaks,
  orders,
  trip,
  rows,
  large,
] as const;
