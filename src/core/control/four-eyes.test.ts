import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";

const pay = workflow("pay", async (ctx) => {
  const { choice, actor } = await ctx.gate("approve", { choices: ["yes", "no"], fourEyes: true });
  return `${choice} by ${actor}`;
});
const above = workflow("above", (ctx) => ctx.child("pay", pay, undefined));
const asked = workflow("asked", (ctx) => ctx.step("send", () => "sent", { effect: "once", input: 1 }));

async function started(flow: typeof pay, id: string, actor?: string) {
  const lab = createLab();
  const policy = { version: "1", decide: () => ({ ask: "two people", fourEyes: true }) } as const;
  const engine = lab.engine([pay, above, asked], flow === asked ? { policy } : {});
  await lab.drive(engine.start(flow, undefined, { id, ...(actor === undefined ? {} : { actor }) }));
  await lab.drive(engine.settled(id));
  const answer = (run: string, by?: string, gate = "approve", choice = "yes") =>
    lab.drive(engine.answer(run, gate, { choice, ...(by === undefined ? {} : { actor: by }) }));
  return { lab, engine, answer };
}

describe("a gate that needs a second person (A8)", () => {
  it("takes no answer from whoever started the run, and stays open", async () => {
    const { engine, lab, answer } = await started(pay, "r", "ada");
    await expect(answer("r", "ada")).rejects.toMatchObject({ code: "HF-6052" });
    await expect(answer("r", "ada", "approve", "no")).rejects.toMatchObject({ code: "HF-6052" });
    expect(await engine.gates("r")).toMatchObject([{ gate: "approve", fourEyes: true }]);
    await answer("r", "ben");
    expect(await lab.drive(engine.result("r"))).toBe("yes by ben");
  });

  it("takes none from somebody without a name, even if nobody knows who started it", async () => {
    const { answer, engine, lab } = await started(pay, "r");
    await expect(answer("r")).rejects.toMatchObject({ code: "HF-6052" });
    await answer("r", "ben");
    expect(await lab.drive(engine.result("r"))).toBe("yes by ben");
  });

  it("in a child asks who started the run above it", async () => {
    const { engine, answer } = await started(above, "r", "ada");
    const [gate] = await engine.gates();
    await expect(answer(gate!.runId, "ada", gate!.gate)).rejects.toMatchObject({ code: "HF-6052" });
    await answer(gate!.runId, "ben", gate!.gate);
  });

  it("in a fork takes none from whoever started the source or forked it", async () => {
    const { engine, lab, answer } = await started(pay, "r", "ada");
    const { seq } = (await engine.get("r"))!;
    await lab.drive(engine.fork(`r@${seq}`, { id: "f", actor: "ben" }));
    await lab.drive(engine.settled("f"));
    for (const by of ["ada", "ben"]) await expect(answer("f", by)).rejects.toMatchObject({ code: "HF-6052" });
    await answer("f", "cleo");
  });

  it("can be what a policy asks for", async () => {
    const { engine, lab, answer } = await started(asked as unknown as typeof pay, "r", "ada");
    const [gate] = await engine.gates("r");
    expect(gate!.means).toMatchObject({ approve: expect.stringContaining("exactly these arguments") });
    await expect(answer("r", "ada", gate!.gate, "approve")).rejects.toMatchObject({ code: "HF-6052" });
    await answer("r", "ben", gate!.gate, "approve");
    expect(await lab.drive(engine.result("r"))).toBe("sent");
  });

  it("is refused as an option that isn't true or false", async () => {
    const lab = createLab();
    const wrong = { choices: ["yes"], fourEyes: "yes" } as unknown as { choices: ["yes"] };
    const odd = workflow("odd", (ctx) => ctx.gate("approve", wrong));
    const engine = lab.engine([odd]);
    await lab.drive(engine.start(odd, undefined, { id: "r" }));
    await expect(lab.drive(engine.result("r"))).rejects.toMatchObject({ code: "HF-2101" });
  });

  it("costs other gates nothing: who started the run is recorded all the same", async () => {
    const { engine } = await started(pay, "r", "ada");
    const { lines } = await engine.reports.trail("r");
    expect(lines[0]).toMatchObject({ kind: "run_created", actor: "ada" });
  });
});
