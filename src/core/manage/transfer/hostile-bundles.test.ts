import { expect, it } from "vitest";
import { hostileBundles, unharmed } from "../../../../test/data/hostile-bundles.ts";
import { createEngine, HoldfastError, workflow } from "../../../index.ts";
import { createMemoryStore } from "../../../stores/memory.ts";

async function bundle(): Promise<string> {
  const flow = workflow("flow", async (ctx) => {
    ctx.memory.set("note", { text: "kept" });
    await ctx.step("one", () => ({ answer: 42 }), { effect: "once", input: "x" });
    return ctx.step("large", () => "x".repeat(9_000));
  });
  const engine = createEngine({ store: createMemoryStore(), workflows: [flow] });
  await engine.start(flow, { who: "ada" }, { id: "small" });
  await engine.result("small");
  let text = "";
  for await (const line of engine.transfer.exportRun("small")) text += line;
  await engine.close();
  return text;
}

/** What comes of importing the text: how it was refused, and how often something was written. */
async function take(text: string): Promise<{ outcome: string; writes: number }> {
  const inner = createMemoryStore();
  let writes = 0;
  const store: typeof inner = {
    ...inner,
    append: (appends) => {
      writes++;
      return inner.append(appends);
    },
  };
  const { transfer } = createEngine({ store, execute: false });
  const outcome = await transfer.importRuns(once(text)).then(
    () => "taken",
    (error: unknown) => (HoldfastError.is(error) ? error.code : `raw: ${String(error)}`),
  );
  return { outcome, writes };
}

async function* once(text: string): AsyncGenerator<string> {
  yield text;
}

const whole = await bundle();

it("takes the bundle that the hostile ones are made from", async () => {
  expect(await take(unharmed(whole))).toEqual({ outcome: "taken", writes: 1 });
});

it.each(Object.entries(hostileBundles(whole)))(
  "refuses a bundle with %s, and writes nothing (X6, X12)",
  async (_, make) => {
    const text = make();
    expect(text).not.toBe(whole);
    const { outcome, writes } = await take(text);
    expect([["HF-3017", "HF-1040"].includes(outcome) || outcome, writes]).toEqual([true, 0]);
  },
);
