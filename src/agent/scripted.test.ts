import { describe, expect, it } from "vitest";
import { type ModelRequest, type ScriptedCall, scriptedProvider } from "./index.ts";

const ask = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "m",
  messages: [{ role: "user", text: "hello" }],
  agent: "a",
  turn: 0,
  attempt: 1,
  signal: new AbortController().signal,
  ...more,
});

describe("a scripted provider", () => {
  it("gives one answer per turn, whatever process asks", async () => {
    const script = {
      agents: { a: [{ text: "one" }, { json: { two: 2 } }, { calls: [{ tool: "t", input: { x: 1 } }] }] },
    };
    const answers = [0, 1, 2, 1].map((turn) => scriptedProvider(script).generate(ask({ turn })));
    expect(await Promise.all(answers)).toMatchObject([
      { text: "one", calls: [], finish: "stop" },
      { text: '{"two":2}' },
      { text: "", calls: [{ id: "call-2-0", tool: "t", input: { x: 1 } }], finish: "tool-calls" },
      { text: '{"two":2}' },
    ]);
  });

  it("answers an attempt behind an error with what comes behind the error", async () => {
    const provider = scriptedProvider({
      agents: {
        a: [
          { text: "one" },
          { error: { status: 429, retryAfterMs: 50 } },
          { error: { status: 401 } },
          { text: "two" },
        ],
      },
    });
    const second = (attempt: number) => provider.generate(ask({ turn: 1, attempt }));
    await expect(second(1)).rejects.toMatchObject({
      kind: "rate-limit",
      status: 429,
      retryAfterMs: 50,
      retryable: true,
    });
    await expect(second(2)).rejects.toMatchObject({ kind: "auth", retryable: false });
    expect(await second(3)).toMatchObject({ text: "two" });
    expect(await second(4)).toMatchObject({ text: "two" });
  });

  it("prefers answers that are meant for a text or a turn", async () => {
    const provider = scriptedProvider({
      agents: { a: [{ text: "first" }, { when: "weather", text: "sunny" }, { turn: 5, text: "fifth" }] },
    });
    const said = (text: string, turn: number) =>
      provider.generate(ask({ turn, messages: [{ role: "user", text }] }));
    expect(await said("how is the weather?", 0)).toMatchObject({ text: "sunny" });
    expect(await said("hello", 0)).toMatchObject({ text: "first" });
    expect(await said("hello", 5)).toMatchObject({ text: "fifth" });
  });

  it("makes up answers that fit the schema, and refuses to when it is strict", async () => {
    const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
    const { text } = await scriptedProvider({}).generate(ask({ schema }));
    expect(JSON.parse(text)).toEqual({ ok: true });
    expect(await scriptedProvider({}).generate(ask())).toMatchObject({ text: "Answer of a." });
    await expect(scriptedProvider({ strict: true }).generate(ask())).rejects.toMatchObject({
      code: "HF-4103",
    });
    const short = scriptedProvider({ strict: true, agents: { a: [{ text: "one" }] } });
    await expect(short.generate(ask({ turn: 1 }))).rejects.toMatchObject({ code: "HF-4103" });
  });

  it("tells of every call, waits and crashes through what it is given", async () => {
    const calls: ScriptedCall[] = [];
    const slept: number[] = [];
    let crashed = 0;
    const provider = scriptedProvider(
      {
        agents: {
          a: [
            { delayMs: 20, crash: true },
            { text: "after", usage: { inputTokens: 7, costUsd: 0.5 } },
          ],
        },
      },
      {
        onCall: (call) => calls.push(call),
        sleep: async (ms) => void slept.push(ms),
        crash: () => {
          crashed++;
        },
      },
    );
    await provider.generate(ask());
    expect(await provider.generate(ask({ attempt: 2 }))).toMatchObject({
      text: "after",
      usage: { inputTokens: 7, costUsd: 0.5 },
    });
    expect({ slept, crashed }).toEqual({ slept: [20], crashed: 1 });
    expect(calls).toEqual([
      { agent: "a", turn: 0, attempt: 1, model: "m" },
      { agent: "a", turn: 0, attempt: 2, model: "m" },
    ]);
  });

  it("stops waiting when the call is told to stop", async () => {
    const controller = new AbortController();
    const provider = scriptedProvider({ agents: { a: [{ delayMs: 60_000, text: "late" }] } });
    const answer = provider.generate(ask({ signal: controller.signal }));
    controller.abort(new Error("enough"));
    await expect(answer).rejects.toThrow("enough");
  });

  it.each([
    [{ agents: { a: "text" } }, "agents.a"],
    [{ agents: { a: [{ txt: "a" }] } }, "agents.a[0].txt"],
    [{ agents: { a: [{ text: 1 }] } }, "agents.a[0].text"],
    [{ agents: { a: [{ calls: [{ name: "t" }] }] } }, "agents.a[0].calls"],
    [{ agnts: {} }, "agnts"],
    [{ strict: "yes" }, "strict"],
    [null, "script"],
  ])("refuses a script that is none: %j", (script, path) => {
    expect(() => scriptedProvider(script as never)).toThrowError(
      expect.objectContaining({
        code: "HF-4104",
        detail: expect.objectContaining({ path }) as object,
      }) as Error,
    );
  });
});
