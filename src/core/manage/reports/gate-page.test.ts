import { describe, expect, it } from "vitest";
import { createLab } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";

const ask = workflow("ask", async (ctx, gates: number) => {
  const asked = Array.from({ length: gates }, (_, index) =>
    ctx.gate(`g${index}`, { show: index, choices: ["ok"] }),
  );
  await Promise.all(asked);
});
const wait = workflow("wait", async (ctx) => {
  await ctx.signal("go");
});

describe("pages of gates", () => {
  it("have every open gate once, those of the newest run first (S1-31)", async () => {
    const lab = createLab();
    const engine = lab.engine([ask, wait]);
    for (let n = 0; n < 7; n++) {
      await lab.clock.advance(1);
      await lab.drive(engine.start(ask, 1 + (n % 2), { id: `ask-${n}` }));
      await lab.drive(engine.start(wait, undefined, { id: `wait-${n}` }));
      await lab.drive(engine.settled(`ask-${n}`));
      await lab.drive(engine.settled(`wait-${n}`));
    }
    const pages: string[][] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await engine.reports.gates({ limit: 3, ...(cursor === undefined ? {} : { cursor }) });
      pages.push(page.gates.map(({ runId, gate }) => `${runId}/${gate}`));
      ({ cursor } = page);
    }
    expect(pages.slice(0, 2)).toEqual([
      ["ask-6/g0", "ask-5/g0", "ask-5/g1"],
      ["ask-4/g0", "ask-3/g0", "ask-3/g1"],
    ]);
    const all = (await engine.gates()).map(({ runId, gate }) => `${runId}/${gate}`);
    expect(pages.flat().sort()).toEqual(all.sort());
    const some = await engine.reports.gates({ where: ({ id }) => id === "ask-1" });
    expect(some.gates.map(({ gate }) => gate)).toEqual(["g0", "g1"]);
    expect(some.cursor).toBeNull();
    await expect(engine.reports.gates({ limit: 0 })).rejects.toMatchObject({ code: "HF-1003" });
  });
});
