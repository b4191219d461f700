import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";
import { damaged } from "../journal/journal.ts";
import { silentLogger } from "../logger.ts";
import type { Store } from "../store/contract.ts";

const below = workflow("below", async (ctx) => (await ctx.gate("g", { choices: ["yes"] })).choice);
const above = workflow("above", (ctx) => ctx.child("below", below, undefined));

describe("a run whose parent is damaged", () => {
  it("goes on to its end, and the damage is told once (D10)", async () => {
    const lab = createLab();
    const engine = lab.engine([above, below]);
    await lab.drive(engine.start(above, undefined, { id: "above" }));
    await lab.drive(engine.settled("above"));
    await lab.crash(engine);
    await lab.clock.advance(20_000);
    const read: Store["read"] = async (id) => {
      if (id === "above") throw damaged(id, 3, "its checksum does not match.");
      return lab.store.read(id);
    };
    const told: string[] = [];
    const logger = { ...silentLogger, error: (message: string) => void told.push(message) };
    const other = lab.engine([above, below], { store: { ...lab.store, read }, logger });
    const [child] = (await lab.drive(other.list({ parent: "above" }))).runs;
    await lab.drive(other.answer(child?.id ?? "", "g", { choice: "yes" }));
    expect(await lab.drive(other.result(child?.id ?? ""))).toBe("yes");
    await lab.clock.advance(30_000);
    expect(told.filter((message) => message.includes("run above is damaged"))).toHaveLength(1);
    expect(await lab.drive(other.get("above"))).toMatchObject({
      status: "waiting",
      waiting: [{ kind: "review" }],
    });
    await lab.crash(other);
  });
});
