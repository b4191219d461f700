import { describe, expect, it } from "vitest";
import { createLab } from "../../test/support/lab.ts";
import { testKeyring } from "../../test/support/sealed.ts";
import { buildAct } from "../core/journal/acts.ts";
import type { EventDraft } from "../core/journal/events.ts";
import type { Store } from "../core/store/contract.ts";
import type { RunRow } from "../core/types.ts";
import { workflow } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { sealStore } from "./index.ts";

const flow = workflow("flow", async (ctx) => {
  await ctx.gate("ok", { choices: ["yes"] });
  return "done";
});

/** `marks`: whether it is begun by a version that marks heads. */
async function sealedRun(marks = true) {
  const clock = createFakeClock();
  const inner = createMemoryStore({ clock });
  const store = await sealStore(inner, { keyring: testKeyring("k1") });
  const lab = createLab(store);
  const { blinding: _, ...unmarked } = store;
  const engine = lab.engine([flow], { store: marks ? store : unmarked });
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.drive(engine.settled("r"));
  await lab.crash(engine);
  await lab.clock.advance(20_000);
  return { inner, lab };
}

/** Somebody who can write to the database, chain and row included, and has no key. */
async function forge(inner: Store, event: EventDraft): Promise<void> {
  const row = (await inner.read("r")) as RunRow;
  const expect = { seq: row.seq, epoch: row.claim.epoch, token: null };
  const { append } = buildAct(row, { events: [event] }, expect, { at: await inner.now() });
  const [result] = await inner.append([append]);
  if (!result?.ok) throw new Error("the forgery was not written");
}

const digest = "of the gate";
const forgeries: Readonly<Record<string, EventDraft>> = {
  "a call again": { kind: "step_resolved", step: "pay", meta: { action: "rerun" } },
  "an answer without a value": { kind: "gate_answered", step: "ok", meta: { digest, choice: "yes" } },
  "a budget": { kind: "budget_set", step: "", meta: { costUsd: 1_000_000 } },
  "an end": { kind: "run_completed", step: "", meta: {} },
  "a pause": { kind: "pause_requested", step: "", meta: {} },
  "a cancel": { kind: "run_cancelled", step: "", meta: {} },
  "a resume": { kind: "run_resumed", step: "", meta: {} },
};

describe("an event that somebody without the key has put into an encrypted store", () => {
  it.each(Object.entries(forgeries))("is met as damage: %s (X5)", async (_, event) => {
    const { inner, lab } = await sealedRun();
    await forge(inner, event);
    const engine = lab.engine([flow]);
    const { ok, problems } = await lab.drive(engine.checkpoints.validate("r"));
    expect([ok, problems[0]?.kind]).toEqual([false, "entry"]);
    await lab.crash(engine);
  });
});

describe("a run from before heads were marked", () => {
  it("goes on, and nothing unmarked may follow its first marked entry (X5)", async () => {
    const { inner, lab } = await sealedRun(false);
    const [first] = await inner.entries("r", { from: 1, limit: 1 });
    expect(first?.head).not.toContain('"m":');
    const engine = lab.engine([flow]);
    expect(await lab.drive(engine.checkpoints.validate("r"))).toMatchObject({ ok: true });
    await lab.drive(engine.signal("r", "news"));
    expect(await lab.drive(engine.checkpoints.validate("r"))).toMatchObject({ ok: true });
    await forge(inner, { kind: "run_resumed", step: "", meta: {} });
    expect((await lab.drive(engine.checkpoints.validate("r"))).ok).toBe(false);
    await lab.crash(engine);
  });
});
