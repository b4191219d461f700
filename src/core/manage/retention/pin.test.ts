import { describe, expect, it } from "vitest";
import { createLab } from "../../../../test/support/lab.ts";
import {
  chat,
  checkpointsOf,
  codeOf,
  journal,
  rowOf,
  run,
  stateAt,
} from "../../../../test/support/retention.ts";
import { workflow } from "../../../index.ts";

const inner = workflow("inner", (ctx) => ctx.step("work", () => "value"));
const outer = workflow("outer", (ctx) => ctx.child("below", inner, undefined));
const fails = workflow("fails", (ctx, text: string) =>
  ctx.step("break", () => Promise.reject(new Error(text)), { retry: false }),
);
const ALL = { maxAge: 0, failedMaxAge: 0, keepLast: 1, keepPerPhase: 1 } as const;

describe("a pinned run", () => {
  it("keeps all its checkpoints whatever the rules say, until it is let go (S0-40)", async () => {
    const lab = createLab();
    const flow = chat(90);
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "a", "");
    const before = await journal(lab.store, "a");
    expect(await lab.drive(engine.retention.pin("a", { actor: "Ada", reason: "debugging" }))).toMatchObject({
      pinned: true,
    });
    expect((await lab.drive(engine.retention.prune(ALL))).runs).toEqual([]);
    await lab.drive(engine.cancel("a"));
    const report = await lab.drive(engine.retention.prune(ALL));
    expect(report).toMatchObject({ runs: [], skipped: [{ runId: "a", why: "pinned" }] });
    expect((await journal(lab.store, "a")).slice(0, before.length)).toEqual(before);
    expect(await lab.drive(engine.retention.unpin("a"))).toMatchObject({ pinned: false });
    expect((await lab.drive(engine.retention.prune(ALL))).runs).toMatchObject([{ runId: "a", pruned: true }]);
  });

  it("holds with the runs below it, of whatever status", async () => {
    const lab = createLab();
    const engine = lab.engine([outer, inner, fails]);
    await run(lab, engine, outer, "top");
    await run(lab, engine, fails, "failed", "no");
    for (const id of ["top", "failed"]) await lab.drive(engine.retention.pin(id));
    const report = await lab.drive(engine.retention.prune(ALL));
    expect(report.runs).toEqual([]);
    expect(report.skipped.map(({ why }) => why)).toEqual(["pinned", "pinned", "pinned"]);
  });

  it("is pinned once however often that is said, beside pins of its checkpoints", async () => {
    const lab = createLab();
    const flow = chat(60);
    const engine = lab.engine([flow]);
    await run(lab, engine, flow, "a", "");
    const early = (await checkpointsOf(lab.store, "a"))[20] as number;
    const state = await stateAt(lab.store, "a", early);
    await lab.drive(engine.retention.pin("a"));
    const { seq } = await rowOf(lab.store, "a");
    await lab.drive(engine.retention.pin("a"));
    expect((await rowOf(lab.store, "a")).seq).toBe(seq);
    await lab.drive(engine.checkpoints.pin(`a@${early}`));
    expect(await lab.drive(engine.retention.unpin("a"))).toMatchObject({ pinned: true });
    expect((await lab.drive(engine.retention.prune(ALL))).runs).toHaveLength(1);
    expect(await stateAt(lab.store, "a", early)).toEqual(state);
    await lab.drive(engine.checkpoints.unpin(`a@${early}`));
    expect((await rowOf(lab.store, "a")).pinned).toBe(false);
  });

  it("is not pinned for its forks", async () => {
    const lab = createLab();
    const engine = lab.engine([inner]);
    await run(lab, engine, inner, "a");
    await lab.drive(engine.retention.pin("a"));
    await lab.drive(engine.fork("a", { id: "b" }));
    expect(await lab.drive(engine.settled("b"))).toMatchObject({ pinned: false, status: "completed" });
    expect((await lab.drive(engine.retention.prune(ALL))).runs).toMatchObject([{ runId: "b" }]);
  });

  it("cannot be one that has lost its values, or that nobody knows", async () => {
    const lab = createLab();
    const engine = lab.engine([inner]);
    await run(lab, engine, inner, "a");
    await lab.drive(engine.retention.prune(ALL));
    expect(await codeOf(lab.drive(engine.retention.pin("a")))).toBe("HF-1023");
    expect(await codeOf(lab.drive(engine.retention.pin("nobody")))).toBe("HF-1001");
    expect(await codeOf(lab.drive(engine.retention.pin("a@3")))).toBe("HF-1004");
  });
});
