import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";
import { silentLogger } from "../logger.ts";

/** Counts from outside how many calls are under way, in all and for each key. */
function witness() {
  const now = new Map<string, number>();
  const most = new Map<string, number>();
  const add = (name: string, n: number) => {
    now.set(name, (now.get(name) ?? 0) + n);
    most.set(name, Math.max(most.get(name) ?? 0, now.get(name) ?? 0));
  };
  return {
    most,
    async call<T>(key: string, work: Promise<T>): Promise<T> {
      for (const name of ["all", key]) add(name, 1);
      const value = await work;
      for (const name of ["all", key]) add(name, -1);
      return value;
    },
  };
}

const stage = () => {
  const lab = createLab();
  const seen = witness();
  const ended: string[] = [];
  const flow = workflow("flow", async (ctx, key: string) => {
    const nap = () => new Promise<void>((resolve) => lab.clock.setTimer(resolve, 100));
    await ctx.step("work", () => seen.call(key, nap()));
    ended.push(key);
  });
  return { lab, seen, flow, ended };
};

describe("a queue", () => {
  it("never has more runs under way than it allows, in all and for each key, and all get through", async () => {
    const { lab, seen, flow } = stage();
    const engine = lab.engine([flow], { queues: { q: { concurrency: 5, perKey: 1 } } });
    const runs = await lab.drive(
      Promise.all(
        Array.from({ length: 60 }, (_, n) =>
          engine.start(flow, `key-${n % 12}`, { queue: "q", key: `key-${n % 12}` }),
        ),
      ),
    );
    await lab.drive(Promise.all(runs.map((run) => run.result())));
    const { all, ...keys } = Object.fromEntries(seen.most);
    expect(all).toBe(5);
    expect(new Set(Object.values(keys))).toEqual(new Set([1]));
    await lab.drive(engine.close());
  });

  it("takes up nothing while it is paused, and says who paused it", async () => {
    const { lab, flow, ended } = stage();
    const engine = lab.engine([flow], { queues: { q: { concurrency: 5 } } });
    await engine.queues.pause("q", { actor: "ops", reason: "maintenance" });
    const run = await lab.drive(engine.start(flow, "a", { queue: "q" }));
    await lab.clock.advance(10_000);
    expect((await engine.get(run.id))?.status).toBe("queued");
    expect(await engine.queues.get("q")).toMatchObject({ paused: { actor: "ops", reason: "maintenance" } });
    await engine.queues.resume("q");
    await lab.drive(run.result());
    expect(ended).toEqual(["a"]);
    await lab.drive(engine.close());
  });

  it("takes up the higher priority first", async () => {
    const { lab, flow, ended } = stage();
    const engine = lab.engine([flow], { queues: { q: { concurrency: 1 } } });
    const runs = await lab.drive(
      Promise.all(
        [0, 0, 5, 9].map((priority, n) => engine.start(flow, `${priority}/${n}`, { queue: "q", priority })),
      ),
    );
    await lab.drive(Promise.all(runs.map((run) => run.result())));
    expect(ended.slice(1, 3)).toEqual(["9/3", "5/2"]);
    await lab.drive(engine.close());
  });

  it("starts runs no faster than its rate", async () => {
    const { lab, flow } = stage();
    const engine = lab.engine([flow], { queues: { q: { rate: { calls: 2, periodMs: 10_000 } } } });
    const begun = lab.clock.now();
    const runs = await lab.drive(
      Promise.all([1, 2, 3, 4, 5].map((n) => engine.start(flow, `${n}`, { queue: "q" }))),
    );
    await lab.drive(Promise.all(runs.map((run) => run.result())));
    expect(lab.clock.now() - begun).toBeGreaterThanOrEqual(20_000);
    await lab.drive(engine.close());
  });

  it("lets the run of a dead worker be taken over while it is full, whatever stands before it", async () => {
    const { lab, ended } = stage();
    let isHung = true;
    const flow = workflow("flow", async (ctx, name: string) => {
      await ctx.step("work", () => (isHung ? new Promise<void>(() => undefined) : undefined), {
        effect: "repeatable",
      });
      ended.push(name);
    });
    const queues = { q: { concurrency: 1 } };
    const dying = lab.engine([flow], { queues });
    const first = await lab.drive(dying.start(flow, "first", { queue: "q" }));
    await lab.clock.advance(2_000);
    expect((await dying.get(first.id))?.status).toBe("running");
    const desk = lab.engine([flow], { execute: false });
    const second = await lab.drive(desk.start(flow, "second", { queue: "q", priority: 9 }));
    await lab.crash(dying);
    isHung = false;
    const engine = lab.engine([flow], { queues: { q: { concurrency: 1, perKey: 1 } } });
    await engine.work();
    await lab.drive(Promise.all([first, second].map(({ id }) => engine.result(id))));
    expect(ended).toEqual(["first", "second"]);
    await lab.drive(engine.close());
  });

  it.each(["key", "labels.tenant"] as const)(
    "gives each in turn a place, so that many runs of one don't keep out another (fair by %s)",
    async (fairBy) => {
      const { lab, flow, ended } = stage();
      const desk = lab.engine([flow], { execute: false });
      const start = (tenant: string) =>
        lab.drive(desk.start(flow, tenant, { queue: "q", key: tenant, labels: { tenant } }));
      const runs = [];
      for (let n = 0; n < 30; n++) runs.push(await start("ada"));
      for (const tenant of ["bob", "bob", "cyd"]) runs.push(await start(tenant));
      const engine = lab.engine([flow], { queues: { q: { concurrency: 1, fairBy } } });
      await engine.work();
      await lab.drive(Promise.all(runs.map(({ id }) => engine.result(id))));
      expect(ended.slice(0, 6)).toEqual(["ada", "bob", "cyd", "ada", "bob", "ada"]);
      expect(ended).toHaveLength(33);
      await lab.drive(Promise.all([engine.close(), desk.close()]));
    },
  );

  it("finds a run behind any number of others whose key is full", async () => {
    const { lab, flow, ended } = stage();
    const desk = lab.engine([flow], { execute: false });
    for (let n = 0; n < 300; n++)
      await lab.drive(desk.start(flow, "ada", { id: `a${n}`, queue: "q", key: "ada" }));
    await lab.drive(desk.start(flow, "bob", { id: "bob", queue: "q", key: "bob" }));
    const engine = lab.engine([flow], { queues: { q: { concurrency: 2, perKey: 1 } }, concurrency: 5 });
    let asked = 0;
    const { due } = lab.store;
    lab.store.due = (query) => {
      asked++;
      expect(query.limit).toBeLessThan(20);
      return due(query);
    };
    await engine.work();
    await lab.drive(engine.result("bob"));
    expect(ended.indexOf("bob")).toBeLessThan(2);
    expect(asked).toBeLessThan(20);
    await lab.crash(engine);
  });

  it("is named in the status of a run that waits for a place, with the limit and who holds it", async () => {
    const { lab, flow } = stage();
    const engine = lab.engine([flow], { queues: { q: { concurrency: 2, perKey: 1 } } });
    const start = (id: string, key: string) => lab.drive(engine.start(flow, key, { id, key, queue: "q" }));
    const headline = async (id: string) => (await engine.status(id)).headline;
    await start("one", "ada");
    while ((await engine.get("one"))?.status !== "running") await lab.clock.advance(1);
    await start("same-key", "ada");
    expect(await headline("same-key")).toContain(
      "waits for a place for key ada in queue q (limit 1, held by one)",
    );
    await engine.queues.pause("q");
    expect(await headline("same-key")).toContain("queued: its queue q is paused");
    await engine.queues.resume("q");
    await lab.drive(engine.result("same-key"));
    await lab.drive(engine.close());
  });

  it("keeps the rate that an operator has set when the same declaration comes again", async () => {
    const { lab, flow } = stage();
    const queues = { q: { rate: { calls: 100, periodMs: 1_000 } } };
    await lab.engine([flow], { queues }).queues.set("q", { rate: { calls: 2, periodMs: 10_000 } });
    const engine = lab.engine([flow], { queues });
    expect(await engine.queues.get("q")).toMatchObject({ rate: { calls: 2 } });
    expect(await engine.rateLimits.get("queue q")).toMatchObject({ calls: 2, periodMs: 10_000 });
  });

  it("is told to be inexact where the store can't count its runs in the claim, if it has a limit", async () => {
    const { lab, flow } = stage();
    const told: string[] = [];
    const logger = {
      ...silentLogger,
      warn: (_: string, fields?: object) => void told.push(JSON.stringify(fields)),
    };
    const engine = lab.engine([flow], { logger });
    await engine.queues.set("exact", { concurrency: 2 });
    Object.assign(lab.store, { capabilities: { ...lab.store.capabilities, limits: false } });
    await engine.queues.set("q", { concurrency: 2 });
    await engine.queues.set("fair", { fairBy: "key" });
    expect(told).toEqual(['{"queue":"q","store":"memory"}']);
  });

  it("is set, listed and deleted by operators, and a declaration replaces only an older one", async () => {
    const { lab, flow } = stage();
    const queues = { q: { concurrency: 5 } };
    const engine = lab.engine([flow], { queues });
    await engine.queues.set("q", { concurrency: 2 }, { actor: "ops" });
    expect(await lab.engine([flow], { queues }).queues.list()).toMatchObject([{ name: "q", concurrency: 2 }]);
    const changed = lab.engine([flow], { queues: { q: { concurrency: 9 } } });
    expect(await changed.queues.get("q")).toMatchObject({ concurrency: 9, isDeclared: true });
    await changed.queues.delete("q");
    expect(await changed.queues.list()).toEqual([]);
    for (const bad of [
      { concurrency: 0 },
      { perKey: 1.5 },
      { rate: { calls: 0 } },
      { concurency: 1 },
      { fairBy: "team" },
    ])
      await expect(engine.queues.set("q", bad as never)).rejects.toMatchObject({ code: "HF-1003" });
    await expect(engine.queues.resume("none")).rejects.toMatchObject({ code: "HF-5100" });
  });
});
