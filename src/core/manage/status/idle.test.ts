import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../../stores/memory.ts";
import { createEngine } from "../../engine/engine.ts";
import { silentLogger } from "../../logger.ts";
import { workflow } from "../../workflow.ts";

const flow = workflow("flow", async (ctx) => {
  await ctx.gate("approve", { choices: ["yes"] });
});

/** An engine that works, and the first thing it says. */
async function firstWords(store = createMemoryStore()) {
  let say = (_: string): void => undefined;
  const said = new Promise<string>((resolve) => (say = resolve));
  const engine = createEngine({ store, workflows: [flow], logger: { ...silentLogger, info: say } });
  await engine.work();
  const words = await said;
  await engine.close();
  return words;
}

describe("a worker without work", () => {
  it("says once that there is nothing to do", async () => {
    expect(await firstWords()).toBe("nothing to do yet: no run of flow is due");
  });

  it("says what the runs that it knows are waiting for", async () => {
    const store = createMemoryStore();
    const before = createEngine({ store, workflows: [flow], logger: silentLogger });
    await (await before.start(flow, {}, { id: "one" })).settled();
    await before.close();
    expect(await firstWords(store)).toMatch(/^nothing to do yet: .* \(one: waiting for .* gate approve/);
  });
});
