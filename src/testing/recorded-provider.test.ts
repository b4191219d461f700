import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { calls, sayings } from "../../test/support/agent-stage.ts";
import { useFolders } from "../../test/support/folders.ts";
import { createLab } from "../../test/support/lab.ts";
import { type AgentTool, ModelError, type ModelProvider, runAgent } from "../agent/index.ts";
import { workflow } from "../index.ts";
import { recordedProvider } from "./index.ts";

const newFolder = useFolders("recorded");
const look: AgentTool = { name: "look", parameters: {}, effect: "repeatable", run: () => "seen" };

async function answerOf(provider: ModelProvider, prompt = "go"): Promise<unknown> {
  const lab = createLab();
  const flow = workflow("flow", async (ctx) => {
    const result = await runAgent(ctx, "a", { provider, model: "m", prompt, tools: [look] });
    return result.text;
  });
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  return lab.drive(engine.result("r"));
}

describe("a recorded provider", () => {
  it("asks the live one once, and answers from the file for ever", async () => {
    const file = path.join(newFolder(), "fixtures/clerk.json");
    let times = 0;
    const live = sayings([calls(["look"]), () => (++times, { text: "the secret word is tea" })]);
    expect(await answerOf(recordedProvider(file, { live }))).toBe("the secret word is tea");
    expect(await answerOf(recordedProvider(file))).toBe("the secret word is tea");
    expect(await answerOf(recordedProvider(file, { live }))).toBe("the secret word is tea");
    expect(times).toBe(1);
    expect(readFileSync(file, "utf8")).not.toContain('"go"');
  });

  it("refuses what was never recorded, and files that aren't fixtures", async () => {
    const folder = newFolder();
    const file = path.join(folder, "clerk.json");
    await answerOf(recordedProvider(file, { live: sayings([{ text: "hello" }]) }));
    await expect(answerOf(recordedProvider(file), "something else")).rejects.toMatchObject({
      cause: { code: "HF-4605" },
    });
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, "not json");
    expect(() => recordedProvider(file)).toThrow(expect.objectContaining({ code: "HF-4606" }));
  });

  it("records the failures that a model gave, so that retries are tested too", async () => {
    const file = path.join(newFolder(), "busy.json");
    let times = 0;
    const busy = sayings([
      () => {
        if (++times === 1) throw new ModelError("slow down", { kind: "rate-limit", status: 429 });
        return { text: "now" };
      },
    ]);
    expect(await answerOf(recordedProvider(file, { live: busy }))).toBe("now");
    expect(await answerOf(recordedProvider(file))).toBe("now");
    expect(times).toBe(2);
    expect(readFileSync(file, "utf8")).toContain("rate-limit");
  });
});
