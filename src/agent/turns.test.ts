import { describe, expect, it } from "vitest";
import { calls, type Said, sayings, stage } from "../../test/support/agent-stage.ts";
import { createLab, signalled } from "../../test/support/lab.ts";
import { createEngine, workflow } from "../index.ts";
import { type AgentTool, type Message, ModelError, type ModelRequest, runAgent } from "./index.ts";

const humans = ({ messages }: ModelRequest): string[] =>
  messages.flatMap((one) => (one.role === "user" && one.origin === "human" ? [one.text] : []));

describe("injected context (A5)", () => {
  it("that is acknowledged while the model writes its last answer is seen before that counts", async () => {
    const [writing, written] = [signalled(), signalled()];
    const scene = stage([
      async () => (writing.resolve(), await written.promise, { text: "the old answer" }),
      { text: "the new answer" },
    ]);
    const engine = await scene.begin();
    await scene.lab.drive(writing.promise);
    // Acts as another process, which doesn't notify this one.
    const desk = createEngine({ store: scene.lab.store, workflows: [], clock: scene.lab.clock });
    await scene.lab.drive(desk.inject("r", "it is Tuesday", { actor: "ada" }));
    written.resolve();
    expect(await scene.lab.drive(engine.result("r"))).toMatchObject({ output: "the new answer", turns: 2 });
    expect(scene.requests[1]?.messages.slice(-2)).toEqual([
      { role: "assistant", text: "the old answer" },
      { role: "user", text: "it is Tuesday", origin: "human" },
    ]);
  });

  it("is seen by every agent of the run, and by one alone when it names it", async () => {
    const lab = createLab();
    const begun = [signalled(), signalled()];
    const go = signalled();
    const heard: Record<string, ModelRequest[]> = { left: [], right: [], later: [] };
    const side = (name: string, at: number) =>
      sayings(
        [async () => (begun[at]?.resolve(), await go.promise, calls(["look"])), { text: `${name} done` }],
        heard[name],
      );
    const look: AgentTool = { name: "look", parameters: {}, effect: "repeatable", run: () => "seen" };
    const spec = { model: "m", prompt: "go", tools: [look] };
    const flow = workflow("flow", async (ctx) => {
      await ctx.all("both", [
        () => runAgent(ctx, "left", { ...spec, provider: side("left", 0) }),
        () => runAgent(ctx, "right", { ...spec, provider: side("right", 1) }),
      ]);
      await runAgent(ctx, "later", { ...spec, provider: sayings([{ text: "end" }], heard["later"]) });
    });
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(Promise.all(begun.map(({ promise }) => promise)));
    await lab.drive(engine.inject("r", "for all"));
    await lab.drive(engine.inject("r", "for the right one", { to: "right" }));
    go.resolve();
    await lab.drive(engine.result("r"));
    const last = (name: string) => humans(heard[name]?.at(-1) as ModelRequest);
    expect([last("left"), last("right"), last("later")]).toEqual([
      ["for all"],
      ["for all", "for the right one"],
      ["for all"],
    ]);
  });
});

describe("the end of a reply (A9)", () => {
  it("is part of the result", async () => {
    const scene = stage([{ text: "all of it", finish: "stop" }]);
    const engine = await scene.begin();
    expect(await scene.lab.drive(engine.result("r"))).toMatchObject({ finish: "stop" });
  });

  it.each([
    ["cut off", { text: "half of", finish: "length" }, "it was cut off by the limit of tokens"],
    ["empty", { text: " \n" }, "it is empty"],
  ] as const)("that leaves no answer goes back to the model, a few times: %s", async (_, said, problem) => {
    const scene = stage([said, { text: "whole" }]);
    const engine = await scene.begin();
    expect(await scene.lab.drive(engine.result("r"))).toMatchObject({
      output: "whole",
      turns: 2,
      finish: "stop",
    });
    expect(scene.requests[1]?.messages.at(-1)).toMatchObject({
      origin: "validator",
      text: expect.stringContaining(problem),
    });
    const endless = stage([said, said, said]);
    const other = await endless.begin();
    await expect(endless.lab.drive(other.result("r"))).rejects.toMatchObject({ cause: { code: "HF-2142" } });
    expect(endless.requests).toHaveLength(3);
  });

  it("that was cut off is taken where the agent says so", async () => {
    const scene = stage([{ text: "half of", finish: "length" }], { acceptCut: true });
    const engine = await scene.begin();
    expect(await scene.lab.drive(engine.result("r"))).toMatchObject({ output: "half of", finish: "length" });
  });

  it.each(["length", "content-filter"] as const)("that is %s has no tools called", async (finish) => {
    let paid = 0;
    const pay: AgentTool = { name: "pay", parameters: {}, run: () => ++paid };
    const scene = stage([{ ...calls(["pay"]), finish }, { text: "end" }], { tools: [pay] });
    const engine = await scene.begin();
    const end = scene.lab.drive(engine.result("r"));
    if (finish === "length") expect(await end).toMatchObject({ output: "end" });
    else await expect(end).rejects.toMatchObject({ cause: { code: "HF-2143" } });
    expect(paid).toBe(0);
  });
});

describe("a conversation that was handed on or edited (A8)", () => {
  const asks = (id: string): Message => ({
    role: "assistant",
    text: "",
    calls: [{ id, tool: "t", input: {} }],
  });
  const result = (call: string, text = "done"): Message => ({ role: "tool", call, tool: "t", text });

  it.each<[string, Message[], string]>([
    ["a result of nothing", [result("a")], "message 1 is a result of t that no open call asked for"],
    ["two results", [asks("a"), result("a"), result("a")], "message 3 is a result of t"],
  ])("is refused before anything is sent: %s", async (_, messages, problem) => {
    const scene = stage([{ text: "never" }], { messages });
    const engine = await scene.begin();
    const failure = await scene.lab.drive(engine.result("r")).catch((error: unknown) => error);
    expect(failure).toMatchObject({ cause: { code: "HF-2165", message: expect.stringContaining(problem) } });
    expect(scene.requests).toEqual([]);
  });

  it("says of a call without a result that its outcome is unknown", async () => {
    const messages: Message[] = [{ role: "user", text: "begin" }, asks("a")];
    const scene = stage([{ text: "end" }], { messages });
    const engine = await scene.begin();
    await scene.lab.drive(engine.result("r"));
    expect(scene.requests[0]?.messages).toEqual([
      { role: "user", text: "begin" },
      asks("a"),
      { role: "tool", call: "a", tool: "t", text: expect.stringContaining("is unknown"), isError: true },
      { role: "user", text: "go" },
    ]);
  });

  it("has a result directly after its call, also when somebody talked over it", async () => {
    const begin: Message = { role: "user", text: "begin" };
    const messages: Message[] = [begin, asks("a"), { role: "user", text: "hm" }, result("a")];
    const scene = stage([{ text: "end" }], { messages });
    const engine = await scene.begin();
    await scene.lab.drive(engine.result("r"));
    expect(scene.requests[0]?.messages.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      "user: begin",
      "assistant: ",
      "tool: done",
      "user: hm",
      "user: go",
    ]);
  });

  it("is mended where that needs no guess: empty texts, and ids that are used twice or missing", async () => {
    const messages: Message[] = [
      { role: "user", text: " " },
      { role: "assistant", text: "" },
      asks("a"),
      result("a", ""),
      asks("a"),
      result("a", "second"),
      asks(""),
      result("", "third"),
    ];
    const scene = stage([{ text: "end" }], { messages });
    const engine = await scene.begin();
    await scene.lab.drive(engine.result("r"));
    const sent = scene.requests[0]?.messages ?? [];
    expect(sent.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      "user: (The conversation before this is not included.)",
      "assistant: ",
      "tool: (no output)",
      "assistant: ",
      "tool: second",
      "assistant: ",
      "tool: third",
      "user: go",
    ]);
    const asked = sent.flatMap((one) =>
      one.role === "assistant" ? (one.calls ?? []).map(({ id }) => id) : [],
    );
    expect(new Set(asked).size).toBe(3);
    expect(sent.flatMap((one) => (one.role === "tool" ? [one.call] : []))).toEqual(asked);
  });
});

describe("a budget of cost with a model that nobody knows the price of (A10)", () => {
  const said: Said[] = [{ text: "end", usage: { inputTokens: 1_000_000, outputTokens: 0 } }];

  it("stops the run after the first reply, and goes on when prices are given", async () => {
    const scene = stage(said);
    const engine = await scene.begin({ budget: { costUsd: 5 } });
    const failure = await scene.lab.drive(engine.result("r")).catch((error: unknown) => error);
    expect(failure).toMatchObject({ cause: { code: "HF-2201", detail: { model: "m", limit: 5 } } });
    await scene.lab.crash(engine);
    const later = stage([], { prices: { m: { input: 2, output: 8 } } });
    const next = scene.lab.engine([later.flow]);
    await scene.lab.drive(next.resume("r"));
    expect(await scene.lab.drive(next.result("r"))).toMatchObject({ usage: { costUsd: 2 } });
    expect((await next.get("r"))?.usage.costUsd).toBe(2);
    expect(later.requests).toEqual([]);
  });

  it.each([
    ["a price", { prices: { m: { input: 1, output: 1 } } }, { costUsd: 5 }],
    ["another limit", {}, { tokens: 5_000_000 }],
  ])("lets it go on with %s", async (_, spec, budget) => {
    const scene = stage(said, spec);
    const engine = await scene.begin({ budget });
    expect(await scene.lab.drive(engine.result("r"))).toMatchObject({ output: "end" });
  });
});

describe("a provider that asks for more patience than there is (A11)", () => {
  const busy = () =>
    new ModelError("slow down", { kind: "rate-limit", status: 429, retryAfterMs: 3_600_000 });

  it("fails the run with both times, and a resume waits as long as it asks (S1-01)", async () => {
    const asked: number[] = [];
    const scene = stage([
      async () => {
        asked.push(scene.lab.clock.now());
        if (asked.length === 1) throw busy();
        return { text: "now" };
      },
    ]);
    const engine = await scene.begin();
    const failure = await scene.lab.drive(engine.result("r")).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      cause: {
        code: "HF-2203",
        message: "a[0]/model was asked to wait longer than it may: slow down",
        why: "The receiver asks to wait 3600 s; the retry policy allows 600 s in total.",
        cause: { name: "ModelError", status: 429 },
      },
    });
    await scene.lab.drive(engine.resume("r"));
    await scene.lab.clock.advance(60_000);
    expect((await engine.get("r"))?.waiting).toMatchObject([{ kind: "retry", step: "a[0]/model" }]);
    expect(await scene.lab.drive(engine.result("r"))).toMatchObject({ output: "now" });
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(3_600_000);
  });

  it("is asked at once when somebody says so, before the wait and in the middle of it", async () => {
    for (const isLate of [false, true]) {
      const asked: number[] = [];
      const scene = stage([
        async () => {
          asked.push(scene.lab.clock.now());
          if (asked.length === 1) throw busy();
          return { text: "now" };
        },
      ]);
      const engine = await scene.begin();
      expect((await scene.lab.drive(engine.settled("r"))).status).toBe("failed");
      if (isLate) await scene.lab.drive(engine.resume("r"));
      if (isLate) await scene.lab.clock.advance(60_000);
      expect((await engine.get("r"))?.status).toBe(isLate ? "waiting" : "failed");
      expect(await scene.lab.drive(engine.plan("r", { now: true }))).toMatchObject({ waits: [] });
      await scene.lab.drive(engine.resume("r", { now: true }));
      expect(await scene.lab.drive(engine.result("r"))).toMatchObject({ output: "now" });
      expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeLessThan(120_000);
    }
  });
});
