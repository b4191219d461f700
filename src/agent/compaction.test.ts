import { describe, expect, it } from "vitest";
import { calls, type Said, stage } from "../../test/support/agent-stage.ts";
import { hangs, signalled } from "../../test/support/lab.ts";
import { workflow } from "../index.ts";
import { compacted, cutAway, cutOf } from "./compaction.ts";
import { type AgentTool, type Message, runAgent } from "./index.ts";

const look: AgentTool = {
  name: "look",
  parameters: {},
  effect: "repeatable",
  run: (input: { n: number }) => `seen ${input.n}`,
};
/** A model that looks so often, then ends; asked for notes, it writes them. */
const looking = (turns: number): Said[] => [
  ...Array.from({ length: turns }, (_, n): Said => calls(["look", { n }, `look-${n}`])),
  { text: "end" },
];

describe("a conversation that grows too long", () => {
  it("is cut to a summary and its newest messages, and the task stays", async () => {
    const gone: Message[][] = [];
    const scene = stage(looking(6), {
      tools: [look],
      compact: { messages: 6, keep: 2, summarise: (messages) => (gone.push([...messages]), "all is well") },
    });
    const engine = await scene.begin();
    expect(await scene.lab.drive(engine.result("r"))).toMatchObject({ output: "end", turns: 7 });
    expect(scene.requests[3]?.messages.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      "user: go",
      expect.stringContaining("all is well"),
      "assistant: ",
      "tool: seen 2",
    ]);
    expect(gone[0]?.map(({ role }) => role)).toEqual(["assistant", "tool", "assistant", "tool"]);
    expect(scene.requests.every(({ messages }) => messages.length <= 7)).toBe(true);
  });

  it("is summarised by the agent's model unless a function does it, and what that costs is counted", async () => {
    const scene = stage(
      [
        (request) => (request.agent === "a" ? calls(["look", { n: 0 }]) : { text: "notes of the model" }),
        calls(["look", { n: 1 }]),
        { text: "end" },
      ],
      { tools: [look], compact: { tokens: 1, keep: 1 } },
    );
    const engine = await scene.begin();
    const result = await scene.lab.drive(engine.result("r"));
    const asked = scene.requests.filter(({ agent }) => agent === "a:compact");
    expect(asked[0]?.messages[0]?.text).toContain("calls look");
    expect(scene.requests.at(-1)?.messages[1]?.text).toContain("notes of the model");
    expect(result).toMatchObject({ usage: { inputTokens: scene.requests.length } });
  });

  it("is not paid for again after a crash, though the settings changed meanwhile", async () => {
    let summaries = 0;
    const asked = signalled();
    const spec = (keep: number) => ({
      tools: [look],
      compact: { messages: 4, keep, summarise: () => `notes ${++summaries}` },
    });
    const scene = stage([...looking(2).slice(0, 2), async () => (asked.resolve(), await hangs())], spec(2));
    const engine = await scene.begin();
    await scene.lab.drive(asked.promise);
    const later = stage(looking(2), spec(1));
    const { run } = await scene.lab.afterCrash(engine, [later.flow], "r");
    expect(run.status).toBe("completed");
    expect(summaries).toBe(1);
    expect(later.requests[0]?.messages).toEqual(scene.requests[2]?.messages);
  });

  it("fails the run where the summary is empty, and goes on when that is mended", async () => {
    const broken = stage(looking(3), {
      tools: [look],
      compact: { messages: 2, keep: 1, summarise: () => " " },
    });
    const engine = await broken.begin();
    const failure = await broken.lab.drive(engine.result("r")).catch((error: unknown) => error);
    expect(failure).toMatchObject({ cause: { code: "HF-4600" } });
    await broken.lab.crash(engine);
    const mended = stage(looking(3), {
      tools: [look],
      compact: { messages: 2, keep: 1, summarise: () => "ok" },
    });
    const next = broken.lab.engine([mended.flow]);
    await broken.lab.drive(next.resume("r"));
    expect(await broken.lab.drive(next.result("r"))).toMatchObject({ output: "end" });
  });

  it("never loses a call without a result, nor parts a call from its results", () => {
    const asks = (id: string): Message => ({
      role: "assistant",
      text: "",
      calls: [{ id, tool: "t", input: {} }],
    });
    const result = (call: string): Message => ({ role: "tool", call, tool: "t", text: "done" });
    const user: Message = { role: "user", text: "task" };
    for (const open of [2, 3, 4, 5]) {
      const messages = [
        user,
        ...[1, 2, 3, 4, 5].flatMap((n) => [asks(`${n}`), ...(n === open ? [] : [result(`${n}`)])]),
      ];
      for (const keep of [1, 2, 3, 4, 5, 6]) {
        const talk = { messages: [...messages] };
        const cut = cutOf(talk, { messages: 1, keep });
        if (!cut) continue;
        const gone = cutAway(messages, cut);
        expect(gone).not.toContainEqual(asks(`${open}`));
        compacted(talk, cut, "notes");
        expect(talk.messages[0]).toEqual(user);
        expect(talk.messages[2]?.role).not.toBe("tool");
        expect(talk.messages.length).toBeLessThan(messages.length);
      }
    }
  });

  it("is refused where the agent doesn't say when", async () => {
    const scene = stage([{ text: "never" }], { compact: { keep: 3 } });
    const engine = await scene.begin();
    await expect(scene.lab.drive(engine.result("r"))).rejects.toMatchObject({ cause: { code: "HF-1003" } });
  });
});

describe("a handoff", () => {
  const provider = (said: Readonly<Record<string, readonly Said[]>>, seen: string[] = []) => ({
    name: "many",
    async generate(request: Parameters<Extract<Said, (...args: never) => unknown>>[0]) {
      seen.push(
        `${request.agent}: ${request.messages.map(({ role, text }) => `${role} ${text}`).join(" | ")}`,
      );
      const now = said[request.agent]?.[request.turn];
      const reply = typeof now === "function" ? await now(request) : now;
      const usage = { inputTokens: 1, outputTokens: 1 };
      return { text: "", calls: [], usage, model: "m", finish: "stop" as const, ...reply };
    },
  });

  it("carries payload, conversation and memory to the next agent of the run (S1-75)", async () => {
    const loads: string[] = [];
    const seen: string[] = [];
    const scene = stage([], {});
    const said = provider(
      { front: [calls(["transfer_to_refunds", { order: "o-1" }])], refunds: [{ text: "paid" }] },
      seen,
    );
    const flow = workflow("flow", (ctx) =>
      runAgent(ctx, "front", {
        provider: said,
        model: "m",
        prompt: "my lamp is broken",
        memory: {
          ids: ["m-1"],
          load: (ids) => (loads.push(...ids), ids.map((id) => ({ id, text: `text of ${id}` }))),
        },
        handoffs: {
          refunds: {
            payload: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
            agent: { provider: said, model: "m", system: "You pay." },
          },
        },
      }),
    );
    const engine = scene.lab.engine([flow]);
    await scene.lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect(await scene.lab.drive(engine.result("r"))).toMatchObject({
      output: "paid",
      agents: ["front", "refunds"],
      turns: 2,
      usage: { inputTokens: 2, outputTokens: 2 },
    });
    expect(seen[1]).toContain("my lamp is broken");
    expect(seen[1]).toContain('{"order":"o-1"}');
    expect(seen[1]).toContain("[m-1] text of m-1");
    expect(loads).toEqual(["m-1", "m-1"]);
    const { decisions } = await engine.checkpoints.show("r");
    expect(decisions.at(-1)).toMatchObject({ type: "handoff", description: "hands over to refunds" });
  });

  it("can start a run of its own, whose result is the answer (S1-75)", async () => {
    const scene = stage([], {});
    const said = provider({ front: [calls(["transfer_to_back", { reason: "too hard" }])] });
    const back = workflow("back", async (_, given: { payload: unknown; messages: readonly Message[] }) => ({
      payload: given.payload,
      heard: given.messages.length,
    }));
    const flow = workflow("flow", (ctx) =>
      runAgent(ctx, "front", {
        provider: said,
        model: "m",
        prompt: "go",
        handoffs: { back: { child: back as never } },
      }),
    );
    const engine = scene.lab.engine([flow, back]);
    await scene.lab.drive(engine.start(flow, undefined, { id: "r" }));
    expect(await scene.lab.drive(engine.result("r"))).toMatchObject({
      output: { payload: { reason: "too hard" }, heard: 3 },
      agents: ["front", "back"],
    });
  });

  it("with a payload that doesn't fit goes back to the model, and agents can't hand over without end", async () => {
    const scene = stage([], {});
    const said = provider({
      front: [calls(["transfer_to_front", {}]), calls(["transfer_to_front", { reason: "again" }])],
    });
    const spec = { provider: said, model: "m", prompt: "go" } as const;
    const again = { agent: spec } as { agent: object; handoffs?: object };
    Object.assign(again.agent, { handoffs: { front: again } });
    const flow = workflow("flow", (ctx) =>
      runAgent(ctx, "front", { ...spec, handoffs: { front: again as never } }),
    );
    const engine = scene.lab.engine([flow]);
    await scene.lab.drive(engine.start(flow, undefined, { id: "r" }));
    await expect(scene.lab.drive(engine.result("r"))).rejects.toMatchObject({ cause: { code: "HF-4601" } });
  });
});

describe("an agent's memory", () => {
  it("is saved as ids, and its records are loaded again when the run is restored (S1-75)", async () => {
    const records = new Map([["m-1", "she likes tea"]]);
    const found: string[] = [];
    const loaded: string[][] = [];
    const memory = {
      select: (prompt: string) => (found.push(prompt), ["m-1", "m-2"]),
      load: (ids: readonly string[]) => {
        loaded.push([...ids]);
        return ids.flatMap((id) => (records.has(id) ? [{ id, text: records.get(id) ?? "" }] : []));
      },
    };
    const asked = signalled();
    const first = stage([calls(["look", { n: 1 }]), async () => (asked.resolve(), await hangs())], {
      tools: [look],
      memory,
    });
    const engine = await first.begin();
    await first.lab.drive(asked.promise);
    expect(first.requests[0]?.messages[0]?.text).toBe(
      "From your memory:\n[m-1] she likes tea\n[m-2] (This record doesn't exist any more.)",
    );
    records.set("m-1", "she likes coffee now");
    const second = stage([{}, { text: "end" }], { tools: [look], memory });
    const { engine: next } = await first.lab.afterCrash(engine, [second.flow], "r");
    expect(second.requests[0]?.messages[0]?.text).toContain("[m-1] she likes coffee now");
    expect(found).toEqual(["go"]);
    expect(loaded).toEqual([
      ["m-1", "m-2"],
      ["m-1", "m-2"],
    ]);
    expect((await next.checkpoints.state("r")).loops["a"]).toMatchObject({ memory: ["m-1", "m-2"] });
    expect(JSON.stringify(await first.events())).not.toContain("she likes");
  });
});
