import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";

const flow = workflow("flow", (ctx) => ctx.gate("ok", { choices: ["yes"] }));
const WHO = { actor: "ada", reason: "wrong customer" };

describe("an engine that requires a reason", () => {
  it("refuses pause, resume, cancel and inject without an actor and a reason (S1-55)", async () => {
    const lab = createLab();
    const engine = lab.engine([flow], { requireReason: true });
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const refused = { code: "HF-4365" };
    for (const act of [{}, { actor: "ada" }, { reason: "why" }, { actor: "", reason: "why" }]) {
      await expect(engine.pause("r", act)).rejects.toMatchObject(refused);
      await expect(engine.resume("r", act)).rejects.toMatchObject(refused);
      await expect(engine.cancel("r", act)).rejects.toMatchObject(refused);
      await expect(engine.inject("r", "context", act)).rejects.toMatchObject(refused);
    }
    expect((await engine.pauseAll({ workflow: "flow" })).refused).toHaveLength(1);
    await lab.drive(engine.pause("r", WHO));
    await lab.drive(engine.resume("r", WHO));
    await lab.drive(engine.cancel("r", WHO));
    const trail = await engine.reports.trail("r");
    const acts = trail.lines.filter(({ actor }) => actor === "ada");
    expect(acts.map(({ reason }) => reason)).toEqual(acts.map(() => "wrong customer"));
    expect(acts.length).toBeGreaterThanOrEqual(3);
  });

  it("is not the default: acts without either are recorded as they are", async () => {
    const lab = createLab();
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.settled("r"));
    expect(await lab.drive(engine.pause("r"))).toMatchObject({ status: "paused" });
  });

  it("records why a run was started, and asks for no reason there (S1-55)", async () => {
    const lab = createLab();
    const engine = lab.engine([flow], { requireReason: true });
    await lab.drive(engine.start(flow, undefined, { id: "r", ...WHO }));
    await lab.drive(engine.start(flow, undefined, { id: "bare" }));
    const [created] = (await engine.reports.trail("r")).lines;
    expect(created).toMatchObject({ kind: "run_created", ...WHO });
    expect((await engine.reports.trail("bare")).lines[0]?.reason ?? null).toBe(null);
    await expect(engine.start(flow, undefined, { reason: "x".repeat(4_001) })).rejects.toMatchObject({
      code: "HF-1003",
    });
  });

  it("records why a debounced start came again", async () => {
    const lab = createLab();
    const engine = lab.engine([flow]);
    const start = (reason: string) =>
      lab.drive(engine.start(flow, undefined, { key: "k", debounceMs: 60_000, reason }));
    await start("first");
    const { id } = await start("second");
    const { lines } = await engine.reports.trail(id);
    expect(lines.flatMap(({ reason }) => reason ?? [])).toEqual(["first", "second"]);
  });
});
