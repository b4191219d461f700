import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";

const flow = workflow("flow", (ctx) => ctx.gate("ask", { choices: ["yes"] }));
const quick = workflow("quick", (ctx) => ctx.step("one", () => 1));

const reading = { actor: "ada", reason: "a customer complained", what: "state at #3" };

async function waiting() {
  const lab = createLab();
  const engine = lab.engine([flow, quick]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.drive(engine.settled("r"));
  return { lab, engine };
}

describe("reading values (A3, U4)", () => {
  it("is in the trail, with who, what and why, and the chain still verifies (S1-48)", async () => {
    const { lab, engine } = await waiting();
    await lab.drive(engine.reports.recordReading("r", reading));
    const { lines, actors, verified } = await lab.drive(engine.reports.trail("r"));
    expect(lines.at(-1)).toMatchObject({
      kind: "values_read",
      actor: "ada",
      reason: "a customer complained",
      meta: { what: "state at #3" },
    });
    expect(actors).toContainEqual({ actor: "ada", acts: { values_read: 1 } });
    expect(verified).toBe(true);
  });

  it("changes nothing about the run, which then goes on", async () => {
    const { lab, engine } = await waiting();
    const before = await engine.get("r");
    await lab.drive(engine.reports.recordReading("r", reading));
    const after = await engine.get("r");
    const { status, control, wakeAt, stepsDone, usage, waiting: waits } = before!;
    expect(after).toMatchObject({ status, control, wakeAt, stepsDone, usage, waiting: waits });
    await lab.drive(engine.answer("r", "ask", { choice: "yes", actor: "ada" }));
    expect(await lab.drive(engine.result("r"))).toMatchObject({ choice: "yes" });
  });

  it("of a run that has ended is recorded too", async () => {
    const { lab, engine } = await waiting();
    await lab.drive(engine.start(quick, undefined, { id: "q" }));
    await lab.drive(engine.result("q"));
    await lab.drive(engine.reports.recordReading("q", reading));
    expect((await engine.get("q"))?.status).toBe("completed");
    expect((await engine.reports.trail("q")).lines.at(-1)?.kind).toBe("values_read");
  });

  it("isn't possible without somebody and a reason, or of a run that doesn't exist", async () => {
    const { engine } = await waiting();
    for (const wrong of [{ reason: "" }, { reason: "  " }, { actor: "" }])
      await expect(engine.reports.recordReading("r", { ...reading, ...wrong })).rejects.toMatchObject({
        code: "HF-6064",
      });
    await expect(engine.reports.recordReading("none", reading)).rejects.toMatchObject({ code: "HF-1001" });
  });
});
