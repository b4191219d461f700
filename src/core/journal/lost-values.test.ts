import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";
import type { Store } from "../store/contract.ts";

const flow = workflow("flow", async (ctx) => {
  await ctx.step("first", () => "one");
  await ctx.signal("go");
  return ctx.step("second", () => "two");
});

/** A store that has lost what the journal's entries hold. */
const withoutData = (store: Store): Store => ({
  ...store,
  entries: async (runId, range) =>
    (await store.entries(runId, range)).map((entry) => ({ ...entry, data: null })),
});

describe("values that are gone", () => {
  it("are damage where no retention has dropped them (D11)", async () => {
    const lab = createLab();
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "ended" }));
    await lab.drive(engine.signal("ended", "go", "on"));
    await lab.drive(engine.result("ended"));
    await lab.drive(engine.start(flow, undefined, { id: "open" }));
    await lab.drive(engine.settled("open"));
    await lab.crash(engine);
    const other = lab.engine([flow], { store: withoutData(lab.store) });
    await expect(lab.drive(other.result("ended"))).rejects.toMatchObject({ code: "HF-3010" });
    await lab.drive(other.signal("open", "go", "on").catch(() => undefined));
    expect(await lab.drive(other.settled("open"))).toMatchObject({
      status: "waiting",
      waiting: [{ kind: "review", detail: expect.stringContaining("HF-3010") }],
    });
    await lab.crash(other);
  });

  it("are not looked for again in a journal that every resume makes longer (D11)", async () => {
    const lab = createLab();
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "open" }));
    await lab.drive(engine.settled("open"));
    await lab.crash(engine);
    const other = lab.engine([flow], { store: withoutData(lab.store) });
    await lab.drive(other.signal("open", "go", "on"));
    const { seq } = await lab.drive(other.settled("open"));
    for (let time = 1; time <= 3; time++)
      await expect(lab.drive(other.resume("open"))).rejects.toMatchObject({ code: "HF-3010" });
    expect((await lab.store.read("open"))?.seq).toBe(seq);
    await lab.crash(other);
    // The values are back: now it goes on.
    const mended = lab.engine([flow]);
    await lab.drive(mended.resume("open"));
    expect(await lab.drive(mended.result("open"))).toBe("two");
    await lab.crash(mended);
  });
});
