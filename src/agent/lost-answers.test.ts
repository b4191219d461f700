import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LostShape, lostShapes, openReceiver, type Receiver } from "../../test/support/lost-answers.ts";
import { createEngine, workflow } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { type AgentTool, type ModelProvider, runAgent } from "./index.ts";

let receiver: Receiver;

beforeAll(async () => {
  receiver = await openReceiver();
});
afterAll(() => receiver.close());

/** A model that keeps asking for the payment until it reads that it was made. */
const stubborn = (asked: { times: number }): ModelProvider => ({
  name: "stubborn",
  async generate({ messages }) {
    asked.times++;
    const isPaid = messages.some(({ role, text }) => role === "tool" && text.includes("paid"));
    const calls = isPaid ? [] : [{ id: "c", tool: "pay", input: { cents: 500 } }];
    return {
      text: isPaid ? "it is paid" : "",
      calls,
      usage: { inputTokens: 1, outputTokens: 1 },
      model: "m",
      finish: isPaid ? "stop" : "tool-calls",
    };
  },
});

const cases = lostShapes.flatMap((shape) =>
  (["once", "keyed"] as const).map((effect) => [shape, effect] as const),
);

async function pay(shape: LostShape, effect: "once" | "keyed", id: string) {
  const asked = { times: 0 };
  const tool: AgentTool = {
    name: "pay",
    parameters: { type: "object" },
    effect,
    retry: { attempts: 2, baseMs: 1 },
    run: (_: never, { key }) => shape.lose(receiver, id, key),
  };
  const flow = workflow("flow", (ctx) =>
    runAgent(ctx, "a", { provider: stubborn(asked), model: "m", prompt: "pay", tools: [tool] }),
  );
  const engine = createEngine({ store: createMemoryStore(), workflows: [flow] });
  await engine.start(flow, undefined, { id });
  return { engine, asked };
}

describe("a tool whose answer was lost, and a model that always tries again (A1)", () => {
  it.each(cases)("has one effect, and the run waits: $name, %s", async (shape, effect) => {
    const id = `${shape.name.replaceAll(/[^a-z0-9]/gi, "-")}-${effect}`;
    const { engine, asked } = await pay(shape, effect, id);
    const run = await engine.settled(id);
    expect(run.waiting).toMatchObject([{ kind: "decision", step: "a[0]/tool:pay" }]);
    const { calls, keys } = receiver.seen(id);
    expect({ effects: effect === "once" ? calls : keys, asked: asked.times }).toEqual({
      effects: 1,
      asked: 1,
    });
    await engine.resolve(id, "a[0]/tool:pay", { action: "done", value: "it was paid" });
    expect(await engine.result(id)).toMatchObject({ output: "it is paid" });
    expect(receiver.seen(id)).toEqual({ calls, keys });
    await engine.close();
  });
});
