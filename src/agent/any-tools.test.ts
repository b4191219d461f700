import { jsonSchema, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { calls, stage } from "../../test/support/agent-stage.ts";
import { callOf } from "../adapters/ai-sdk/index.ts";
import type { AgentSpec, AgentTools } from "./index.ts";

const run = async (said: Parameters<typeof stage>[0], spec: Partial<AgentSpec>) => {
  const scene = stage(said, spec);
  const engine = await scene.begin();
  const result = await scene.lab.drive(engine.result("r")).catch((error: unknown) => error);
  return { scene, result };
};

describe("the tools of an agent", () => {
  it("are taken from the AI SDK as they are, with zod schemas, and checked by them", async () => {
    const keys: unknown[] = [];
    const refund = tool({
      description: "Gives money back",
      inputSchema: z.object({ order: z.string().startsWith("o-"), cents: z.coerce.number() }),
      execute: ({ order, cents }, options) => {
        keys.push(callOf(options)?.key);
        return { order, doubled: cents * 2 };
      },
    });
    const { scene, result } = await run(
      [
        calls(["refund", { order: "x", cents: 1 }]),
        calls(["refund", { order: "o-1", cents: "21" }]),
        { text: "end" },
      ],
      { tools: { refund }, effects: { refund: "keyed" } },
    );
    expect(result).toMatchObject({ output: "end" });
    const [first, second, third] = scene.requests;
    expect(first?.tools).toMatchObject([
      { name: "refund", description: "Gives money back", parameters: { required: ["order", "cents"] } },
    ]);
    expect(second?.messages.at(-1)).toMatchObject({ isError: true, text: expect.stringContaining("o-") });
    expect(third?.messages.at(-1)?.text).toBe('{"order":"o-1","doubled":42}');
    expect(keys).toEqual([expect.stringMatching(/.+/)]);
    const { events } = scene;
    expect((await events()).find((one) => one.step === "a[1]/tool:refund")?.meta).toMatchObject({
      effect: "keyed",
    });
  });

  it("may have any Standard Schema, a JSON schema of the AI SDK, and results of their own form", async () => {
    const seen: unknown[] = [];
    const { scene, result } = await run(
      [calls(["look", { at: "door" }], ["peek", { n: 1 }], ["draw", {}]), { text: "end" }],
      {
        tools: {
          look: {
            parameters: z.object({ at: z.string() }),
            run: (input: { at: string }) => seen.push(input),
          },
          peek: tool({
            inputSchema: jsonSchema<{ n: number }>({ type: "object" }),
            execute: ({ n }) => n + 1,
          }),
          draw: tool({
            inputSchema: z.object({}),
            execute: () => "raw",
            toModelOutput: ({ output }) => ({
              type: "content",
              value: [{ type: "text", text: `<${output}>` }],
            }),
          }),
        },
      },
    );
    expect(result).toMatchObject({ output: "end" });
    expect(seen).toEqual([{ at: "door" }]);
    expect(scene.requests[1]?.messages.slice(-3).map(({ text }) => text)).toEqual(["1", "2", "<raw>"]);
  });

  it("ask for approval at a gate where the SDK's tool needs it", async () => {
    let sent = 0;
    const send = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => ++sent });
    const scene = stage([calls(["send"]), { text: "end" }], { tools: { send } });
    const engine = await scene.begin();
    const waiting = await scene.lab.drive(engine.settled("r"));
    expect(waiting.waiting).toMatchObject([{ kind: "gate", step: "a[0]/allow:send" }]);
    expect(sent).toBe(0);
    await scene.lab.drive(engine.answer("r", "a[0]/allow:send", { choice: "approve", actor: "ada" }));
    await scene.lab.drive(engine.result("r"));
    expect(sent).toBe(1);
  });

  it.each<[string, AgentTools, string]>([
    ["a list of the SDK's tools", [tool({ inputSchema: z.object({}) })] as never, "it has no name"],
    [
      "one that nobody can call",
      { t: tool({ inputSchema: z.object({}) }) as never },
      "neither run nor execute",
    ],
    ["one without a schema", { t: { execute: () => 1 } }, "no inputSchema"],
    ["something else", { t: 3 as never }, "not a tool"],
  ])("are refused before the model is asked: %s", async (_, tools, problem) => {
    const { scene, result } = await run([{ text: "never" }], { tools });
    expect(result).toMatchObject({ cause: { code: "HF-4102", message: expect.stringContaining(problem) } });
    expect(scene.requests).toEqual([]);
  });

  it("are refused where their schema has no JSON form", async () => {
    const parameters = z.object({ on: z.date() });
    const { result } = await run([{ text: "never" }], { tools: { t: { parameters, run: () => 1 } } });
    expect(result).toMatchObject({ cause: { code: "HF-4604" } });
  });
});

describe("the answer of an agent", () => {
  it("is what a Standard Schema makes of it, and one that doesn't fit goes back to the model", async () => {
    const output = z.object({ total: z.string().transform((text) => Number(text)) });
    const { scene, result } = await run([{ text: '{"total":7}' }, { text: 'Here: {"total":"7"}' }], {
      output,
    });
    expect(result).toMatchObject({ output: { total: 7 }, turns: 2 });
    expect(scene.requests[0]?.schema).toMatchObject({ properties: { total: { type: "string" } } });
    expect(scene.requests[1]?.messages.at(-1)?.text).toContain("total");
  });
});
