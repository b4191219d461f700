import { describe, expect, it } from "vitest";
import { createLab } from "../../test/support/lab.ts";
import { workflow } from "../index.ts";
import { packStore } from "./packed-store.ts";

const TEXT = "every step is saved once. ".repeat(100);

const flow = workflow("flow", async (ctx) => {
  const read = await ctx.step("read", () => TEXT);
  const long = await ctx.step("long", () => TEXT.repeat(10));
  await ctx.sleep("pause", 60_000);
  return read.length + long.length;
});

describe("a compressed store that is opened without compression", () => {
  it("says so, and its runs go on where it is opened with it (HF-3120)", async () => {
    const lab = createLab();
    const packed = packStore(lab.store);
    const first = lab.engine([flow], { store: packed });
    await lab.drive(first.start(flow, undefined, { id: "run-1" }));
    await lab.drive(first.settled("run-1"));
    await lab.crash(first);
    const plain = lab.engine([flow]);
    await lab.clock.advance(70_000);
    await lab.drive(plain.recover());
    const run = await lab.drive(plain.settled("run-1"));
    expect(run.waiting).toMatchObject([{ kind: "key", detail: expect.stringContaining("HF-3120") }]);
    await expect(lab.drive(plain.checkpoints.show("run-1"))).rejects.toMatchObject({ code: "HF-3120" });
    await lab.crash(plain);
    const again = lab.engine([flow], { store: packed });
    await lab.clock.advance(600_000);
    expect(await lab.drive(again.result("run-1"))).toBe(11 * TEXT.length);
    await lab.crash(again);
  });
});
