import { stepCountIs, streamText, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { streamText as streamText7 } from "ai-v7";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createLab } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";
import { durable } from "./index.ts";

type Stream = Awaited<ReturnType<MockLanguageModelV3["doStream"]>>["stream"];
type Part = Stream extends ReadableStream<infer P> ? P : never;

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};
const call = (toolName: string): Part => ({ type: "tool-call", toolCallId: toolName, toolName, input: "{}" });
const said = (id: string, text: string): Part[] => [
  { type: "text-start", id },
  { type: "text-delta", id, delta: text },
  { type: "text-end", id },
];
const finish = (unified: "stop" | "tool-calls"): Part => ({
  type: "finish",
  finishReason: { unified, raw: undefined },
  usage,
});
const FIRST: readonly Part[] = [
  { type: "stream-start", warnings: [] },
  ...said("1", "Let me see. "),
  call("look"),
  call("pay"),
  finish("tool-calls"),
];
const SECOND: readonly Part[] = [
  { type: "stream-start", warnings: [] },
  ...said("2", "Paid."),
  finish("stop"),
];

const WAYS = ["breaks", "ends", "names an error"] as const;

/** A model whose stream stops once, in the answer of this number, after so many parts. */
function cutModel(answer: number, parts: number, way: (typeof WAYS)[number]) {
  let isCut = false;
  return new MockLanguageModelV3({
    doStream: async ({ prompt }) => {
      const at = prompt.some(({ role }) => role === "tool") ? 1 : 0;
      const all = at === 0 ? FIRST : SECOND;
      const breaks = !isCut && at === answer;
      isCut ||= breaks;
      const left = all.slice(0, breaks ? parts : all.length);
      const stream: Stream = new ReadableStream({
        pull(controller) {
          const next = left.shift();
          if (next) return controller.enqueue(next);
          const error = new TypeError("terminated");
          if (breaks && way === "breaks") return controller.error(error);
          if (breaks && way === "names an error") controller.enqueue({ type: "error", error });
          return controller.close();
        },
      });
      return { stream };
    },
  });
}

const CUTS = [FIRST, SECOND].flatMap((all, answer) =>
  all.flatMap((_, parts) =>
    [6, 7].map((sdk) => ({ sdk, answer, parts, way: WAYS[(parts + sdk) % 3] ?? "breaks" })),
  ),
);

describe("an AI SDK stream that", () => {
  it.each(CUTS)(
    "$way in answer $answer after $parts parts (AI SDK $sdk) leaves the run resumable, and each tool is called once",
    async ({ sdk, answer, parts, way }) => {
      const model = cutModel(answer, parts, way);
      const did: string[] = [];
      const tools = Object.fromEntries(
        ["look", "pay"].map((name) => [
          name,
          tool({ inputSchema: z.object({}), execute: () => (did.push(name), name) }),
        ]),
      );
      const lab = createLab();
      const flow = workflow("flow", async (ctx) => {
        const agent = durable(ctx, { model, tools }, { tools: { look: "repeatable", pay: "once" } });
        const asked = { ...agent, prompt: "?", stopWhen: stepCountIs(5), onError: () => undefined };
        const stream = sdk === 6 ? streamText(asked) : streamText7(asked as never);
        return stream.text;
      });
      const engine = lab.engine([flow]);
      await lab.drive(engine.start(flow, undefined, { id: "r" }));
      let run = await lab.drive(engine.settled("r"));
      if (run.status === "failed") {
        await lab.drive(engine.resume("r"));
        run = await lab.drive(engine.settled("r"));
      }
      expect([run.status, run.waiting]).toEqual(["completed", []]);
      expect(await lab.drive(engine.result("r"))).toBe("Paid.");
      expect(did.filter((name) => name === "pay")).toEqual(["pay"]);
      expect(model.doStreamCalls.length).toBe(3);
    },
  );
});
