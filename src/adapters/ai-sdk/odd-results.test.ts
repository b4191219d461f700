import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { crashed } from "../../../test/support/durable-body.ts";
import { durable } from "./index.ts";

class Account {
  readonly owner = "ada";
}

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};

/** Calls a tool with this result, and returns what the model was told of it, before and after a crash. */
async function toldOf(result: () => unknown) {
  const told: string[] = [];
  let times = 0;
  const { run } = await crashed(async (ctx) => {
    const model = new MockLanguageModelV3({
      doGenerate: async ({ prompt }) => {
        const last = prompt.at(-1);
        const isFirst = last?.role !== "tool";
        if (!isFirst) told.push(JSON.stringify(last.content));
        return {
          content: isFirst
            ? [{ type: "tool-call", toolCallId: "1", toolName: "t", input: "{}" }]
            : [{ type: "text", text: "end" }],
          finishReason: { unified: isFirst ? "tool-calls" : "stop", raw: undefined },
          usage,
          warnings: [],
        };
      },
    });
    const t = tool({ inputSchema: z.object({}), execute: () => (times++, result()) });
    const agent = durable(ctx, { model, tools: { t } }, { tools: { t: "repeatable" } });
    return (await generateText({ ...agent, prompt: "?", stopWhen: stepCountIs(5) })).text;
  });
  return { run, told, times };
}

describe("an odd result of an AI SDK tool", () => {
  it.each<[string, () => unknown, RegExp]>([
    ["100 MB", () => "x".repeat(100_000_000), /^.{200000,201000}$/],
    ["an instance of a class", () => new Account(), /{\\"owner\\":\\"ada\\"}/],
    ["half of a character", () => "half \uD83D of it", /"half \uFFFD of it"/],
    ["half of a character inside", () => ["half \uD83D of it"], /"half \uFFFD of it/],
    ["nothing", () => undefined, /"type":"json","value":null/],
    ["a function", () => ({ run: () => 1 }), /\[function\]/],
  ])(
    "that is %s is told in a form that a model takes, once, through a crash",
    async (_, result, expected) => {
      const { run, told, times } = await toldOf(result);
      expect([run.status, times, told.length]).toEqual(["completed", 1, 1]);
      expect(told[0]).toMatch(expected);
    },
  );
});
