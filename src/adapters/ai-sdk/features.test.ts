import * as six from "ai";
import { MockLanguageModelV3 } from "ai/test";
import * as seven from "ai-v7";
import { MockLanguageModelV4 } from "ai-v7/test";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { journalOf } from "../../../test/support/agent-stage.ts";
import { crashed, rested } from "../../../test/support/durable-body.ts";
import { hangs } from "../../../test/support/lab.ts";
import { type AiSdkOptions, durable } from "./index.ts";
import type { LanguageModel } from "./language-model.ts";

type Part = Readonly<Record<string, unknown>> & { readonly type: string };

/** A result of `generateText`, or of `streamText`, whose fields are promises. */
interface Result {
  readonly text: string | PromiseLike<string>;
  readonly output: unknown;
  readonly content: PromiseLike<readonly Part[]> | readonly Part[];
  /** Of version 6: with the messages of all turns. */
  readonly response: PromiseLike<Response> | Response;
  /** Of version 7. */
  readonly responseMessages?: PromiseLike<readonly object[]> | readonly object[];
}

interface Response {
  readonly messages: readonly object[];
}

/** What versions 6 and 7 have in common, without their types, which name each other's. */
interface Sdk {
  readonly generateText: (options: object) => Promise<Result>;
  readonly streamText: (options: object) => Result;
  readonly ToolLoopAgent: new (settings: object) => { generate(options: object): Promise<Result> };
  readonly Output: { object(options: object): unknown };
  readonly tool: (options: object) => object;
}

/** The settings of a call, as a mocked model remembers them. */
interface Asked {
  readonly prompt: readonly { readonly role: string; readonly content: readonly Part[] | string }[];
  readonly tools?: readonly { readonly name: string }[];
  readonly toolChoice?: unknown;
  readonly responseFormat?: { readonly type: string };
}

type Mocked = LanguageModel & { readonly asked: readonly Asked[] };

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};

const partsOf = (part: Part, index: number): readonly Part[] => {
  if (part.type !== "text" && part.type !== "reasoning") return [part];
  const [id, { type, text, ...rest }] = [String(index), part];
  const delta = { type: `${type}-delta`, id, delta: text };
  return [{ type: `${type}-start`, id }, delta, { type: `${type}-end`, id, ...rest }];
};

const streamOf = (parts: readonly Part[]) =>
  new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });

/** A model that gives these answers in order, as a whole or as a stream. */
function modelOf(Mock: new (options: never) => LanguageModel, answers: readonly (readonly Part[])[]): Mocked {
  const asked: Asked[] = [];
  const next = (options: Asked) => {
    asked.push(options);
    const content = answers[asked.length - 1] ?? [];
    const isCalling = content.some(({ type, providerExecuted }) => type === "tool-call" && !providerExecuted);
    const unified = isCalling ? "tool-calls" : "stop";
    return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] };
  };
  const made = new Mock({
    doGenerate: async (options: Asked) => next(options),
    doStream: async (options: Asked) => {
      const { content, ...rest } = next(options);
      const begin = { type: "stream-start", warnings: [] };
      return { stream: streamOf([begin, ...content.flatMap(partsOf), { type: "finish", ...rest }]) };
    },
  } as never);
  return Object.assign(made, { asked });
}

const say = (text: string): Part => ({ type: "text", text });
const call = (toolName: string, input: object): Part => ({
  type: "tool-call",
  toolCallId: `id-${toolName}`,
  toolName,
  input: JSON.stringify(input),
});

const VERSIONS = [
  {
    version: 6,
    sdk: six as unknown as Sdk,
    stopAfter: six.stepCountIs as (count: number) => unknown,
    model: (...answers: (readonly Part[])[]) => modelOf(MockLanguageModelV3 as never, answers),
  },
  {
    version: 7,
    sdk: seven as unknown as Sdk,
    stopAfter: seven.isStepCount as (count: number) => unknown,
    model: (...answers: (readonly Part[])[]) => modelOf(MockLanguageModelV4 as never, answers),
  },
];

describe.each(VERSIONS)("version $version of the AI SDK", ({ version, sdk, stopAfter, model }) => {
  const how = [
    ["generateText", (options: object) => sdk.generateText(options)],
    ["streamText", async (options: object) => sdk.streamText(options)],
  ] as const;
  const city = z.object({ city: z.string() });

  it.each(how)("gives structured output again after a crash (%s)", async (_, ask) => {
    const asked = model([say('{"sky":"sun"}')]);
    const output = sdk.Output.object({ schema: z.object({ sky: z.enum(["sun", "rain"]) }) });
    const { results } = await crashed(async (ctx) => {
      const result = await ask({ ...durable(ctx, { model: asked }), prompt: "?", output });
      return await result.output;
    });
    expect(results).toEqual([{ sky: "sun" }, { sky: "sun" }]);
    expect(asked.asked.map(({ responseFormat }) => responseFormat?.type)).toEqual(["json"]);
  });

  it("lets an agent class and prepareStep choose model, tools and a tool that must be called", async () => {
    const [plain, careful] = [model([call("weather", { city: "Rome" })]), model([say("Sun.")])];
    const tool = sdk.tool({ inputSchema: city, execute: () => "sun" });
    const prepareStep: AiSdkOptions["prepareStep"] = ({ stepNumber }) =>
      stepNumber === 0
        ? { activeTools: ["weather"], toolChoice: { type: "tool", toolName: "weather" } }
        : { model: careful };
    const { results } = await crashed(async (ctx) => {
      const settings = durable(ctx, { model: plain, tools: { weather: tool, mail: tool }, prepareStep });
      const agent = new sdk.ToolLoopAgent({ ...settings, stopWhen: stopAfter(3) });
      return (await agent.generate({ prompt: "?" })).text;
    });
    expect(results).toEqual(["Sun.", "Sun."]);
    expect([plain.asked.length, careful.asked.length]).toEqual([1, 1]);
    expect(plain.asked[0]?.tools?.map(({ name }) => name)).toEqual(["weather"]);
    expect(plain.asked[0]?.toolChoice).toEqual({ type: "tool", toolName: "weather" });
    expect(careful.asked[0]?.tools).toHaveLength(2);
  });

  it.each(how)(
    "leaves tools to the provider that runs them, and keeps what they found (%s)",
    async (_, ask) => {
      const found = { ...call("search", { query: "tides" }), providerExecuted: true };
      const { toolCallId, toolName } = found as Part;
      const result = { type: "tool-result", toolCallId, toolName, result: { hits: 3 } };
      const url = "https://tides.example.org";
      const source = { type: "source", sourceType: "url", id: "s1", url };
      const asked = model([found, result, source, say("High at noon.")]);
      const search = {
        type: "provider",
        id: "p.search",
        name: "search",
        args: {},
        inputSchema: z.object({}),
      };
      const { lab, results } = await crashed(async (ctx) => {
        const agent = durable(ctx, {
          model: asked,
          tools: { search: { ...search, isProviderExecuted: true } },
        });
        const given = await ask({ ...agent, prompt: "?", stopWhen: stopAfter(3) });
        return (await given.content).map(({ type }) => type);
      });
      expect(results[0]).toEqual(["tool-call", "tool-result", "source", "text"]);
      expect(results[1]).toEqual(results[0]);
      const steps = (await journalOf(lab)).filter(({ kind }) => kind === "step_started");
      expect(steps.map(({ step }) => step)).toEqual(["ai.1.model", "last", "last"]);
    },
  );

  it.each(how)(
    "shows the model its reasoning with the provider's mark, also after a crash (%s)",
    async (_, ask) => {
      const reasoning = { type: "reasoning", text: "Hm.", providerMetadata: { p: { signature: "s1" } } };
      const asked = model([reasoning, call("weather", { city: "Rome" })], [say("Sun.")], [say("Sun.")]);
      const tool = sdk.tool({ inputSchema: city, execute: () => "sun" });
      const image = { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2]) };
      const messages = [{ role: "user", content: [image] }];
      let passes = 0;
      await crashed(async (ctx) => {
        const agent = durable(ctx, { model: asked, tools: { weather: tool } });
        const result = await ask({ ...agent, messages, stopWhen: stopAfter(3) });
        await result.text;
        if (++passes < 2) return;
        // The second process goes on from what the journal gave it.
        const said = (await result.responseMessages) ?? (await result.response).messages;
        const more = [...messages, ...said, { role: "user", content: "And?" }];
        await (await ask({ ...agent, messages: more })).text;
      });
      const prompts = asked.asked.map(({ prompt }) => prompt);
      expect(prompts).toHaveLength(3);
      for (const prompt of prompts.slice(1))
        expect(prompt.find(({ role }) => role === "assistant")?.content).toMatchObject([
          { type: "reasoning", text: "Hm.", providerOptions: { p: { signature: "s1" } } },
          { type: "tool-call", toolName: "weather" },
        ]);
      expect(prompts[0]?.[0]).toMatchObject({
        role: "user",
        content: [{ type: "file", mediaType: "image/png" }],
      });
    },
  );

  it.each(how)("keeps files that the model made, and parts of kinds that came later (%s)", async (_, ask) => {
    const bytes = new Uint8Array([137, 80, 78, 71]);
    const later: readonly Part[] =
      version === 6
        ? []
        : [
            { type: "custom", kind: "p.thing", providerMetadata: { p: { n: 1 } } },
            { type: "reasoning-file", mediaType: "image/png", data: { type: "data", data: bytes } },
          ];
    const data = version === 6 ? bytes : { type: "data", data: bytes };
    const asked = model([{ type: "file", mediaType: "image/png", data }, ...later, say("There.")]);
    const { results } = await crashed(async (ctx) => {
      const result = await ask({ ...durable(ctx, { model: asked }), prompt: "?" });
      return (await result.content).map((part) => {
        const file = part["file"] as { readonly uint8Array: Uint8Array } | undefined;
        return [part.type, file ? [...file.uint8Array] : null];
      });
    });
    expect(results[0]?.[0]).toEqual(["file", [...bytes]]);
    expect(results[0]?.map(([type]) => type)).toEqual(["file", ...later.map(({ type }) => type), "text"]);
    expect(results[1]).toEqual(results[0]);
    expect(asked.asked).toHaveLength(1);
  });

  it("asks a person where a tool needs approval, and tells the model of a no", async () => {
    const asked = model([call("wipe", { city: "Rome" })], [say("Not done.")]);
    const wipe = sdk.tool({ inputSchema: city, needsApproval: true, execute: () => "wiped" });
    const { lab, engine, run } = await rested(async (ctx) => {
      const agent = durable(ctx, { model: asked, tools: { wipe } });
      return (await sdk.generateText({ ...agent, prompt: "?", stopWhen: stopAfter(3) })).text;
    });
    expect(run.waiting).toMatchObject([{ kind: "gate", step: "ai.1.allow:wipe" }]);
    const no = { choice: "deny", text: "Not Rome.", actor: "ada" };
    await lab.drive(engine.answer("r", "ai.1.allow:wipe", no));
    expect(await lab.drive(engine.result("r"))).toBe("Not done.");
    expect(JSON.stringify(asked.asked[1]?.prompt.at(-1))).toContain("It was not called: ada said no.");
  });

  it("asks a person about a tool that doesn't answer in its time", async () => {
    const asked = model([call("wipe", { city: "Rome" })], [say("Done.")]);
    const wipe = sdk.tool({ inputSchema: city, execute: hangs });
    const { run } = await rested(async (ctx) => {
      const agent = durable(
        ctx,
        { model: asked, tools: { wipe } },
        { tools: { wipe: { timeoutMs: 1_000 } } },
      );
      return (await sdk.generateText({ ...agent, prompt: "?", stopWhen: stopAfter(3) })).text;
    });
    expect(run.waiting).toMatchObject([{ kind: "decision", step: "ai.1.tool:wipe" }]);
    expect(asked.asked).toHaveLength(1);
  });

  it("tells the model of arguments that don't fit and of tools that don't exist, without a step", async () => {
    const asked = model([call("weather", { town: 1 })], [call("nothing", {})], [say("I give up.")]);
    const weather = sdk.tool({ inputSchema: city, execute: () => "sun" });
    const { lab, output } = await rested(async (ctx) => {
      const agent = durable(ctx, { model: asked, tools: { weather } });
      return (await sdk.generateText({ ...agent, prompt: "?", stopWhen: stopAfter(5) })).text;
    });
    expect(output).toBe("I give up.");
    const steps = (await journalOf(lab)).filter(({ kind }) => kind === "step_started");
    expect(steps.map(({ step }) => step)).toEqual(["ai.1.model", "ai.2.model", "ai.3.model"]);
  });

  it("refuses what is no model, tool or setting at the first line of the run", async () => {
    const refusal = async (options: object, settings: object = {}) => {
      const { run } = await rested(async (ctx) => durable(ctx, options as never, settings).maxRetries);
      return JSON.stringify(run.error);
    };
    expect(await refusal({ model: "openai/gpt-5" })).toMatch("not a language model");
    expect(await refusal({ model: model(), tools: { t: "x" } })).toMatch("not a tool of the AI SDK");
    expect(await refusal({ model: model(), tools: {} }, { tools: { t: "once" } })).toMatch("no such tool");
  });
});
