import { generateText, hasToolCall, stepCountIs, streamText, tool } from "ai";
import { convertArrayToReadableStream, MockLanguageModelV3 } from "ai/test";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { journalOf } from "../../../test/support/agent-stage.ts";
import { crashed, rested } from "../../../test/support/durable-body.ts";
import type { Lab } from "../../../test/support/lab.ts";
import type { Context } from "../../core/context.ts";
import { callOf, durable } from "./index.ts";

type Content = Awaited<ReturnType<MockLanguageModelV3["doGenerate"]>>["content"];
type Answer = Content | Error;

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};

const say = (text: string): Content => [{ type: "text", text }];
const call = (toolName: string, input: object, toolCallId = `id-${toolName}`): Content[number] => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input: JSON.stringify(input),
});

/** A model that gives these answers in order, as a whole or as a stream. */
function model(...answers: Answer[]) {
  let asked = 0;
  const next = () => {
    const content = answers[asked++] ?? say("(nothing more)");
    if (content instanceof Error) throw content;
    const isCalling = content.some(({ type }) => type === "tool-call");
    return { content, finishReason: { unified: isCalling ? "tool-calls" : "stop", raw: undefined } } as const;
  };
  return new MockLanguageModelV3({
    modelId: "m-1",
    doGenerate: async () => ({ ...next(), usage, warnings: [] }),
    doStream: async () => {
      const { content, finishReason } = next();
      const parts = content.flatMap((part, index) => {
        if (part.type !== "text") return [part as never];
        const id = String(index);
        const words = part.text.split(/(?<= )/).map((delta) => ({ type: "text-delta", id, delta }) as const);
        return [{ type: "text-start", id } as const, ...words, { type: "text-end", id } as const];
      });
      const finish = { type: "finish", finishReason, usage } as const;
      return {
        stream: convertArrayToReadableStream([{ type: "stream-start", warnings: [] }, ...parts, finish]),
      };
    },
  });
}

const stepsOf = async (lab: Lab) =>
  (await journalOf(lab)).flatMap((event) => (event.kind === "step_started" ? [event.step] : []));

const city = z.object({ city: z.string() });

describe("an AI SDK agent made durable", () => {
  it("asks the model once for each answer and calls each tool once, through a crash (S1-10, S1-11)", async () => {
    const asked = model(
      [call("weather", { city: "Rome" }), call("weather", { city: "Oslo" }, "id-2")],
      say("Rain."),
    );
    const called: string[] = [];
    const weather = tool({
      inputSchema: city,
      execute: ({ city: place }) => {
        called.push(place);
        return { place, sky: "rain" };
      },
    });
    const { lab, run, results } = await crashed(async (ctx) => {
      const agent = durable(ctx, { model: asked, tools: { weather } }, { name: "guide" });
      const { text, steps } = await generateText({
        ...agent,
        prompt: "How is it?",
        stopWhen: stepCountIs(5),
      });
      return { text, outputs: steps[0]?.toolResults.map(({ output }) => output) };
    });
    expect(run.status).toBe("completed");
    expect(results[1]).toEqual(results[0]);
    expect(results[0]).toEqual({
      text: "Rain.",
      outputs: [
        { place: "Rome", sky: "rain" },
        { place: "Oslo", sky: "rain" },
      ],
    });
    expect(called).toEqual(["Rome", "Oslo"]);
    expect(asked.doGenerateCalls).toHaveLength(2);
    expect((await stepsOf(lab)).slice(0, 4)).toEqual([
      "guide.1.model",
      "guide.1.tool:weather",
      "guide.1.tool:weather.2",
      "guide.2.model",
    ]);
    expect(run.usage).toMatchObject({ tokens: 30 });
  });

  it("streams live the first time and from the journal after a crash, with the same answer", async () => {
    const asked = model([...say("Let me see. "), call("weather", { city: "Rome" })], say("It is fine."));
    const weather = tool({ inputSchema: city, execute: () => "sun" });
    const { results } = await crashed(async (ctx) => {
      const agent = durable(ctx, { model: asked, tools: { weather }, prompt: "?" });
      const stream = streamText({ ...agent, stopWhen: stepCountIs(5) });
      const deltas: string[] = [];
      for await (const delta of stream.textStream) deltas.push(delta);
      return { deltas, finish: await stream.finishReason, usage: await stream.totalUsage };
    });
    expect(asked.doStreamCalls).toHaveLength(2);
    expect(results[0]?.deltas).toEqual(["Let ", "me ", "see. ", "It ", "is ", "fine."]);
    expect(results[1]).toEqual({ ...results[0], deltas: ["Let me see. ", "It is fine."] });
  });

  it("calls each of two tools of one streamed answer once, through a crash", async () => {
    const called: string[] = [];
    const mail = tool({
      inputSchema: city,
      execute: ({ city: place }) => {
        called.push(place);
        return place;
      },
    });
    const asked = model([call("mail", { city: "Rome" }), call("mail", { city: "Oslo" }, "2")], say("Sent."));
    const { lab, run, results } = await crashed(async (ctx) => {
      const agent = durable(ctx, { model: asked, tools: { mail }, prompt: "?" });
      return streamText({ ...agent, stopWhen: stepCountIs(5) }).text;
    });
    expect([run.status, results]).toEqual(["completed", ["Sent.", "Sent."]]);
    expect(called.sort()).toEqual(["Oslo", "Rome"]);
    expect((await stepsOf(lab)).filter((step) => step.includes("tool:")).sort()).toEqual([
      "ai.1.tool:mail",
      "ai.1.tool:mail.2",
    ]);
  });

  it("gives a tool the same idempotency key on every attempt", async () => {
    const keys: (string | undefined)[] = [];
    const pay = tool({
      inputSchema: z.object({ cents: z.number() }),
      execute: ({ cents }, options) => {
        keys.push(callOf(options)?.key);
        if (keys.length === 1) throw Object.assign(new Error("busy"), { status: 503 });
        return cents;
      },
    });
    const { output } = await rested(async (ctx) => {
      const agent = durable(
        ctx,
        { model: model([call("pay", { cents: 5 })], say("Paid.")), tools: { pay } },
        {
          tools: { pay: "keyed" },
        },
      );
      return (await generateText({ ...agent, prompt: "?", stopWhen: stepCountIs(3) })).text;
    });
    expect(output).toBe("Paid.");
    expect(keys).toEqual([expect.any(String), keys[0]]);
  });

  it("keeps a call whose outcome is unknown from the model, and waits for a person (S1-20)", async () => {
    const asked = model([call("mail", { city: "Rome" })], say("never"));
    const { run } = await rested(async (ctx) => {
      const mail = tool({
        inputSchema: city,
        execute: (): string => {
          throw new Error("socket hang up");
        },
      });
      const agent = durable(ctx, { model: asked, tools: { mail } });
      return (await generateText({ ...agent, prompt: "?", stopWhen: stepCountIs(3) })).text;
    });
    expect(run).toMatchObject({ status: "waiting", waiting: [{ kind: "decision", step: "ai.1.tool:mail" }] });
    expect(asked.doGenerateCalls).toHaveLength(1);
  });

  it("asks a person where the tool needs approval, and tells the model of a no (S1-29)", async () => {
    const asked = model(
      [call("wipe", { city: "Rome" })],
      [call("wipe", { city: "Oslo" }, "2")],
      say("Done."),
    );
    const wiped: string[] = [];
    const wipe = tool({
      inputSchema: city,
      needsApproval: ({ city: place }) => place !== "Bern",
      execute: ({ city: place }) => void wiped.push(place),
    });
    const { lab, engine, run } = await rested(async (ctx) => {
      const agent = durable(ctx, { model: asked, tools: { wipe } });
      return (await generateText({ ...agent, prompt: "?", stopWhen: stepCountIs(5) })).text;
    });
    expect(run.waiting).toMatchObject([{ kind: "gate", step: "ai.1.allow:wipe" }]);
    await lab.drive(
      engine.answer("r", "ai.1.allow:wipe", { choice: "deny", text: "Not Rome.", actor: "ada" }),
    );
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.answer("r", "ai.2.allow:wipe", { choice: "approve", actor: "ada" }));
    expect(await lab.drive(engine.result("r"))).toBe("Done.");
    expect(wiped).toEqual(["Oslo"]);
    const told = asked.doGenerateCalls[1]?.prompt.at(-1);
    expect(JSON.stringify(told)).toContain("It was not called: ada said no. Not Rome.");
  });

  it("fails the run, whatever the stop condition, when a tool says that its error is fatal", async () => {
    const asked = model([call("mail", { city: "Rome" })], say("never"));
    const { run } = await rested(async (ctx) => {
      const mail = tool({
        inputSchema: city,
        execute: (): string => {
          throw Object.assign(new Error("The licence has expired."), { fatal: true });
        },
      });
      const agent = durable(ctx, { model: asked, tools: { mail } }, { tools: { mail: "repeatable" } });
      return (await generateText({ ...agent, prompt: "?", stopWhen: hasToolCall("mail") })).text;
    });
    expect(run).toMatchObject({ status: "failed", error: "The licence has expired." });
    expect(asked.doGenerateCalls).toHaveLength(1);
  });

  it("tries a model again that fails before it answers, and the wait is the run's", async () => {
    const asked = model(
      Object.assign(new Error("no"), { name: "AI_APICallError", statusCode: 529 }),
      say("Yes."),
    );
    const { output } = await rested(async (ctx) => {
      const stream = streamText({ ...durable(ctx, { model: asked }), prompt: "?" });
      return stream.text;
    });
    expect(output).toBe("Yes.");
    expect(asked.doStreamCalls).toHaveLength(2);
  });

  it("gives calls with missing or repeated ids ids of their own", async () => {
    const asked = model(
      [call("weather", { city: "Rome" }, "")],
      [call("weather", { city: "Oslo" }, "")],
      say("Fine."),
    );
    const weather = tool({ inputSchema: city, execute: ({ city: place }) => place });
    const { results } = await crashed(async (ctx) => {
      const agent = durable(ctx, { model: asked, tools: { weather } }, { tools: { weather: "repeatable" } });
      const { steps } = await generateText({ ...agent, prompt: "?", stopWhen: stepCountIs(5) });
      return steps.flatMap(({ toolCalls }) => toolCalls.map(({ toolCallId }) => toolCallId));
    });
    expect(new Set(results[0]).size).toBe(2);
    expect(results[1]).toEqual(results[0]);
  });

  it("refuses what is not a model, a tool or a setting when the agent is made", async () => {
    const asked = model();
    const refusal = async (options: object, how: object = {}) => {
      const { run } = await rested(async (ctx) => durable(ctx, options as never, how).maxRetries);
      return JSON.stringify(run.error);
    };
    expect(await refusal({ model: "openai/gpt-5" })).toMatch("not a language model");
    expect(await refusal({ model: asked, tools: { t: "x" } })).toMatch("not a tool of the AI SDK");
    expect(
      await refusal({ model: asked, tools: { "a b": tool({ inputSchema: city, execute: () => 1 }) } }),
    ).toMatch("its name must be");
    expect(await refusal({ model: asked, tools: {} }, { tools: { t: "once" } })).toMatch("no such tool");
    expect(await refusal({ model: asked }, { efects: {} })).toMatch("no such option");
  });

  it("knows the names of the tools and the effects at compile time", () => {
    const weather = tool({ inputSchema: city, execute: () => 1 });
    const typed = (ctx: Context) => [
      durable(ctx, { model: model(), tools: { weather } }, { tools: { weather: "keyed" } }).tools.weather,
      // @ts-expect-error There is no tool of that name.
      durable(ctx, { model: model(), tools: { weather } }, { tools: { wether: "keyed" } }),
      // @ts-expect-error There is no such effect.
      durable(ctx, { model: model(), tools: { weather } }, { tools: { weather: "twice" } }),
    ];
    expect(typed).toBeTypeOf("function");
  });
});
