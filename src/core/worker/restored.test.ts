import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../test/support/lab.ts";
import { type Context, type Engine, workflow } from "../../index.ts";
import type { Store } from "../store/contract.ts";

type Body = (ctx: Context) => Promise<unknown>;

/** Starts a run with the id `r` and kills its worker; answers an engine on the store as it is after a restore. */
async function restored(body: Body, meanwhile: (lab: Lab, engine: Engine) => Promise<unknown>) {
  const lab = createLab();
  const flow = workflow("flow", (ctx) => body(ctx));
  const before = lab.engine([flow]);
  await lab.drive(before.start(flow, undefined, { id: "r" }));
  await lab.clock.advance(1_000);
  await meanwhile(lab, before);
  await lab.crash(before);
  const store = await markRestored(lab, lab.store, "second");
  const engine = lab.engine([flow], { store });
  await lab.drive(engine.recover());
  return { lab, flow, engine, store };
}

/** What the store is after `markRestored`, which stores in memory have no use for. */
async function markRestored(lab: Lab, store: Store, incarnation: string): Promise<Store> {
  const { secret } = await store.identity();
  const identity = { incarnation, secret, restoredAt: lab.clock.now() };
  await lab.clock.advance(20_000);
  return { ...store, identity: async () => identity };
}

const isPutAside = async (lab: Lab, engine: Engine): Promise<boolean> => {
  const { status, waiting } = await lab.drive(engine.settled("r"));
  return status === "waiting" && waiting.length === 1 && waiting[0]?.detail?.startsWith("HF-2130 ") === true;
};

const nothing = async (): Promise<void> => undefined;

describe("a run in a store that was restored", () => {
  it("is put aside whether its worker died, let go in good order, or never was", async () => {
    let calls = 0;
    const body: Body = (ctx) => ctx.step("s", () => (++calls === 1 ? hangs() : calls));
    const died = await restored(body, nothing);
    expect(await isPutAside(died.lab, died.engine)).toBe(true);
    expect(calls).toBe(1);

    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.step("s", () => ++calls));
    const starter = lab.engine([flow], { execute: false });
    await lab.drive(starter.start(flow, undefined, { id: "r" }));
    const engine = lab.engine([flow], { store: await markRestored(lab, lab.store, "second") });
    await lab.drive(engine.recover());
    expect(await isPutAside(lab, engine)).toBe(true);
    expect(calls).toBe(1);
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe(2);
  });

  it("is put aside when its process is known to be gone, too, and asked about once only", async () => {
    let calls = 0;
    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.step("s", () => (++calls < 3 ? hangs() : calls)));
    const gone = new Set<string>();
    const isGone = (token: string): boolean => gone.has(token.slice(token.indexOf(".") + 1));
    const process = (mark: string) => ({ claimMs: 3_600_000, processes: { mark, isGone } });
    const dies = async (engine: Engine, mark: string): Promise<void> => {
      await lab.clock.advance(1_000);
      await lab.crash(engine);
      gone.add(mark);
    };
    const first = lab.engine([flow], process("first"));
    await lab.drive(first.start(flow, undefined, { id: "r" }));
    await dies(first, "first");
    const store = await markRestored(lab, lab.store, "second");
    const second = lab.engine([flow], { store, ...process("second") });
    await lab.drive(second.recover());
    expect(await isPutAside(lab, second)).toBe(true);
    expect(calls).toBe(1);
    await lab.drive(second.resume("r"));
    await dies(second, "second");
    const third = lab.engine([flow], { store, ...process("third") });
    await lab.drive(third.recover());
    expect(await lab.drive(third.result("r"))).toBe(3);
  });

  it("goes on when it was made since, although the clock of whoever made it is behind", async () => {
    const lab = createLab();
    const { secret } = await lab.store.identity();
    const identity = { incarnation: "second", secret, restoredAt: lab.clock.now() + 500 };
    const store: Store = { ...lab.store, identity: async () => identity };
    const flow = workflow("flow", (ctx) => ctx.step("s", () => "done"));
    const starter = lab.engine([flow], { store, execute: false });
    await lab.drive(starter.start(flow, undefined, { id: "r" }));
    const engine = lab.engine([flow], { store });
    await lab.drive(engine.recover());
    expect(await lab.drive(engine.result("r"))).toBe("done");
  });

  it("is put aside when what it waited for comes, which is kept", async () => {
    const body: Body = async (ctx) => [await ctx.gate("ok", { choices: ["yes"] }), await ctx.signal("go")];
    const { lab, engine } = await restored(body, (here, before) => here.drive(before.settled("r")));
    expect((await lab.drive(engine.settled("r"))).waiting).toMatchObject([{ kind: "gate" }]);
    await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
    expect(await isPutAside(lab, engine)).toBe(true);
    await lab.drive(engine.signal("r", "go", 7));
    expect(await isPutAside(lab, engine)).toBe(true);
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toMatchObject([{ choice: "yes" }, { payload: 7 }]);
  });

  it("says since when nothing is known of it, whatever was written to it afterwards (R5)", async () => {
    const body: Body = async (ctx) => {
      await ctx.step("s", () => 1);
      return ctx.signal("go");
    };
    let until = 0;
    const { lab, engine } = await restored(body, async (here, before) => {
      until = (await here.drive(before.settled("r"))).updatedAt;
      await here.clock.advance(5_000);
    });
    await lab.clock.advance(60_000);
    await lab.drive(engine.signal("r", "go", 7));
    const { waiting } = await lab.drive(engine.settled("r"));
    expect(waiting[0]?.detail).toContain(`after ${new Date(until).toISOString()}`);
  });

  it("is put aside when it is resumed by somebody who was not told, and goes on after the next resume", async () => {
    const body: Body = async (ctx) => {
      await ctx.step("s", () => 1);
      await ctx.sleep("nap", 60_000);
      return ctx.step("t", () => 2);
    };
    const { lab, engine } = await restored(body, async (here, before) => {
      await here.drive(before.pause("r"));
      await here.drive(before.settled("r"));
    });
    expect((await lab.drive(engine.settled("r"))).status).toBe("paused");
    await lab.drive(engine.resume("r"));
    expect(await isPutAside(lab, engine)).toBe(true);
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe(2);
  });

  it("is paused as it was told to be, which says nothing about the restore", async () => {
    const { lab, engine } = await restored(
      (ctx) => ctx.step("s", (call) => (call.attempt === 1 ? hangs() : "again")),
      async (here, before) => void (await here.drive(before.pause("r"))),
    );
    expect((await lab.drive(engine.settled("r"))).status).toBe("paused");
    await lab.drive(engine.resume("r"));
    expect(await isPutAside(lab, engine)).toBe(true);
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe("again");
  });

  it("undoes nothing by itself", async () => {
    let undone = 0;
    const body: Body = async (ctx) => {
      await ctx.step("book", () => 1, { compensate: () => void undone++ });
      return ctx.step("s", hangs);
    };
    const { lab, engine } = await restored(
      body,
      async (here, before) => void (await here.drive(before.cancel("r", { compensate: true }))),
    );
    expect(await isPutAside(lab, engine)).toBe(true);
    expect(undone).toBe(0);
    await lab.drive(engine.resume("r"));
    expect((await lab.drive(engine.settled("r"))).status).toBe("cancelled");
    expect(undone).toBe(1);
  });

  it("is put aside again after the next restore, and only then", async () => {
    let hold = true;
    const body: Body = async (ctx) => {
      for (let i = 0; i < 300; i++) await ctx.step(`s${i}`, () => i);
      return ctx.step("last", () => (hold ? hangs() : "end"));
    };
    const { lab, flow, engine, store } = await restored(body, nothing);
    await lab.drive(engine.resume("r"));
    await lab.clock.advance(1_000);
    // Its claim lies hundreds of entries back, and counts.
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const next = lab.engine([flow], { store });
    expect(await lab.drive(next.recover())).toEqual(["r"]);
    await lab.crash(next);
    const last = lab.engine([flow], { store: await markRestored(lab, store, "third") });
    expect(await lab.drive(last.recover())).toEqual([]);
    expect(await isPutAside(lab, last)).toBe(true);
    hold = false;
    await lab.drive(last.resume("r"));
    expect(await lab.drive(last.result("r"))).toBe("end");
  });
});

describe("an engine whose store is said to be restored while it works", () => {
  it("stops instead of going on with the older state", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) => ctx.step("s", hangs));
    let identity = await lab.store.identity();
    const store: Store = { ...lab.store, identity: async () => identity };
    const starter = lab.engine([flow], { store, execute: false });
    const idle = lab.engine([flow], { store });
    await lab.drive(idle.recover());
    identity = { ...identity, incarnation: "second", restoredAt: lab.clock.now() };
    await lab.drive(starter.start(flow, undefined, { id: "r" }));
    expect(await lab.drive(idle.recover())).toEqual([]);
    expect(idle.health().store).toMatchObject({ state: "back" });
    expect((await lab.store.read("r"))?.status).toBe("queued");
  });
});
