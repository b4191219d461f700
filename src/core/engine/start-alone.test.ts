import { describe, expect, it } from "vitest";
import { createLab, signalled } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";

/** A workflow whose runs end when the test says so. */
function stage() {
  const lab = createLab();
  const begun: string[] = [];
  const { promise, resolve: end } = signalled();
  const flow = workflow("flow", async (ctx, input: string) => {
    begun.push(input);
    await ctx.step("work", () => promise);
    return input;
  });
  const engines = [1, 2, 3].map(() => lab.engine([flow], { claimMs: 1_000_000_000 }));
  const [engine] = engines as [(typeof engines)[number]];
  const close = () => lab.drive(Promise.all(engines.map((one) => one.close())));
  return { lab, begun, end, flow, engines, engine, close };
}

describe("a singleton", () => {
  it("is one unended run of its key, however many start it at once", async () => {
    const { lab, begun, end, flow, engines, engine, close } = stage();
    const starts = engines.flatMap((one) =>
      Array.from({ length: 10 }, (_, n) => one.start(flow, `${n}`, { key: "ada", singleton: "join" })),
    );
    const runs = await lab.drive(Promise.all(starts));
    expect(new Set(runs.map(({ id }) => id)).size).toBe(1);
    const other = await lab.drive(engine.start(flow, "bob", { key: "bob", singleton: "join" }));
    expect(other.id).not.toBe(runs[0]?.id);
    end();
    await lab.drive(Promise.all([...runs, other].map((run) => run.result())));
    expect(begun).toHaveLength(2);
    const next = await lab.drive(engine.start(flow, "again", { key: "ada", singleton: "join" }));
    expect(next.id).not.toBe(runs[0]?.id);
    await lab.drive(next.result());
    await close();
  });

  it("refuses a second start if asked to, and names the run that is there", async () => {
    const { lab, end, flow, engine, close } = stage();
    const first = await lab.drive(engine.start(flow, "1", { id: "one", key: "ada", singleton: "refuse" }));
    const again = () => lab.drive(engine.start(flow, "2", { key: "ada", singleton: "refuse" }));
    await expect(again()).rejects.toMatchObject({ code: "HF-5060", detail: { run: "one", key: "ada" } });
    // The same id is the same run.
    await lab.drive(engine.start(flow, "1", { id: "one", key: "ada", singleton: "refuse" }));
    end();
    await lab.drive(first.result());
    await lab.drive((await again()).result());
    await close();
  });
});

describe("a debounced start", () => {
  it("begins once, with the last input, when no other start has come for so long", async () => {
    const { lab, begun, end, flow, engines, engine, close } = stage();
    end();
    const begin = lab.clock.now();
    const ids = new Set<string>();
    for (const [n, one] of [...engines, ...engines].entries()) {
      const options = { key: "ada", debounceMs: 10_000, config: { n }, actor: "web" };
      ids.add((await lab.drive(one.start(flow, `edit ${n}`, options))).id);
      await lab.clock.advance(4_000);
    }
    expect([ids.size, begun]).toEqual([1, []]);
    const [id = ""] = ids;
    expect((await engine.get(id))?.wakeAt).toBeGreaterThanOrEqual(begin + 5 * 4_000 + 10_000);
    await lab.drive(engine.work());
    expect(await lab.drive(engine.result(id))).toBe("edit 5");
    expect(begun).toEqual(["edit 5"]);
    expect(lab.clock.now() - begin).toBeGreaterThanOrEqual(30_000);
    await close();
  });

  it("starts another run when the one before has begun, also at the same moment", async () => {
    const { lab, begun, end, flow, engines, engine, close } = stage();
    end();
    await lab.drive(Promise.all(engines.map((one) => one.work())));
    const inputs: string[] = [];
    const ids: string[] = [];
    for (let n = 0; n < 40; n++) {
      const one = engines[n % 3] as typeof engine;
      const starting = one.start(flow, `${n}`, { key: "ada", debounceMs: 1_000 });
      await lab.clock.advance(n % 7 === 0 ? 3_000 : 250 * (n % 5));
      ids.push((await lab.drive(starting)).id);
      inputs.push(`${n}`);
    }
    await lab.drive(Promise.all([...new Set(ids)].map((id) => engine.result(id))));
    // Each run has the last input that it was started with, and nothing is lost in between.
    const last = new Map(ids.map((id, n) => [id, inputs[n] ?? ""]));
    expect([...begun].sort()).toEqual([...last.values()].sort());
    expect(last.size).toBeGreaterThan(3);
    await close();
  });

  it("is refused without a key, with options that contradict it, and where the store can't look", async () => {
    const { lab, flow, engine, close } = stage();
    for (const bad of [
      { debounceMs: 5 },
      { key: "a", debounceMs: 0 },
      { key: "a", debounceMs: 5, singleton: "join" },
      { key: "a", debounceMs: 5, startAt: 0 },
      { singleton: "join" },
      { key: "a", singleton: "maybe" },
    ])
      await expect(engine.start(flow, "x", bad as never)).rejects.toMatchObject({ code: "HF-1003" });
    Object.assign(lab.store, { capabilities: { ...lab.store.capabilities, limits: false } });
    const options = { key: "a", singleton: "join" } as const;
    await expect(lab.drive(engine.start(flow, "x", options))).rejects.toMatchObject({ code: "HF-5061" });
    await close();
  });
});
