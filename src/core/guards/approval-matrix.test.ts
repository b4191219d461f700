import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createLab, type Lab } from "../../../test/support/lab.ts";
import { type Context, type Engine, type Policy, type Workflow, workflow } from "../../index.ts";

/**
 * What was approved is what is done, or it is asked again (X2, X3). Somebody approves 10; before that is acted on, the process dies and
 * the run is changed in some way. Whatever is paid then must have been approved as it is, in this run and in this store.
 */
const APPROVED = 10;
const OTHER = 9_999;

interface World {
  readonly paid: number[];
}

/** What an answer is bound to: gates to what they show, wherever that is; approvals to the run and the store as well. */
type Binds = "what is shown" | "edits" | "this call";

type Pay = (ctx: Context, amount: number, pay: () => unknown) => Promise<unknown>;

const choices = ["approve", "deny"];
const kinds: Readonly<Record<string, { readonly gate: string; readonly binds: Binds; readonly pay: Pay }>> = {
  gate: {
    gate: "ok",
    binds: "what is shown",
    pay: async (ctx, amount, pay) => {
      const { choice } = await ctx.gate("ok", { show: { amount }, choices });
      return choice === "approve" ? ctx.step("pay", pay, { effect: "once" }) : undefined;
    },
  },
  "gate that shows nothing": {
    gate: "ok",
    binds: "edits",
    pay: async (ctx, _, pay) => {
      await ctx.gate("ok", { choices });
      return ctx.step("pay", pay, { effect: "once" });
    },
  },
  "policy ask": {
    gate: "approve:pay",
    binds: "this call",
    pay: (ctx, amount, pay) => ctx.step("pay", pay, { effect: "once", input: { amount } }),
  },
  "item of each": {
    gate: "approve:pay[0]",
    binds: "this call",
    pay: (ctx, amount, pay) => ctx.each("pay", [{ amount }], pay, { effect: "once" }),
  },
  "branch of all": {
    gate: "approve:pay[a]",
    binds: "this call",
    pay: (ctx, _, pay) => ctx.all("pay", { a: pay }, { effect: "once" }),
  },
  "once without input": {
    gate: "approve:pay",
    binds: "this call",
    pay: (ctx, _, pay) => ctx.step("pay", pay, { effect: "once" }),
  },
};

const body = (world: World, pay: Pay) => async (ctx: Context, input: unknown) => {
  const quoted = await ctx.step("quote", () => APPROVED);
  const amount = typeof input === "number" ? input : quoted;
  await pay(ctx, amount, () => world.paid.push(amount));
};

/** Only gates ask by themselves; every other call is asked about by the policy. */
const policyOf = (gate: string): { policy?: Policy } =>
  gate === "ok"
    ? {}
    : {
        policy: {
          version: "1",
          decide: ({ effect }) => (effect === "once" ? { ask: "It is money." } : "allow"),
        },
      };

interface Stage {
  readonly lab: Lab;
  readonly world: World;
  readonly pay: Pay;
  readonly options: { policy?: Policy };
  readonly flow: Workflow<unknown, unknown>;
}

/** What became of the run: where it goes on, under which id, and what it would pay. */
interface Changed {
  readonly lab: Lab;
  readonly engine: Engine;
  readonly id: string;
  readonly amount: number;
  readonly by: "nothing" | "edit" | "code" | "fork" | "import";
}

/** Whether the answer that was given before does not count for what is to be done now. */
const isAskedAgain = (binds: Binds, { by, amount }: Changed): boolean => {
  if (binds === "this call" || by === "import") return by !== "nothing";
  return binds === "edits" ? by === "edit" : amount !== APPROVED;
};

const next = ({ lab, flow, options }: Stage): Engine => lab.engine([flow], options);

async function paused(stage: Stage, set: Parameters<Engine["resume"]>[1]): Promise<Engine> {
  const engine = next(stage);
  await stage.lab.drive(engine.pause("r"));
  await stage.lab.drive(engine.resume("r", set));
  return engine;
}

const ways: Readonly<Record<string, (stage: Stage) => Promise<Changed>>> = {
  nothing: async (stage) => ({
    lab: stage.lab,
    engine: next(stage),
    id: "r",
    amount: APPROVED,
    by: "nothing",
  }),
  "set of a step": async (stage) => {
    const engine = await paused(stage, { set: { steps: { quote: OTHER } } });
    return { lab: stage.lab, engine, id: "r", amount: OTHER, by: "edit" };
  },
  "resume --set of the input": async (stage) => {
    const engine = await paused(stage, { set: { input: OTHER } });
    return { lab: stage.lab, engine, id: "r", amount: OTHER, by: "edit" };
  },
  fork: async (stage) => {
    const engine = next(stage);
    await stage.lab.drive(engine.pause("r"));
    await stage.lab.drive(engine.fork("r", { id: "f" }));
    return { lab: stage.lab, engine, id: "f", amount: APPROVED, by: "fork" };
  },
  "fork with set": async (stage) => {
    const engine = next(stage);
    await stage.lab.drive(engine.pause("r"));
    await stage.lab.drive(engine.fork("r", { id: "f", set: { steps: { quote: OTHER } } }));
    return { lab: stage.lab, engine, id: "f", amount: OTHER, by: "edit" };
  },
  import: async (stage) => {
    const { lab, flow, options } = stage;
    const from = lab.engine([], { execute: false });
    const bundle: string[] = [];
    for await (const line of from.transfer.exportRun("r")) bundle.push(line);
    const there = createLab();
    await there.clock.advance(lab.clock.now());
    const engine = there.engine([flow], options);
    await there.drive(engine.transfer.importRuns(Readable.from(bundle)));
    const { digest } = await there.drive(engine.transfer.review("r"));
    await there.drive(engine.transfer.accept("r", { digest, actor: "ops" }));
    return { lab: there, engine, id: "r", amount: APPROVED, by: "import" };
  },
  migrate: async (stage) => {
    const { lab, world, pay, options } = stage;
    const migrations = [{ from: "1", to: "2", state: () => ({ steps: { quote: OTHER } }) }];
    const flow = workflow("paying", { version: "2", migrations }, body(world, pay));
    return { lab, engine: lab.engine([flow], options), id: "r", amount: OTHER, by: "code" };
  },
  "changed code": async (stage) => {
    const { lab, world, pay, options } = stage;
    const flow = workflow("paying", async (ctx) => {
      const quoted = await ctx.step("quote", () => APPROVED);
      const amount = quoted - APPROVED + OTHER;
      await pay(ctx, amount, () => world.paid.push(amount));
    });
    return { lab, engine: lab.engine([flow], options), id: "r", amount: OTHER, by: "code" };
  },
};

/** Approves 10 and lets the process die before anything comes of it. */
async function approve(gate: string, pay: Pay): Promise<Stage> {
  const lab = createLab();
  const world: World = { paid: [] };
  const options = policyOf(gate);
  const flow = workflow("paying", body(world, pay));
  const engine = lab.engine([flow], options);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.drive(engine.settled("r"));
  await lab.crash(engine);
  await lab.clock.advance(20_000);
  const desk = lab.engine([], { execute: false });
  await lab.drive(desk.answer("r", gate, { choice: "approve", actor: "ada" }));
  return { lab, world, pay, options, flow };
}

describe("what was approved is what is done, or it is asked again (X2, X3)", () => {
  const cells = Object.entries(kinds).flatMap(([kind, one]) =>
    Object.entries(ways).map(([way, change]) => ({ kind, way, ...one, change })),
  );

  it.each(cells)("$kind, then $way", async ({ gate, binds, pay, change }) => {
    const stage = await approve(gate, pay);
    const changed = await change(stage);
    const { lab, engine, id, amount } = changed;
    await lab.drive(engine.recover());
    const run = await lab.drive(engine.settled(id));
    const isAsked = isAskedAgain(binds, changed);
    expect(stage.world.paid).toEqual(isAsked ? [] : [amount]);
    if (!isAsked) return expect(run.status).toBe("completed");
    expect(run.waiting.map(({ kind, step }) => [kind, step])).toEqual([["gate", gate]]);
    const [open] = await lab.drive(engine.gates(id));
    const answer = { choice: "approve", actor: "ben", digest: open?.digest ?? "" };
    await lab.drive(engine.answer(id, gate, answer));
    expect((await lab.drive(engine.settled(id))).status).toBe("completed");
    expect(stage.world.paid).toEqual([amount]);
  });
});
