import { generateText, isStepCount, streamText, tool } from "ai-v7";
import { convertArrayToReadableStream, MockLanguageModelV4 } from "ai-v7/test";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { crashed, rested } from "../../../test/support/durable-body.ts";
import { durable } from "./index.ts";

type Reply = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;

const usage: Reply["usage"] = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};
const asksFor = (city: string): Reply["content"][number] => ({
  type: "tool-call",
  toolCallId: `id-${city}`,
  toolName: "weather",
  input: JSON.stringify({ city }),
});

/** A model of the specification of AI SDK 7: it asks for the weather there, then answers. */
function model() {
  let asked = 0;
  const next = () => {
    const isCalling = asked++ === 0;
    const content: Reply["content"] = isCalling ? [asksFor("Rome")] : [{ type: "text", text: "Rain." }];
    const unified = isCalling ? "tool-calls" : "stop";
    return { content, finishReason: { unified, raw: undefined } } as const;
  };
  return new MockLanguageModelV4({
    doGenerate: async () => ({ ...next(), usage, warnings: [] }),
    doStream: async () => {
      const { content, finishReason } = next();
      const parts = content.flatMap((part) =>
        part.type === "text"
          ? ([
              { type: "text-start", id: "1" },
              { type: "text-delta", id: "1", delta: part.text },
              { type: "text-end", id: "1" },
            ] as const)
          : [part as never],
      );
      const finish = { type: "finish", finishReason, usage } as const;
      return {
        stream: convertArrayToReadableStream([
          { type: "stream-start", warnings: [] } as const,
          ...parts,
          finish,
        ]),
      };
    },
  });
}

const weather = (called: string[]) =>
  tool({
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => {
      called.push(city);
      return "rain";
    },
  });

describe("an agent of AI SDK 7", () => {
  it.each(["generateText", "streamText"])("answers from the journal after a crash (%s)", async (how) => {
    const [asked, called] = [model(), [] as string[]];
    const { run, results } = await crashed(async (ctx) => {
      const agent = durable(ctx, { model: asked, tools: { weather: weather(called) } });
      const given = { ...agent, prompt: "?", stopWhen: isStepCount(5) };
      return how === "generateText" ? (await generateText(given)).text : streamText(given).text;
    });
    expect(run.status).toBe("completed");
    expect(results).toEqual(["Rain.", "Rain."]);
    expect(called).toEqual(["Rome"]);
    expect(asked.doGenerateCalls.length + asked.doStreamCalls.length).toBe(2);
  });

  it.each([
    ["a status", { weather: "user-approval" }],
    ["a function of the tool", { weather: () => ({ type: "user-approval" }) }],
    ["a function for all", () => "user-approval"],
  ] as const)(
    "asks a person at a gate of the run where toolApproval says so: %s",
    async (_, toolApproval) => {
      const [asked, called] = [model(), [] as string[]];
      const { lab, engine, run } = await rested(async (ctx) => {
        const options = { model: asked, tools: { weather: weather(called) }, toolApproval };
        const agent = durable(ctx, options);
        return (await generateText({ ...agent, prompt: "?", stopWhen: isStepCount(5) } as never)).text;
      });
      expect(run.waiting).toMatchObject([{ kind: "gate", step: "ai.1.allow:weather" }]);
      expect(called).toEqual([]);
      await lab.drive(engine.answer("r", "ai.1.allow:weather", { choice: "approve", actor: "ada" }));
      expect(await lab.drive(engine.result("r"))).toBe("Rain.");
      expect(called).toEqual(["Rome"]);
    },
  );
});
