import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../test/support/lab.ts";
import { type Engine, workflow } from "../index.ts";
import { type AgentSpec, type ModelProvider, type ModelReply, runAgent } from "./index.ts";

const reply = (text: string): ModelReply => ({
  text,
  calls: [],
  usage: { inputTokens: 1, outputTokens: 1 },
  model: "m",
  finish: "stop",
});

/** An agent whose first call never returns. */
function asking(onInterrupt: AgentSpec["onInterrupt"], first: () => Promise<ModelReply> = hangs) {
  let calls = 0;
  const provider: ModelProvider = {
    name: "p",
    generate: () => (++calls === 1 ? first() : Promise.resolve(reply(`answer ${calls}`))),
  };
  const flow = workflow("flow", async (ctx) => {
    const { text } = await runAgent(ctx, "a", {
      provider,
      model: "m",
      prompt: "?",
      ...(onInterrupt ? { onInterrupt } : {}),
    });
    return text;
  });
  return { flow, calls: () => calls };
}

async function interrupted(lab: Lab, { flow }: ReturnType<typeof asking>): Promise<Engine> {
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.clock.advance(100);
  return (await lab.afterCrash(engine, [flow], "r")).engine;
}

describe("a model call that a crash has interrupted", () => {
  it("is made again by default (S3-07)", async () => {
    const lab = createLab();
    const engine = await interrupted(lab, asking(undefined));
    expect(await lab.drive(engine.result("r"))).toBe("answer 2");
  });

  it("is asked about, and made again when a person says so (S3-07)", async () => {
    const lab = createLab();
    const one = asking("ask");
    const engine = await interrupted(lab, one);
    expect((await engine.get("r"))?.waiting).toEqual([
      expect.objectContaining({ kind: "decision", step: "a[0]/model" }),
    ]);
    expect(one.calls()).toBe(1);
    await lab.clock.advance(600_000);
    await lab.drive(engine.resolve("r", "a[0]/model", { action: "rerun" }));
    expect(await lab.drive(engine.result("r"))).toBe("answer 2");
  });

  it("is skipped with the text that a person gives instead (S3-07)", async () => {
    const lab = createLab();
    const one = asking("ask");
    const engine = await interrupted(lab, one);
    await lab.drive(engine.resolve("r", "a[0]/model", { action: "done", value: "skipped" }));
    expect(await lab.drive(engine.result("r"))).toBe("skipped");
    expect(one.calls()).toBe(1);
  });

  it("is told apart from one that failed, which is tried again without asking", async () => {
    const lab = createLab();
    const failing = asking("ask", () => Promise.reject(Object.assign(new Error("busy"), { status: 503 })));
    const engine = lab.engine([failing.flow]);
    await lab.drive(engine.start(failing.flow, undefined, { id: "r" }));
    expect(await lab.drive(engine.result("r"))).toBe("answer 2");
    const bad = asking("maybe" as "ask");
    await lab.drive(lab.engine([bad.flow]).start(bad.flow, undefined, { id: "bad" }));
    await expect(lab.drive(engine.result("bad"))).rejects.toThrow("onInterrupt");
  });
});
