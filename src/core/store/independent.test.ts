import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../stores/memory.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { createEngine } from "../engine/engine.ts";
import { HoldfastError } from "../errors.ts";
import { seededIds } from "../ids.ts";
import { workflow } from "../workflow.ts";
import type { Store } from "./contract.ts";

const ANSWER_MS = 10_000;

/** A store that writes each run on its own, as Temporal does; run `mute` answers nobody while `isMute` is set. */
async function lab(code: "HF-7003" | "HF-7004") {
  const clock = createFakeClock();
  const inner = createMemoryStore({ clock });
  const trouble = { isMute: false };
  const answers = async (runIds: readonly string[]): Promise<void> => {
    if (!trouble.isMute || !runIds.includes("mute")) return;
    await new Promise<void>((resolve) => clock.setTimer(resolve, ANSWER_MS));
    throw new HoldfastError(code, { run: "mute", queue: "q", problem: "too large" });
  };
  const store: Store = {
    ...inner,
    capabilities: { ...inner.capabilities, independent: true },
    append: async (batch) => {
      await answers(batch.map(({ run }) => run.id));
      return inner.append(batch);
    },
    renew: async (batch) => {
      await answers(batch.map(({ runId }) => runId));
      return inner.renew(batch);
    },
  };
  const long = workflow("long", async (ctx, callMs: number) => {
    await ctx.step("call", () => new Promise<void>((resolve) => clock.setTimer(resolve, callMs)));
    return ctx.step("after", () => "done");
  });
  const engine = createEngine({ store, workflows: [long], clock, ids: seededIds(1), claimMs: 5_000 });
  return { clock, inner, trouble, long, engine };
}

describe.each(["HF-7003", "HF-7004"] as const)("a run that has a trouble of its own (%s)", (code) => {
  it("costs no other run its claim, its writes or its time", async () => {
    const { clock, inner, trouble, long, engine } = await lab(code);
    void engine.start(long, 5_000, { id: "mute" });
    void engine.start(long, 60_000, { id: "well" });
    await clock.advance(1_000);
    trouble.isMute = true;
    await clock.advance(30_000);
    const asked = engine.start(long, 20_000, { id: "late" });
    await clock.advance(1_000);
    await expect(Promise.race([asked, Promise.resolve("not yet")])).resolves.toMatchObject({ id: "late" });
    await clock.advance(64_000);
    expect(engine.health().store).toMatchObject({ state: "ok" });
    for (const id of ["well", "late"])
      expect(await inner.read(id)).toMatchObject({ status: "completed", recoveries: 0 });
    expect(await inner.read("mute")).toMatchObject({ status: "running" });
    trouble.isMute = false;
    await clock.advance(200_000);
    expect(await inner.read("mute")).toMatchObject({ status: "completed" });
    await engine.close();
  });
});
