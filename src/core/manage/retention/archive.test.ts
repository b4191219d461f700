import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../../test/support/lab.ts";
import { chat, journal, rowOf, run } from "../../../../test/support/retention.ts";
import { workflow } from "../../../index.ts";
import type { ArchiveBundle } from "../../../manage.ts";
import type { Store } from "../../store/contract.ts";

const greet = workflow("greet", (ctx, name: string) => ctx.step("say", () => `Hello ${name}`));

async function contentOf({ run: row, entries, blobs }: ArchiveBundle): Promise<string> {
  const all: unknown[] = [row];
  for await (const entry of entries) all.push(entry);
  for await (const blob of blobs) all.push(blob);
  return JSON.stringify(all);
}

/** The store of a process that dies at its first write that drops something, before or after it was made. */
function mortal({ store }: Lab, side: "before" | "after"): Store {
  return {
    ...store,
    append: async (batch) => {
      if (side === "after") await store.append(batch);
      return hangs();
    },
  };
}

describe("an archive", () => {
  it("is given the same content again when the process died before anything was dropped, and else not", async () => {
    for (const side of ["before", "after"] as const) {
      const lab = createLab();
      const flow = chat(40);
      const engine = lab.engine([flow]);
      await run(lab, engine, flow, "a", "i".repeat(20_000));
      await lab.drive(engine.cancel("a"));
      await lab.crash(engine);
      const archived: string[] = [];
      const archive = async (bundle: ArchiveBundle) => void archived.push(await contentOf(bundle));
      const dying = lab.engine([], { execute: false, store: mortal(lab, side) });
      void dying.retention.prune({ maxAge: 0, archive }, { batch: 9 });
      await lab.clock.advance(1_000);
      expect(archived).toHaveLength(1);
      const next = lab.engine([], { execute: false });
      expect((await lab.drive(next.retention.prune({ maxAge: 0, archive }))).runs).toMatchObject([
        { pruned: true },
      ]);
      expect(archived, side).toEqual(side === "before" ? [archived[0], archived[0]] : [archived[0]]);
    }
  });

  it("that does not answer is given up after its time, and the other runs go on", async () => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    for (const id of ["a", "b"]) await run(lab, engine, greet, id, id);
    const signals: AbortSignal[] = [];
    const archive = ({ run: { id } }: ArchiveBundle, { signal }: { signal: AbortSignal }) => {
      signals.push(signal);
      return id === "a" ? hangs() : Promise.resolve();
    };
    const report = await lab.drive(engine.retention.prune({ maxAge: 0, archive, archiveTimeout: "90s" }));
    expect(report.runs).toMatchObject([{ runId: "b", pruned: true }]);
    expect(report.skipped).toEqual([
      { runId: "a", workflow: "greet", why: "archive failed", detail: "It took longer than 90000 ms." },
    ]);
    expect((await rowOf(lab.store, "a")).prunedAt).toBeNull();
    expect((await journal(lab.store, "a")).some(({ data }) => data !== null)).toBe(true);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
  });

  it("that does not answer does not hold up the end of the process, and is told to stop", async () => {
    const lab = createLab();
    let told: AbortSignal | undefined;
    const archive = (_: ArchiveBundle, { signal }: { signal: AbortSignal }) => ((told = signal), hangs());
    const engine = lab.engine([greet], { retention: { maxAge: 0, archive } });
    await run(lab, engine, greet, "a", "Ada");
    await lab.clock.advance(20_000);
    expect(told?.aborted).toBe(false);
    await lab.drive(engine.close());
    expect(told?.aborted).toBe(true);
    expect((await rowOf(lab.store, "a")).prunedAt).toBeNull();
  });

  it("may throw something that is no error, or at once: nothing of the run is dropped", async () => {
    const lab = createLab();
    const engine = lab.engine([greet]);
    await run(lab, engine, greet, "a", "");
    const thrown = [new Error("full"), "full", undefined, null, { toString: () => "odd" }];
    for (const value of thrown) {
      const archive = (): Promise<void> => Promise.reject(value as Error);
      const report = await lab.drive(engine.retention.prune({ maxAge: 0, archive }));
      expect(report).toMatchObject({ runs: [], skipped: [{ runId: "a", why: "archive failed" }] });
    }
    const archive = (): Promise<void> => {
      throw new Error("at once");
    };
    const report = await lab.drive(engine.retention.prune({ maxAge: 0, archive }));
    expect(report).toMatchObject({ runs: [], skipped: [{ why: "archive failed", detail: "at once" }] });
  });
});
