import { describe, expect, it } from "vitest";
import { createLab, hangs } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";
import { silentLogger } from "../../logger.ts";

const gated = workflow("gated", (ctx) => ctx.gate("approve", { choices: ["yes", "no"] }));
const slow = workflow("slow", (ctx) => ctx.step("think", hangs));

function listening() {
  const said: string[] = [];
  return { said, logger: { ...silentLogger, info: (message: string) => void said.push(message) } };
}

describe("a program that waits for a run", () => {
  it("is told once what the run waits for", async () => {
    const lab = createLab();
    const { said, logger } = listening();
    const engine = lab.engine([gated], { logger });
    await lab.drive(engine.start(gated, undefined, { id: "r" }));
    const result = engine.result("r");
    await lab.clock.advance(10_000);
    expect(said).toEqual([expect.stringMatching(/^r: waiting for approval at gate approve since /)]);
    await lab.drive(engine.answer("r", "approve", { choice: "yes" }));
    expect(await lab.drive(result)).toMatchObject({ choice: "yes" });
    expect(said).toHaveLength(1);
    await lab.drive(engine.close());
  });

  it("is told which process has the run", async () => {
    const lab = createLab();
    const { said, logger } = listening();
    const worker = lab.engine([slow], { owner: "worker-a" });
    await lab.drive(worker.start(slow, undefined, { id: "r" }));
    const reader = lab.engine([slow], { logger });
    const result = reader.result("r").catch((error: unknown) => error);
    await lab.clock.advance(5_000);
    expect(said).toEqual(["r: worker-a has it"]);
    await lab.crash(worker);
    await lab.drive(reader.close());
    await lab.drive(result);
  });
});
