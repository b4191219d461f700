import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkpointsOf, settle } from "../../../../test/support/family.ts";
import { useFolders } from "../../../../test/support/folders.ts";
import { createLab } from "../../../../test/support/lab.ts";
import { labFor, tamed, wild } from "../../../../test/support/wild-programs.ts";
import { type AgentTool, type ModelProvider, runAgent, scriptedProvider } from "../../../agent/index.ts";
import { type EngineOptions, secret, workflow } from "../../../index.ts";
import type { Store } from "../../store/contract.ts";

const newFile = useFolders("replay");

/** Whatever reaches outside says so. */
function sealed(store: Store): { options: Partial<EngineOptions> & { store: Store }; reached: string[] } {
  const reached: string[] = [];
  const out = (what: string) => (): never => {
    reached.push(what);
    throw new Error(`${what} was reached`);
  };
  const closed = new Proxy(store, {
    get(target, name) {
      if (["append", "renew", "transaction"].includes(String(name))) return out(String(name));
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return {
    options: {
      store: closed,
      execute: false,
      policy: { version: "1", decide: out("policy") },
      contentCheck: out("content check"),
      secrets: { get: out("secrets") },
    },
    reached,
  };
}

describe("whatever the program and wherever it stands", () => {
  it("a replay of any checkpoint of any run calls nothing, asks nobody and writes nothing", async () => {
    let replays = 0;
    await fc.assert(
      fc.asyncProperty(wild(2), fc.integer({ min: 1, max: 400 }), fc.boolean(), async (nodes, ms, isCut) => {
        const lab = await labFor(nodes, newFile);
        const { flow, flows, calls } = tamed(lab, nodes, { compensateOnFailure: false });
        const engine = lab.engine(flows);
        void engine.start(flow, undefined, { id: "r" }).catch(() => undefined);
        await lab.clock.advance(isCut ? ms : 5_000);
        await lab.crash(engine);
        const called = calls.length;
        const timers = lab.clock.pending();
        const { options, reached } = sealed(lab.store);
        const reader = lab.engine(flows, options);
        for (const run of (await lab.store.list({ limit: 500 })).runs) {
          const positions = await checkpointsOf(lab.store, run.id);
          for (const place of [run.id, ...positions.map((seq) => `${run.id}@${seq}`)]) {
            const replay = await lab.drive(reader.replay(place));
            replays++;
            expect(replay.notAsked, place).toEqual([]);
            if (place === run.id && run.status === "completed") expect(replay.end).toBe("completed");
          }
        }
        expect(reached).toEqual([]);
        expect(calls).toHaveLength(called);
        expect(lab.clock.pending()).toBeLessThanOrEqual(timers);
      }),
      { numRuns: 60, seed: 3 },
    );
    expect(replays).toBeGreaterThan(200);
  }, 240_000);
});

describe("a replay", () => {
  it("gives time, chance, ids and the place of secrets as they were, at every checkpoint, and asks nobody for a secret", async () => {
    const lab = createLab();
    let seen: unknown[] = [];
    const flow = workflow("flow", async (ctx) => {
      const token = await ctx.secret(secret("TOKEN"));
      seen = [ctx.now(), ctx.random(), ctx.uuid("a"), ctx.random("b"), token];
      for (const name of ["one", "two"]) {
        seen.push(await ctx.step(name, () => seen.length), ctx.now(), ctx.random());
        await ctx.sleep(`${name} nap`, 1_000);
      }
      return seen;
    });
    const engine = lab.engine([flow], { secrets: { get: () => "a long secret" } });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    const result = await lab.drive(engine.result("r"));
    await lab.crash(engine);
    await lab.clock.advance(1_000_000);
    const { options, reached } = sealed(lab.store);
    const reader = lab.engine([flow], options);
    expect((await lab.drive(reader.replay("r"))).result).toEqual(result);
    for (const seq of await checkpointsOf(lab.store, "r")) {
      await lab.drive(reader.replay(`r@${seq}`));
      expect(seen.slice(0, 5)).toEqual([...(result as unknown[]).slice(0, 4), "[redacted:TOKEN]"]);
    }
    expect(reached).toEqual([]);
  });

  it("of an agent asks no model and uses no tool, at every checkpoint", async () => {
    const lab = createLab();
    let isOver = false;
    let used = 0;
    const use = () => {
      if (isOver) throw new Error("it was called");
      used++;
    };
    const scripted = scriptedProvider({
      agents: {
        a: [
          {
            text: "let me see",
            calls: [
              { tool: "note", input: {} },
              { tool: "look", input: {} },
            ],
          },
          { calls: [{ tool: "look", input: {} }] },
          { text: "done" },
        ],
      },
    });
    const provider: ModelProvider = {
      name: "scripted",
      generate: (request) => {
        use();
        return scripted.generate(request);
      },
    };
    const parameters = { type: "object" };
    const tools: AgentTool[] = [
      { name: "note", parameters, run: use },
      { name: "look", parameters, effect: "repeatable", run: use },
    ];
    const inner = workflow("inner", (ctx) =>
      runAgent(ctx, "a", { provider, model: "m", prompt: "go", tools }),
    );
    const flow = workflow("flow", async (ctx) => {
      const own = await runAgent(ctx, "a", { provider, model: "m", prompt: "go", tools });
      return [own, await ctx.child("below", inner, undefined)];
    });
    const engine = lab.engine([flow, inner]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await settle(lab, engine, "r");
    const result = await lab.drive(engine.result("r"));
    await lab.crash(engine);
    isOver = true;
    const { options, reached } = sealed(lab.store);
    const reader = lab.engine([flow, inner], options);
    const before = used;
    expect((await lab.drive(reader.replay("r"))).result).toEqual(result);
    for (const { id } of (await lab.store.list({ limit: 10 })).runs)
      for (const seq of await checkpointsOf(lab.store, id))
        expect((await lab.drive(reader.replay(`${id}@${seq}`))).notAsked).toEqual([]);
    expect([used, reached]).toEqual([before, []]);
  });
});
