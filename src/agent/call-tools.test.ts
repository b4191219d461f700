import { describe, expect, it } from "vitest";
import { calls, type Said, stage } from "../../test/support/agent-stage.ts";
import { hangs } from "../../test/support/lab.ts";
import { workflow } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { type AgentTool, toolError } from "./index.ts";

const paying = (run: AgentTool["run"], more: Partial<AgentTool> = {}): AgentTool => ({
  name: "pay",
  parameters: {},
  run,
  ...more,
});
const refused = (fields: object) => Object.assign(new Error("no such account"), fields);

describe("an error of a tool with an effect", () => {
  it.each([
    ["a refusal", refused({ status: 404 })],
    ["a refusal inside", new Error("outer", { cause: refused({ response: { status: 400 } }) })],
    ["no connection", refused({ code: "ECONNREFUSED", syscall: "connect" })],
    ["a connection that timed out", refused({ code: "ETIMEDOUT", syscall: "connect" })],
    ["its own word", refused({ notDone: true })],
    ["all of several", new AggregateError([refused({ code: "ECONNREFUSED" }), refused({ status: 401 })])],
  ])("is told to the model when it proves that nothing was done: %s (A1)", async (_, error) => {
    for (const effect of ["once", "keyed"] as const) {
      const tools = [paying(() => Promise.reject(error), { effect, retry: false })];
      const scene = stage([calls(["pay"]), { text: "sorry" }], { tools });
      const engine = await scene.begin();
      expect(await scene.lab.drive(engine.result("r"))).toMatchObject({ output: "sorry" });
      expect(scene.requests[1]?.messages.at(-1)).toMatchObject({ role: "tool", isError: true });
    }
  });

  it("proves nothing about an attempt before, which may have acted (A1)", async () => {
    const errors = [refused({ status: 504 }), refused({ status: 400 })];
    const keys: string[] = [];
    const run = (_: never, { key }: { key: string }) => (keys.push(key), Promise.reject(errors.shift()));
    const tools = [paying(run, { effect: "keyed", retry: { attempts: 3, baseMs: 1 } })];
    const scene = stage([calls(["pay"])], { tools });
    const engine = await scene.begin();
    const { waiting } = await scene.lab.drive(engine.settled("r"));
    expect(waiting).toMatchObject([{ kind: "decision", step: "a[0]/tool:pay" }]);
    expect([keys.length, new Set(keys).size, scene.requests.length]).toEqual([2, 1, 1]);
  });

  it("is settled by the verify hook, which finds out what happened (A1)", async () => {
    const found = { pay: { status: "done", value: "paid after all" }, mail: { status: "not-done" } } as const;
    const lost = () => Promise.reject(new Error("socket hang up"));
    const tools: AgentTool[] = [
      paying(lost, { verify: () => found.pay }),
      { name: "mail", parameters: {}, run: lost, verify: () => found.mail },
    ];
    const scene = stage([calls(["pay"], ["mail"]), { text: "end" }], { tools });
    const engine = await scene.begin();
    await scene.lab.drive(engine.result("r"));
    expect(scene.requests[1]?.messages.slice(-2)).toMatchObject([
      { tool: "pay", text: "paid after all" },
      { tool: "mail", text: "socket hang up", isError: true },
    ]);
  });

  it("that is fatal ends the agent at once, without another attempt (A13)", async () => {
    let tries = 0;
    const fatal = () => (tries++, Promise.reject(refused({ fatal: true })));
    for (const effect of ["repeatable", "keyed", "once"] as const) {
      tries = 0;
      const scene = stage([calls(["pay"])], { tools: [paying(fatal, { effect, retry: 5 })] });
      const engine = await scene.begin();
      await expect(scene.lab.drive(engine.result("r"))).rejects.toThrow("no such account");
      expect([effect, tries]).toEqual([effect, 1]);
    }
  });
});

describe("a call that the model asks for again with the same arguments (A1)", () => {
  const again: Said[] = [
    calls(["pay", { to: "ada", cents: 5 }]),
    calls(["pay", { cents: 5, to: "ada" }]),
    { text: "end" },
  ];

  it("is made only if a person says so, and shows in the report of effects", async () => {
    let paid = 0;
    const scene = stage(again, { tools: [paying(() => `paid ${++paid}`)] });
    const engine = await scene.begin();
    const held = await scene.lab.drive(engine.settled("r"));
    expect([held.waiting[0]?.kind, held.waiting[0]?.step, paid]).toEqual(["gate", "a[1]/repeat:pay", 1]);
    const [gate] = await engine.gates("r");
    expect(JSON.stringify(gate?.show)).toContain("a second time with the same arguments");
    await scene.lab.drive(engine.answer("r", "a[1]/repeat:pay", { choice: "approve", actor: "eve" }));
    await scene.lab.drive(engine.result("r"));
    expect(paid).toBe(2);
    const { findings, violations } = await engine.reports.effects();
    expect(findings.map(({ step, concern }) => [step, concern])).toEqual([
      ["a[1]/tool:pay", "asked for again"],
    ]);
    expect(violations).toBe(0);
  });

  it("is not made when a person says no, and the model is told", async () => {
    let paid = 0;
    const scene = stage(again, { tools: [paying(() => `paid ${++paid}`)] });
    const engine = await scene.begin();
    await scene.lab.drive(engine.settled("r"));
    const said = { choice: "deny", text: "once is enough", actor: "eve" };
    await scene.lab.drive(engine.answer("r", "a[1]/repeat:pay", said));
    await scene.lab.drive(engine.result("r"));
    expect(paid).toBe(1);
    expect(scene.requests[2]?.messages.at(-1)?.text).toContain("eve said no. once is enough");
  });

  it.each([
    ["in one reply", "once", [calls(["pay", { n: 1 }], ["pay", { n: 1 }])], "a[0]/repeat:pay"],
    [
      "after an error of a keyed tool",
      "keyed",
      [calls(["fail", {}]), calls(["fail", {}])],
      "a[1]/repeat:fail",
    ],
  ] as const)("is asked about %s", async (_, effect, said, step) => {
    const fail: AgentTool = {
      name: "fail",
      parameters: {},
      effect: "keyed",
      run: () => toolError("timed out"),
    };
    const scene = stage(said, { tools: [paying(() => "paid", { effect }), fail] });
    const engine = await scene.begin();
    expect((await scene.lab.drive(engine.settled("r"))).waiting).toMatchObject([{ kind: "gate", step }]);
  });

  it.each([
    ["repeatable tools", { effect: "repeatable" }],
    ["keyed tools that answered", { effect: "keyed" }],
    ["tools that allow it", { onRepeat: "allow" }],
  ] as const)("is made without a question for %s", async (_, more) => {
    let paid = 0;
    const scene = stage(again, { tools: [paying(() => `paid ${++paid}`, more)] });
    const engine = await scene.begin();
    await scene.lab.drive(engine.result("r"));
    expect(paid).toBe(2);
  });

  it("is not asked about after an error that proves that nothing was done", async () => {
    let tries = 0;
    const scene = stage(again, {
      tools: [paying(() => (++tries === 1 ? Promise.reject(refused({ status: 429 })) : "paid"))],
    });
    const engine = await scene.begin();
    expect(await scene.lab.drive(engine.result("r"))).toMatchObject({ output: "end" });
    expect(tries).toBe(2);
  });
});

describe("what a tool answers", () => {
  const cyclic: Record<string, unknown> = { name: "loop" };
  cyclic["self"] = cyclic;
  class Account {
    owner = "ada";
  }
  let deep: unknown = 1;
  for (let n = 0; n < 50_000; n++) deep = [deep];

  it.each([
    ["a bigint", { id: 12345678901234567890n }, '{"id":"12345678901234567890"}'],
    ["a map", new Map([["a", 1]]), '{"a":1}'],
    ["a map with other keys", new Map([[1, "a"]]), '[[1,"a"]]'],
    ["a set", new Set([1, "b"]), '[1,"b"]'],
    ["bytes", Buffer.from("hello"), '"[5 bytes] aGVsbG8="'],
    ["a date", { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ["numbers that JSON lacks", [Number.NaN, 1 / 0], '["NaN","Infinity"]'],
    ["a cycle", cyclic, '{"name":"loop","self":"[circular]"}'],
    ["an object of a class", new Account(), '{"owner":"ada"}'],
    ["a function", { run: () => 1 }, '{"run":"[function]"}'],
    ["an error", new Error("late"), '{"error":"late"}'],
    ["nothing", undefined, "Done."],
    ["no text", "", "(no output)"],
    ["something very deep", deep, "[left out]"],
  ])("is shown to the model, and a call that was made stays made: %s (A2)", async (_, value, shown) => {
    let made = 0;
    const scene = stage([calls(["pay"]), { text: "end" }], { tools: [paying(() => (made++, value))] });
    const engine = await scene.begin();
    expect(await scene.lab.drive(engine.result("r"))).toMatchObject({ output: "end" });
    expect(scene.requests[1]?.messages.at(-1)).toMatchObject({
      role: "tool",
      text: expect.stringContaining(shown),
    });
    expect(scene.requests[1]?.messages.at(-1)).not.toHaveProperty("isError");
    expect(made).toBe(1);
  });
});

describe("a tool that is gone when its run goes on (A7)", () => {
  it("has done what it did: the model gets the recorded answer", async () => {
    let isHanging = true;
    const look = {
      name: "look",
      parameters: {},
      effect: "repeatable",
      run: () => (isHanging ? hangs() : "seen"),
    } as const;
    const said = [calls(["pay", { n: 1 }], ["look"]), { text: "end" }];
    const scene = stage(said, { tools: [paying(() => "paid 1"), look] });
    const engine = await scene.begin();
    await scene.lab.clock.advance(1_000);
    isHanging = false;
    const later = stage(said, { tools: [look] });
    const { engine: next } = await scene.lab.afterCrash(engine, [later.flow], "r");
    await scene.lab.drive(next.result("r"));
    expect(later.requests[0]?.messages.slice(-2)).toMatchObject([{ text: "paid 1" }, { text: "seen" }]);
  });

  it("is asked about when nobody knows what it did, and takes a person's word", async () => {
    const scene = stage([calls(["pay"])], { tools: [paying(hangs)] });
    const engine = await scene.begin();
    await scene.lab.clock.advance(1_000);
    const later = stage([{}, { text: "end" }], { tools: [] });
    const { engine: next, run } = await scene.lab.afterCrash(engine, [later.flow], "r");
    expect(run.waiting).toMatchObject([{ kind: "decision", step: "a[0]/tool:pay" }]);
    await scene.lab.drive(next.resolve("r", "a[0]/tool:pay", { action: "done", value: "it was paid" }));
    await scene.lab.drive(next.result("r"));
    expect(later.requests[0]?.messages.at(-1)).toMatchObject({ text: "it was paid" });
  });

  it("takes other arguments now, and its recorded answer counts all the same", async () => {
    let isHanging = true;
    const look = {
      name: "look",
      parameters: {},
      effect: "repeatable",
      run: () => (isHanging ? hangs() : "seen"),
    } as const;
    const said = [calls(["pay", { n: 1 }], ["look"]), { text: "end" }];
    const scene = stage(said, { tools: [paying(() => "paid 1"), look] });
    const engine = await scene.begin();
    await scene.lab.clock.advance(1_000);
    isHanging = false;
    const later = stage(said, { tools: [paying(() => "paid", { parameters: { required: ["to"] } }), look] });
    const { engine: next } = await scene.lab.afterCrash(engine, [later.flow], "r");
    await scene.lab.drive(next.result("r"));
    expect(later.requests[0]?.messages.at(-2)).toMatchObject({ text: "paid 1" });
  });
});

describe("the ids of tool calls (A4)", () => {
  it("name one call each in the whole conversation, also where the provider gives none", async () => {
    const tools = [paying(() => "paid", { effect: "repeatable" })];
    const said = [
      calls(["pay", { n: 1 }, "x"], ["pay", { n: 2 }, "x"]),
      { calls: [{ id: "", tool: "pay", input: {} }, { tool: "pay", input: {} } as never] },
      calls(["pay", {}, "x"]),
      { text: "end" },
    ];
    const scene = stage(said, { tools });
    const engine = await scene.begin();
    await scene.lab.drive(engine.result("r"));
    const messages = scene.requests[3]?.messages ?? [];
    const asked = messages.flatMap((one) =>
      one.role === "assistant" ? (one.calls ?? []).map(({ id }) => id) : [],
    );
    const answered = messages.flatMap((one) => (one.role === "tool" ? [one.call] : []));
    expect(new Set(asked).size).toBe(5);
    expect(asked.every((id) => id !== "")).toBe(true);
    expect(answered).toEqual(asked);
  });
});

describe("odd replies of a model (A13)", () => {
  it("with bad numbers of tokens count nothing, and do not fail the run", async () => {
    const usages = [
      { inputTokens: Number.NaN, outputTokens: -5 },
      { inputTokens: "7", costUsd: -1 },
      undefined,
      null,
    ];
    for (const usage of usages) {
      const scene = stage([{ text: "end", usage: usage as never }]);
      const engine = await scene.begin();
      expect(await scene.lab.drive(engine.result("r"))).toMatchObject({
        output: "end",
        usage: { inputTokens: 0, outputTokens: 0 },
      });
    }
  });

  it("with arguments nested 5,000 deep go back to the model", async () => {
    let deep: unknown = 1;
    for (let n = 0; n < 5_000; n++) deep = { a: deep };
    let paid = 0;
    const tools = [paying(() => ++paid)];
    const scene = stage([calls(["pay", deep]), { text: "end" }], { tools });
    const engine = await scene.begin();
    expect(await scene.lab.drive(engine.result("r"))).toMatchObject({ output: "end" });
    expect(scene.requests[1]?.messages.at(-1)).toMatchObject({
      isError: true,
      text: expect.stringContaining("The arguments cannot be taken: "),
    });
    expect(paid).toBe(0);
  });
});

describe("a step with an effect outside of agents (A1)", () => {
  it.each(["once", "keyed"] as const)(
    "that throws without proof waits, and the code after it does not go on: %s",
    async (effect) => {
      const { lab } = stage([]);
      const log: string[] = [];
      const flow = workflow("flow", async (ctx) => {
        try {
          await ctx.step("pay", () => (log.push("pay"), Promise.reject(new Error("socket hang up"))), {
            effect,
            retry: { attempts: 2, baseMs: 1 },
          });
        } catch {
          await ctx.step("pay by card", () => log.push("card"), { effect });
        }
      });
      const engine = lab.engine([flow]);
      await lab.drive(engine.start(flow, undefined, { id: "r" }));
      expect((await lab.drive(engine.settled("r"))).waiting).toMatchObject([
        { kind: "decision", step: "pay" },
      ]);
      expect(log).toEqual(effect === "once" ? ["pay"] : ["pay", "pay"]);
      await lab.drive(engine.resolve("r", "pay", { action: "failed" }));
      await lab.drive(engine.result("r"));
      expect(log.at(-1)).toBe("card");
    },
  );

  it("whose result cannot be saved was made all the same", async () => {
    const { lab } = stage([]);
    let paid = 0;
    const flow = workflow("flow", (ctx) =>
      ctx.step("pay", () => (paid++, () => 1) as unknown, { effect: "once" }),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect((await lab.drive(engine.settled("r"))).waiting).toMatchObject([{ kind: "decision", step: "pay" }]);
    await lab.drive(engine.resolve("r", "pay", { action: "done", value: 7 }));
    expect([await lab.drive(engine.result("r")), paid]).toEqual([7, 1]);
  });
});

/**
 * An agent that has paid 10 and failed at the next tool; then `home` or another place continues with an edited reply.
 */
async function edited(where: "here" | "elsewhere" | "sealed elsewhere") {
  const world = { broken: true };
  const paid: unknown[] = [];
  const mail = () => (world.broken ? Promise.reject(refused({ fatal: true })) : "sent");
  const tools: AgentTool[] = [
    paying((input: unknown) => (paid.push(input), "paid 10")),
    { name: "mail", parameters: {}, effect: "repeatable", run: mail },
  ];
  const scene = stage([calls(["pay", { amount: 10 }], ["mail"]), { text: "end" }], { tools });
  const { lab } = scene;
  const home = await scene.begin();
  expect((await lab.drive(home.settled("r"))).status).toBe("failed");
  world.broken = false;
  const memory = createMemoryStore({ clock: lab.clock });
  const store = where === "sealed elsewhere" ? { ...memory, blinding: "secret" } : memory;
  const engine = where === "here" ? home : lab.engine([scene.flow], { store });
  const accept = { actor: "ops" };
  if (engine !== home) await lab.drive(engine.transfer.importRuns(home.transfer.exportRun("r"), { accept }));
  const { steps } = await lab.drive(engine.checkpoints.show("r"));
  const reply = steps["a[0]/model"] as { calls: { input: unknown }[] };
  const other = reply.calls.map((call, at) => (at === 0 ? { ...call, input: { amount: 99 } } : call));
  const set = { steps: { "a[0]/model": { ...reply, calls: other } } };
  return { ...scene, engine, paid, set };
}

describe("a reply that is edited after its first call was done", () => {
  it.each(["here", "elsewhere", "sealed elsewhere"] as const)(
    "does not get that call's result for other arguments until somebody says so, %s (A6)",
    async (where) => {
      const { lab, engine, paid, set, requests } = await edited(where);
      await lab.drive(engine.resume("r", { set }));
      expect(await lab.drive(engine.settled("r"))).toMatchObject({
        status: "waiting",
        waiting: [
          {
            kind: "review",
            step: "a[0]/tool:pay",
            detail: expect.stringMatching(
              /^HF-2195 Turn 1 of agent a asks for pay with arguments that differ/,
            ),
          },
        ],
      });
      expect(requests).toHaveLength(1);
      await lab.drive(engine.resume("r", { set: { steps: { "a[0]/tool:pay": "paid 99 by hand" } } }));
      expect(await lab.drive(engine.result("r"))).toMatchObject({ output: "end" });
      expect(requests[1]?.messages.at(-2)).toMatchObject({ tool: "pay", text: "paid 99 by hand" });
      expect(paid).toEqual([{ amount: 10 }]);
    },
  );

  it.each(["elsewhere", "sealed elsewhere"] as const)("goes on unedited %s (A6)", async (where) => {
    const { lab, engine, paid } = await edited(where);
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toMatchObject({ output: "end" });
    expect(paid).toEqual([{ amount: 10 }]);
  });
});
