import { describe, expect, it } from "vitest";
import { eventsOf } from "../../../test/support/family.ts";
import { createLab } from "../../../test/support/lab.ts";
import { type HoldfastError, type Logger, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { accepted, creation, storeConformance } from "../../testing/conformance/index.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { seededIds } from "../ids.ts";
import type { Store } from "../store/contract.ts";
import { ScratchStore } from "./scratch-store.ts";

describe("a scratch store", () => {
  const clock = createFakeClock();
  const ids = seededIds(1);
  storeConformance(
    {
      name: "scratch",
      open: async () => new ScratchStore(createMemoryStore({ clock }), { clock, ids }),
      clock: { now: () => clock.now(), advance: (ms) => clock.jump(ms) },
    },
    { describe, it },
  );

  it("lists what is stored below and what is in memory as one, page by page", async () => {
    const base = createMemoryStore({ clock });
    const store = new ScratchStore(base, { clock, ids });
    for (const [where, id, createdAt] of [
      [base, "a", 1],
      [store, "b", 2],
      [base, "c", 3],
      [base, "d", 4],
      [store, "e", 5],
      [store, "f", 5],
    ] as const)
      await accepted(where, creation({ run: { id, createdAt } }));
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await store.list({ limit: 2, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.runs.map(({ id }) => id));
      cursor = page.cursor;
    }
    expect(seen).toEqual(["f", "e", "d", "c", "b", "a"]);
    expect((await base.list({ limit: 10 })).runs).toHaveLength(3);
  });
});

describe("an engine with saving switched off", () => {
  const warnings: string[] = [];
  const logger: Logger = {
    debug: () => undefined,
    info: () => undefined,
    warn: (message) => void warnings.push(message),
    error: () => undefined,
  };
  const setup = async () => {
    const lab = createLab();
    let calls = 0;
    const child = workflow("child", (ctx) => ctx.step("b", () => ++calls));
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("a", () => ++calls);
      await ctx.gate("ok", { choices: ["yes"] });
      return ctx.child("below", child, undefined);
    });
    const engine = lab.engine([flow, child]);
    await lab.drive(engine.start(flow, undefined, { id: "stored" }));
    await lab.drive(engine.settled("stored"));
    await lab.crash(engine);
    return { lab, flow, flows: [flow, child], calls: () => calls };
  };

  it("says so once, runs new runs in memory, and leaves nothing in the store (S0-48, S1-07)", async () => {
    const { lab, flow, flows } = await setup();
    warnings.length = 0;
    const before = (await lab.store.list({ limit: 10 })).runs;
    const engine = lab.engine(flows, { saving: false, logger });
    expect(warnings.filter((text) => text.includes("saving is switched off"))).toHaveLength(1);
    await lab.drive(engine.start(flow, undefined, { id: "new" }));
    await lab.drive(engine.settled("new"));
    await lab.drive(engine.answer("new", "ok", { choice: "yes" }));
    expect(await lab.drive(engine.result("new"))).toBe(3);
    expect((await engine.list({ limit: 10 })).runs.map(({ id }) => id)).toContain("stored");
    expect((await lab.store.list({ limit: 10 })).runs).toEqual(before);
    await lab.crash(engine);
    expect(await lab.engine(flows, { saving: false }).get("new")).toBeNull();
  });

  it("reads stored runs, and neither advances nor changes them (S0-48)", async () => {
    const { lab, flow, flows, calls } = await setup();
    const before = await lab.store.read("stored");
    const engine = lab.engine(flows, { saving: false });
    expect(await engine.get("stored")).toEqual(before);
    expect(await lab.drive(engine.recover())).toEqual([]);
    const refused = async (act: Promise<unknown>) => {
      const error = await lab.drive(
        act.then(
          () => undefined,
          (thrown: HoldfastError) => thrown,
        ),
      );
      expect(error).toMatchObject({ code: "HF-1007" });
      expect(error?.fix).toContain("saving");
    };
    await refused(engine.pause("stored"));
    await refused(engine.cancel("stored"));
    await refused(engine.signal("stored", "x"));
    await refused(engine.answer("stored", "ok", { choice: "yes" }));
    // The same id is the same run, and that one is stored.
    await lab.drive(engine.start(flow, undefined, { id: "stored" }));
    expect(await lab.store.read("stored")).toEqual(before);
    expect((await lab.drive(engine.replay("stored"))).end).toBe("stopped");
    expect((await lab.drive(engine.plan("stored"))).waits).toMatchObject([{ for: "gate" }]);
    await lab.drive(engine.fork("stored", { id: "fork" }));
    await lab.drive(engine.settled("fork"));
    await lab.drive(engine.answer("fork", "ok", { choice: "yes" }));
    expect(await lab.drive(engine.result("fork"))).toBe(2);
    expect(await lab.store.read("fork")).toBeNull();
    await lab.crash(engine);
    const again = lab.engine(flows);
    await lab.drive(again.answer("stored", "ok", { choice: "yes" }));
    expect(await lab.drive(again.result("stored"))).toBe(3);
    expect(calls()).toBe(3);
    expect((await eventsOf(lab.store, "stored")).filter(({ kind }) => kind === "run_created")).toHaveLength(
      1,
    );
  });

  it("leaves also what time or new code would change: old values, and runs that wait for a migration", async () => {
    const lab = createLab();
    const told: string[] = [];
    const note = (text: string): void => void told.push(text);
    const logger = { debug: () => undefined, info: () => undefined, warn: note, error: note };
    const at = (version: string, from?: string) =>
      workflow(
        "flow",
        { version, migrations: from === undefined ? [] : [{ from, to: version }] },
        async (ctx, name: string) => {
          await ctx.step("s", () => 1);
          return name === "waits" ? ctx.gate("ok", { choices: ["yes"] }) : name;
        },
      );
    const first = lab.engine([at("1")]);
    for (const id of ["old", "waits"]) await lab.drive(first.start(at("1"), id, { id }));
    await lab.drive(first.settled("waits"));
    await lab.crash(first);
    const second = lab.engine([at("2")], { retention: "forever" });
    await lab.drive(second.answer("waits", "ok", { choice: "yes" }));
    await lab.clock.advance(60_000);
    expect(await second.get("waits")).toMatchObject({ waiting: [{ kind: "migration" }] });
    await lab.crash(second);
    await lab.clock.advance(20 * 86_400_000);
    const before = [await lab.store.read("old"), await lab.store.read("waits")];
    const flow = at("2", "1");
    const engine = lab.engine([flow], { saving: false, logger });
    await lab.drive(engine.work());
    await lab.clock.advance(7_200_000);
    expect([await lab.store.read("old"), await lab.store.read("waits")]).toEqual(before);
    expect(told).toHaveLength(1);
    expect(engine.health().store.state).toBe("ok");
    await lab.drive(engine.start(flow, "new", { id: "new" }));
    expect(await lab.drive(engine.result("new"))).toBe("new");
  });

  it("works while the store does not", async () => {
    const { lab, flow, flows } = await setup();
    const away = () => Promise.reject(new Error("away"));
    const store: Store = { ...lab.store, read: away, append: away, entries: away, identity: away, now: away };
    const engine = lab.engine(flows, { saving: false, store });
    await lab.drive(engine.start(flow, undefined, { id: "new" }));
    expect((await lab.drive(engine.settled("new"))).waiting).toMatchObject([{ kind: "gate" }]);
  });
});
