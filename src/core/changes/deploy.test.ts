import { describe, expect, it } from "vitest";
import { createLab, type Lab } from "../../../test/support/lab.ts";
import {
  type Context,
  type Engine,
  type Migration,
  type Workflow,
  type WorkflowOptions,
  workflow,
} from "../../index.ts";
import type { RunMigration } from "../../manage.ts";
import { parseEntry } from "../journal/journal.ts";
import type { RunRow } from "../types.ts";

const gateOf = (ctx: Context, name = "ok") => ctx.gate(name, { choices: ["yes"] });

const version = (
  of: string,
  migrations: readonly Migration[],
  body: (ctx: Context) => unknown,
  options: WorkflowOptions = {},
) => workflow("flow", { version: of, migrations, ...options }, body);

/** Starts a run with one version of the code and stops that engine once the run is at rest. */
async function begun(lab: Lab, flow: Workflow<never, unknown>): Promise<void> {
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow as Workflow, undefined, { id: "r" }));
  await lab.drive(engine.settled("r"));
  await lab.drive(engine.close());
}

/** What was done outside, by what it means, whatever the step that did it is called. */
class Ledger {
  readonly done = new Map<string, number>();

  /** A step with an effect. */
  async effect(ctx: Context, name: string, meaning: string): Promise<void> {
    await ctx.step(name, () => void this.done.set(meaning, (this.done.get(meaning) ?? 0) + 1), {
      effect: "keyed",
    });
  }

  get twice(): string[] {
    return [...this.done].flatMap(([meaning, count]) => (count > 1 ? [meaning] : []));
  }
}

const RUNS = 100;
const REST = 120_000;

interface Names {
  readonly turn: string;
  readonly ask: string;
}

/** Five ways to be at rest: at a gate, at a timer, in a loop, at a gate and paused, at a signal. */
async function rest(ctx: Context, i: number, ledger: Ledger, { turn, ask }: Names): Promise<void> {
  if (i % 5 === 1) return ctx.sleep("rest", REST);
  if (i % 5 === 4) return void (await ctx.signal("go"));
  if (i % 5 !== 2) return void (await gateOf(ctx));
  await ctx.loop(turn, { sum: 0 }, async (state, { index, done }) => {
    await ledger.effect(ctx, ask, `ask ${index} of ${i}`);
    if (index === 2) await gateOf(ctx);
    state.sum += index;
    return index === 4 ? done() : undefined;
  });
}

type Body = (ctx: Context, i: number, ledger: Ledger) => Promise<void>;
const OLD: Names = { turn: "turn", ask: "ask" };

const original: Body = async (ctx, i, ledger) => {
  await ledger.effect(ctx, "reserve", `reserve ${i}`);
  await ctx.step("quote", () => 10);
  await rest(ctx, i, ledger, OLD);
  await ledger.effect(ctx, "pay", `pay ${i}`);
  await ledger.effect(ctx, "mail", `mail ${i}`);
};

interface Change {
  readonly name: string;
  readonly body: Body;
  readonly migration: Migration;
  /** What becomes of the runs when nobody says that the code is another. */
  readonly unsaid: "completed" | "held";
}

const changes: readonly Change[] = [
  {
    name: "steps added behind what was done",
    body: async (ctx, i, ledger) => {
      await ctx.step("screen", () => 1);
      await ledger.effect(ctx, "reserve", `reserve ${i}`);
      await ctx.step("quote", () => 10);
      await rest(ctx, i, ledger, OLD);
      await ledger.effect(ctx, "audit", `audit ${i}`);
      await ledger.effect(ctx, "pay", `pay ${i}`);
      await ledger.effect(ctx, "mail", `mail ${i}`);
    },
    migration: { from: "1", to: "2" },
    unsaid: "completed",
  },
  {
    name: "an effect added before what was done",
    body: async (ctx, i, ledger) => {
      await ledger.effect(ctx, "check", `check ${i}`);
      await original(ctx, i, ledger);
    },
    migration: { from: "1", to: "2", add: ["check"] },
    unsaid: "held",
  },
  {
    name: "steps removed",
    body: async (ctx, i, ledger) => {
      await rest(ctx, i, ledger, OLD);
      await ledger.effect(ctx, "pay", `pay ${i}`);
      await ledger.effect(ctx, "mail", `mail ${i}`);
    },
    migration: { from: "1", to: "2", drop: ["reserve", "quote"] },
    unsaid: "held",
  },
  {
    name: "steps renamed",
    body: async (ctx, i, ledger) => {
      await ledger.effect(ctx, "hold", `reserve ${i}`);
      await ctx.step("price", () => 10);
      await rest(ctx, i, ledger, { turn: "round", ask: "question" });
      await ledger.effect(ctx, "charge", `pay ${i}`);
      await ledger.effect(ctx, "mail", `mail ${i}`);
    },
    migration: {
      from: "1",
      to: "2",
      rename: { reserve: "hold", quote: "price", pay: "charge", turn: "round", "turn/ask": "question" },
    },
    unsaid: "held",
  },
  {
    name: "steps in another order",
    body: async (ctx, i, ledger) => {
      await rest(ctx, i, ledger, OLD);
      await ledger.effect(ctx, "pay", `pay ${i}`);
      await ctx.step("quote", () => 10);
      await ledger.effect(ctx, "reserve", `reserve ${i}`);
      await ledger.effect(ctx, "mail", `mail ${i}`);
    },
    migration: { from: "1", to: "2", add: ["turn/ask", "pay"] },
    unsaid: "held",
  },
];

const order = (ledger: Ledger, body: Body, options: WorkflowOptions = {}): Workflow<number, void> =>
  workflow("order", options, (ctx, i: number) => body(ctx, i, ledger));

const ids = Array.from({ length: RUNS }, (_, i) => `run-${String(i).padStart(3, "0")}`);

async function rows(lab: Lab): Promise<RunRow[]> {
  const { runs } = await lab.store.list({ limit: RUNS + 1 });
  return runs.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** A hundred runs at rest under the first version. */
async function underWay(lab: Lab, ledger: Ledger): Promise<void> {
  const first = order(ledger, original);
  const engine = lab.engine([first]);
  await lab.drive(Promise.all(ids.map((id, i) => engine.start(first, i, { id }))));
  await lab.drive(Promise.all(ids.map((id) => engine.settled(id))));
  await lab.drive(Promise.all(ids.filter((_, i) => i % 5 === 3).map((id) => engine.pause(id))));
  await lab.drive(engine.close());
}

/** Everything that the runs wait for happens. */
async function wake(lab: Lab, engine: Engine): Promise<void> {
  const happens = async (id: string, i: number): Promise<void> => {
    if (i % 5 === 3) await engine.resume(id);
    if (i % 5 === 4) await engine.signal(id, "go");
    const [gate] = await engine.gates(id);
    if (gate) await engine.answer(id, gate.gate, { choice: "yes" });
  };
  await lab.drive(Promise.all(ids.map(happens)));
  // With the time that a run of an unknown version is left to others.
  await lab.clock.advance(REST + 60_000);
  await atRest(lab, engine);
}

const atRest = (lab: Lab, engine: Engine) => lab.drive(Promise.all(ids.map((id) => engine.settled(id))));

/** The prediction came true, to the letter. */
async function expectForeseen(lab: Lab, foreseen: readonly RunMigration[]): Promise<void> {
  expect(foreseen.map(({ runId }) => runId).sort()).toEqual(ids);
  for (const { runId, outcome, from, to, problem } of foreseen) {
    const row = (await lab.store.read(runId)) as RunRow;
    const entries = await lab.store.entries(runId, { from: 1, limit: 1_000 });
    const events = entries.flatMap((entry) => parseEntry(runId, entry).events);
    const hops = events.filter(({ kind }) => kind === "run_migrated").length;
    // Meanwhile somebody has answered the gates.
    const since = (text = "") => text.replaceAll(", under way)", ")");
    if (outcome === "parks") {
      expect(row.waiting).toMatchObject([{ kind: "migration" }]);
      expect(since(row.waiting[0]?.detail)).toBe(since(problem));
    }
    expect({ version: row.version, hops }).toEqual(
      outcome === "migrates" ? { version: to, hops: 1 } : { version: from, hops: 0 },
    );
  }
}

/** Every effect of every run happened, and none of them twice. */
function expectAllDone(ledger: Ledger): void {
  expect(ledger.twice).toEqual([]);
  for (const i of ids.keys())
    for (const meaning of ["reserve", "pay", "mail"]) expect(ledger.done.get(`${meaning} ${i}`)).toBe(1);
}

describe.each(changes)(
  "a deploy with $name, while a hundred runs are under way",
  ({ body, migration, unsaid }) => {
    it("and a migration: all of them go on (S0-35, S0-44)", async () => {
      const lab = createLab();
      const ledger = new Ledger();
      await underWay(lab, ledger);
      const engine = lab.engine([order(ledger, body, { version: "2", migrations: [migration] })]);
      const { runs, totals } = await lab.drive(engine.migrations.check());
      expect(totals).toEqual({ current: 0, migrates: RUNS, parks: 0 });
      await wake(lab, engine);
      expect((await rows(lab)).map(({ status }) => status)).toEqual(ids.map(() => "completed"));
      await expectForeseen(lab, runs);
      expectAllDone(ledger);
      await lab.crash(engine);
    });

    it("and no word about it: none does anything twice, and none is lost", async () => {
      const lab = createLab();
      const ledger = new Ledger();
      await underWay(lab, ledger);
      const engine = lab.engine([order(ledger, body)]);
      const { runs } = await lab.drive(engine.migrations.check());
      for (const { hops, missing, outcome, next } of runs) {
        expect(hops).toEqual([]);
        expect(outcome === "parks").toBe(next === "parks");
        // Behind a new step nobody can see; what is held back later is announced.
        if (unsaid === "held") expect(missing).not.toEqual([]);
        else expect(next === "goes on" || missing?.length === 0).toBe(true);
      }
      await wake(lab, engine);
      await expectForeseen(lab, runs);
      for (const { status, waiting } of await rows(lab)) {
        expect(status).toBe(unsaid === "held" ? "waiting" : "completed");
        const detail = /^HF-2121 \S+ wasn't started: the code no longer asks for \S.*\./;
        for (const wait of waiting)
          expect(wait).toMatchObject({ kind: "migration", detail: expect.stringMatching(detail) as string });
      }
      expect(ledger.twice).toEqual([]);
      await lab.crash(engine);
      if (unsaid === "completed") return;
      // The old code is back.
      const back = lab.engine([order(ledger, original)]);
      await lab.drive(back.recover());
      await atRest(lab, back);
      expect((await rows(lab)).map(({ status }) => status)).toEqual(ids.map(() => "completed"));
      expectAllDone(ledger);
      await lab.crash(back);
    });

    it("and a new version without a migration: all of them wait, until there is one", async () => {
      const lab = createLab();
      const ledger = new Ledger();
      await underWay(lab, ledger);
      const engine = lab.engine([order(ledger, body, { version: "2" })]);
      const { runs, totals } = await lab.drive(engine.migrations.check());
      expect(totals).toEqual({ current: 0, migrates: 0, parks: RUNS });
      await wake(lab, engine);
      for (const { status, waiting } of await rows(lab)) {
        expect(status).toBe("waiting");
        expect(waiting[0]?.detail).toMatch(
          /^HF-2114 Run run-\d+ belongs to version 1 of order; this process has 2\. .*reserve \(keyed\), quote \(repeatable\)/,
        );
      }
      expect(ledger.twice).toEqual([]);
      await expectForeseen(lab, runs);
      engine.register(
        order(ledger, body, { version: "2", migrations: [migration] }) as Workflow<never, unknown>,
      );
      await lab.clock.advance(5_000);
      await atRest(lab, engine);
      expect((await rows(lab)).map(({ status }) => status)).toEqual(ids.map(() => "completed"));
      expectAllDone(ledger);
      await lab.crash(engine);
    });
  },
);

describe("a rolling deploy", () => {
  const bodies = (calls: string[]) => ({
    one: async (ctx: Context) => {
      await ctx.step("pay", () => calls.push("pay"), { effect: "keyed" });
      await ctx.sleep("rest", 60_000);
      await ctx.step("mail", () => calls.push("mail 1"), { effect: "keyed" });
    },
    two: async (ctx: Context) => {
      await ctx.step("charge", () => calls.push("charge"), { effect: "keyed" });
      await ctx.sleep("rest", 60_000);
      await ctx.step("mail", () => calls.push("mail 2"), { effect: "keyed" });
    },
  });
  const migrations: Migration[] = [{ from: "1", to: "2", rename: { pay: "charge" } }];

  it("lets old and new workers share a store without getting into each other's way", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const { one, two } = bodies(calls);
    const [first, second] = [version("1", [], one), version("2", migrations, two)];
    const old = lab.engine([first]);
    for (let i = 0; i < 5; i++) await lab.drive(old.start(first, undefined, { id: `old-${i}` }));
    const young = lab.engine([second]);
    for (let i = 0; i < 5; i++) await lab.drive(young.start(second, undefined, { id: `new-${i}` }));
    await lab.clock.advance(200_000);
    const { runs } = await lab.store.list({ limit: 100 });
    expect(runs.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => "completed"));
    expect(calls.filter((call) => call === "pay" || call === "charge")).toHaveLength(10);
    expect(calls.filter((call) => call.startsWith("mail"))).toHaveLength(10);
    await Promise.all([lab.crash(old), lab.crash(young)]);
  });

  it("takes up runs that an old worker had to let wait, once a process that can is there", async () => {
    const lab = createLab();
    const { two } = bodies([]);
    const second = version("2", migrations, two);
    const young = lab.engine([second]);
    await lab.drive(young.start(second, undefined, { id: "r" }));
    await lab.drive(young.settled("r"));
    await lab.drive(young.close());
    const old = lab.engine([version("1", [], bodies([]).one)]);
    await lab.drive(old.recover());
    await lab.clock.advance(100_000);
    expect(await lab.store.read("r")).toMatchObject({ waiting: [{ kind: "migration" }] });
    const back = lab.engine([second]);
    await lab.drive(back.recover());
    expect(await lab.drive(back.result("r"))).toBeUndefined();
    await Promise.all([lab.crash(old), lab.crash(back)]);
  });

  it("takes them up when the workflow is registered", async () => {
    const lab = createLab();
    const { one, two } = bodies([]);
    const [first, second] = [version("1", [], one), version("2", [], two)];
    await begun(lab, first);
    const engine = lab.engine([workflow("other", () => 1), second]);
    await lab.drive(engine.work());
    await lab.clock.advance(100_000);
    expect(await lab.store.read("r")).toMatchObject({ waiting: [{ kind: "migration" }] });
    engine.register(version("2", migrations, two));
    await lab.clock.advance(2_000);
    expect(await lab.store.read("r")).toMatchObject({ status: "completed", version: "2" });
    await lab.crash(engine);
  });

  it("takes one up within a minute or so of its beginning to wait", async () => {
    const lab = createLab();
    const one = async (ctx: Context) => void (await gateOf(ctx));
    await begun(lab, version("1", [], one));
    const able = lab.engine([version("2", migrations, one)], { sweepMs: 30_000 });
    await lab.drive(able.work());
    await lab.clock.advance(100);
    const unable = lab.engine([version("3", [], one)], { claimMs: 1 });
    await lab.drive(unable.answer("r", "ok", { choice: "yes" }));
    await lab.clock.advance(3_000);
    expect(await lab.store.read("r")).toMatchObject({ waiting: [{ kind: "migration" }] });
    await lab.crash(unable);
    await lab.clock.advance(95_000);
    expect(await lab.store.read("r")).toMatchObject({ status: "completed", version: "2" });
    await lab.crash(able);
  });
});

describe("a fork of a run of an older version", () => {
  const keyed = { effect: "keyed" } as const;

  it("takes over what its source did under the old names", async () => {
    const lab = createLab();
    const calls: string[] = [];
    const child = workflow("child", (ctx) => ctx.step("send", () => calls.push("send"), keyed));
    const body = (names: { pay: string; ship: string }) => async (ctx: Context) => {
      await ctx.step("read", () => 1);
      await ctx.checkpoint("start");
      await ctx.step(names.pay, () => calls.push("pay"), keyed);
      await ctx.child(names.ship, child, undefined);
      return gateOf(ctx);
    };
    const first = version("1", [], body({ pay: "pay", ship: "ship" }));
    const engine = lab.engine([first, child]);
    await lab.drive(engine.start(first, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.close());
    const rename = { pay: "charge", ship: "deliver" };
    const second = version("2", [{ from: "1", to: "2", rename }], body({ pay: "charge", ship: "deliver" }));
    const next = lab.engine([second, child]);
    for (const id of ["before", "after"]) {
      await lab.drive(next.fork("r@start", { id }));
      expect(await lab.drive(next.settled(id))).toMatchObject({ version: "2", waiting: [{ kind: "gate" }] });
      // Whether the source has gone the same way by then makes no difference.
      await lab.drive(next.migrations.apply("r"));
    }
    expect(calls).toEqual(["pay", "send"]);
    await lab.crash(next);
  });
});
