import { describe, expect, it } from "vitest";
import { code } from "../../../test/support/code.ts";
import { createLab, hangs, signalled } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";
import { childId } from "../ids.ts";

/** Three levels; the lowest one works or hangs. */
function levels(work: () => unknown) {
  const low = workflow("low", (ctx) => ctx.step("work", work));
  const middle = workflow("middle", (ctx) => ctx.child("low", low, undefined));
  const top = workflow("top", (ctx) => ctx.child("middle", middle, undefined));
  const ids = { top: "r", middle: childId("r", "middle"), low: childId(childId("r", "middle"), "low") };
  return { all: [top, middle, low], top, ids };
}

describe("cancelling a run", () => {
  it("cancels every run below it, and tells the tools that are under way", async () => {
    const lab = createLab();
    let aborted = false;
    const low = workflow("low", (ctx) =>
      ctx.step("work", ({ signal }) => {
        signal.addEventListener("abort", () => (aborted = true));
        return hangs();
      }),
    );
    const middle = workflow("middle", (ctx) => ctx.child("low", low, undefined));
    const top = workflow("top", (ctx) => ctx.child("middle", middle, undefined));
    const { ids } = levels(() => 1);
    const engine = lab.engine([top, middle, low]);
    await lab.drive(engine.start(top, undefined, { id: ids.top }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.cancel("r", { actor: "ada" }));
    await lab.clock.advance(100);
    for (const id of Object.values(ids)) expect((await engine.get(id))?.status).toBe("cancelled");
    expect(aborted).toBe(true);
  });

  it("reaches children although the process dies right after the parent was cancelled", async () => {
    const lab = createLab();
    const { all, top, ids } = levels(() => hangs());
    const engine = lab.engine(all);
    await lab.drive(engine.start(top, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    // Written as the engine writes it, and nothing after that.
    const dying = lab.engine(all, { execute: false });
    const cancelling = dying.cancel("r");
    cancelling.catch(() => undefined);
    await lab.crash(engine);
    await lab.clock.advance(60_000);
    const next = lab.engine(all);
    await lab.drive(next.recover());
    await lab.clock.advance(60_000);
    for (const id of Object.values(ids)) expect((await next.get(id))?.status).toBe("cancelled");
    expect((await next.get("r"))?.wakeAt).toBeNull();
  });

  it("lets a child that was created too late not begin", async () => {
    const lab = createLab();
    const gate = signalled();
    let works = 0;
    const low = workflow("low", (ctx) => ctx.step("work", () => works++));
    const slowStore = {
      ...lab.store,
      append: async (batch: Parameters<typeof lab.store.append>[0]) => {
        if (batch.some(({ run }) => run.workflow === "low")) await gate.promise;
        return lab.store.append(batch);
      },
    };
    const top = workflow("top", (ctx) => ctx.child("low", low, undefined));
    const engine = lab.engine([top, low], { store: slowStore });
    await lab.drive(engine.start(top, undefined, { id: "r" }));
    await lab.clock.advance(50);
    const desk = lab.engine([], { execute: false });
    await lab.drive(desk.cancel("r"));
    gate.resolve();
    await lab.clock.advance(60_000);
    expect((await desk.get(childId("r", "low")))?.status).toBe("cancelled");
    expect(works).toBe(0);
  });

  it("with compensation undoes what the children did, too", async () => {
    const lab = createLab();
    const undone: string[] = [];
    const low = workflow("low", async (ctx) => {
      await ctx.step("book", () => "seat", { effect: "keyed", compensate: () => void undone.push("book") });
      await ctx.gate("wait", { choices: ["on"] });
    });
    const top = workflow("top", async (ctx) => {
      await ctx.step("hold", () => "card", { effect: "keyed", compensate: () => void undone.push("hold") });
      await ctx.child("low", low, undefined);
    });
    const engine = lab.engine([top, low]);
    await lab.drive(engine.start(top, undefined, { id: "r" }));
    await lab.drive(engine.settled(childId("r", "low")));
    await lab.drive(engine.cancel("r", { compensate: true }));
    await lab.clock.advance(60_000);
    expect(undone.sort()).toEqual(["book", "hold"]);
    expect((await engine.get("r"))?.status).toBe("cancelled");
    expect((await engine.get(childId("r", "low")))?.status).toBe("cancelled");
  });
});

describe("pausing a run with its children", () => {
  it("pauses them all, and resuming lets them all go on", async () => {
    const lab = createLab();
    const gate = signalled<string>();
    const { all, top, ids } = levels(() => gate.promise);
    const engine = lab.engine(all);
    await lab.drive(engine.start(top, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    await lab.drive(engine.pause("r", { children: true, actor: "ada", reason: "night" }));
    gate.resolve("done");
    await lab.clock.advance(1_000);
    for (const id of Object.values(ids)) expect((await engine.get(id))?.status).toBe("paused");
    await lab.drive(engine.resume("r", { children: true }));
    expect(await lab.drive(engine.result("r"))).toBe("done");
  });
});

describe("acts on all runs of a workflow", () => {
  it("pause, resume and cancel each of them and say which could not be", async () => {
    const lab = createLab();
    const waits = workflow("waits", (ctx) => ctx.gate("go", { choices: ["yes"] }));
    const other = workflow("other", (ctx) => ctx.gate("go", { choices: ["yes"] }));
    const engine = lab.engine([waits, other]);
    for (const id of ["a", "b", "c"]) await lab.drive(engine.start(waits, undefined, { id }));
    await lab.drive(engine.start(other, undefined, { id: "d" }));
    for (const id of ["a", "b", "c", "d"]) await lab.drive(engine.settled(id));
    await lab.drive(engine.cancel("c"));
    const statuses = async () =>
      Promise.all(["a", "b", "c", "d"].map(async (id) => (await engine.get(id))?.status));
    const paused = await lab.drive(engine.pauseAll({ workflow: "waits" }, { actor: "ada" }));
    expect([...paused.done].sort()).toEqual(["a", "b"]);
    expect(await statuses()).toEqual(["paused", "paused", "cancelled", "waiting"]);
    await lab.drive(engine.resumeAll({ workflow: "waits" }));
    for (const id of ["a", "b"]) await lab.drive(engine.settled(id));
    expect(await statuses()).toEqual(["waiting", "waiting", "cancelled", "waiting"]);
    await lab.drive(engine.cancelAll({ workflow: "waits" }));
    expect(await statuses()).toEqual(["cancelled", "cancelled", "cancelled", "waiting"]);
  });
});

describe("usage", () => {
  it("of a child counts for the run that started it, once, also when the child failed first", async () => {
    const lab = createLab();
    let works = false;
    const low = workflow("low", async (ctx) => {
      await ctx.step("a", () => ctx.usage({ tokens: 5, costUsd: 0.5 }));
      await ctx.step("b", () => {
        if (!works) throw Object.assign(new Error("no"), { retryable: false });
        ctx.usage({ tokens: 2, costUsd: 0.25 });
      });
    });
    const top = workflow("top", (ctx) => ctx.child("low", low, undefined));
    const engine = lab.engine([top, low]);
    await lab.drive(engine.start(top, undefined, { id: "r" }));
    expect(await code(lab.drive(engine.result("r")))).toBe("HF-2101");
    expect((await engine.get("r"))?.usage).toEqual({ tokens: 5, costUsd: 0.5 });
    works = true;
    await lab.drive(engine.resume("r"));
    await lab.drive(engine.result("r"));
    expect((await engine.get("r"))?.usage).toEqual({ tokens: 7, costUsd: 0.75 });
  });
});
