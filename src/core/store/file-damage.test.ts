import { expect, it } from "vitest";
import { createEngine, HoldfastError, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { silentLogger } from "../logger.ts";

const flow = workflow("flow", async (ctx) => ctx.step("one", () => 1));
const above = workflow("above", (ctx) => ctx.child("below", flow, undefined));

it("a run whose part of the store's file is damaged is told of, and others go on (E2, D2)", async () => {
  const store = createMemoryStore();
  let tries = 0;
  const damaged: typeof store = {
    ...store,
    async append(batch) {
      const isBad = ({ run, claim }: (typeof batch)[number]) =>
        run.id.startsWith("bad") && claim.kind === "acquire";
      if (!batch.some(isBad)) return store.append(batch);
      tries++;
      throw new HoldfastError("HF-3014", { file: "runs.db", message: "database disk image is malformed" });
    },
  };
  const writer = createEngine({ store, workflows: [flow, above], execute: false });
  for (const id of ["bad", "good"]) await writer.start(flow, undefined, { id });
  await writer.close();
  const engine = createEngine({ store: damaged, workflows: [flow, above], logger: silentLogger, sweepMs: 5 });
  await expect(engine.result("bad")).rejects.toMatchObject({ code: "HF-3014" });
  expect(await engine.result("good")).toBe(1);
  await expect(engine.settled("bad")).rejects.toMatchObject({ code: "HF-3014" });
  const seen = tries;
  await engine.recover();
  expect(tries).toBe(seen);
  expect(engine.health().store.state).toBe("ok");
  // An act that the store takes shows that the run can be written again.
  await engine.pause("bad");
  expect((await engine.settled("bad")).status).toBe("paused");
  await engine.close();
});
