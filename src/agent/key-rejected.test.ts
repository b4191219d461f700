import { describe, expect, it } from "vitest";
import { createLab } from "../../test/support/lab.ts";
import { workflow } from "../index.ts";
import { type AgentTool, runAgent, scriptedProvider } from "./index.ts";

/** An agent that pays once; the receiver answers the first call with 422. */
async function paying(options: Partial<AgentTool>) {
  const lab = createLab();
  const keys: string[] = [];
  const pay: AgentTool = {
    name: "pay",
    parameters: { type: "object" },
    effect: "keyed",
    ...options,
    run: (_: unknown, { key }) => {
      keys.push(key);
      if (keys.length === 1) throw Object.assign(new Error("unprocessable"), { status: 422 });
      return "paid";
    },
  };
  const provider = scriptedProvider({
    agents: { a: [{ calls: [{ tool: "pay", input: {} }] }, { text: "end" }] },
  });
  const flow = workflow("flow", (ctx) =>
    runAgent(ctx, "a", { provider, model: "m", prompt: "go", tools: [pay] }),
  );
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  return { lab, engine, keys, run: await lab.drive(engine.settled("r")) };
}

describe("a keyed tool whose receiver refuses its key", () => {
  it("is left to a person: the model is not told of a failure that it would try again under another key", async () => {
    const { lab, engine, keys, run } = await paying({ onKeyRejected: "new-key" });
    expect(run.waiting).toMatchObject([{ kind: "decision", step: expect.stringContaining("tool:pay") }]);
    const [{ step } = { step: "" }] = run.waiting;
    await lab.drive(engine.resolve("r", step, { action: "rerun", newKey: true, actor: "ada" }));
    expect((await lab.drive(engine.settled("r"))).status).toBe("completed");
    expect(new Set(keys).size).toBe(2);
  });

  it("tells the model where the tool says that such an answer is a plain refusal", async () => {
    const { keys, run } = await paying({ onKeyRejected: "fail" });
    expect([run.status, keys.length]).toEqual(["completed", 1]);
  });
});
