import { describe, expect, it } from "vitest";
import { createLab } from "../../test/support/lab.ts";
import { sealedBefore, testKeyring } from "../../test/support/sealed.ts";
import { buildAct } from "../core/journal/acts.ts";
import type { EventDraft } from "../core/journal/events.ts";
import type { Store } from "../core/store/contract.ts";
import type { RunRow } from "../core/types.ts";
import { workflow } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { sealStore } from "./index.ts";
import { writeOutside } from "./outside-write.ts";
import { ROOT_RUN } from "./root.ts";
import { keyAddress } from "./wrapped-key.ts";

const flow = workflow("flow", async (ctx) => {
  await ctx.gate("ok", { choices: ["yes"] });
  return "done";
});

/** `marks`: the run is begun by a version that marks heads. */
async function sealedRun(marks = true) {
  const clock = createFakeClock();
  const inner = createMemoryStore({ clock });
  const keyring = testKeyring("k1");
  if (!marks) await sealedBefore(inner, keyring);
  const store = await sealStore(inner, { keyring });
  const lab = createLab(store);
  const { blinding: _, ...unmarked } = store;
  const engine = lab.engine([flow], { store: marks ? store : unmarked });
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.drive(engine.settled("r"));
  await lab.crash(engine);
  await lab.clock.advance(20_000);
  return { inner, lab, store };
}

/** Writes as an attacker with access to the database, including chain and row, but without a key. */
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

  it("is vouched for by a rotation, after which nothing unmarked is taken for a run (X5)", async () => {
    const { inner, lab, store } = await sealedRun(false);
    expect(await store.rotate()).toMatchObject({ complete: true, current: 1 });
    const engine = lab.engine([flow]);
    expect(await lab.drive(engine.checkpoints.validate("r"))).toMatchObject({ ok: true });
    await forge(inner, { kind: "run_resumed", step: "", meta: {} });
    expect((await lab.drive(engine.checkpoints.validate("r"))).ok).toBe(false);
    // The next rotation doesn't vouch for forged entries either.
    await store.rotate();
    expect((await lab.drive(engine.checkpoints.validate("r"))).ok).toBe(false);
    await lab.crash(engine);
  });
});

describe("a run that somebody without the key has made, or made anew", () => {
  it("is damage, since none of its heads is marked (X5)", async () => {
    const { inner, lab } = await sealedRun();
    const plain = createLab(createMemoryStore({ clock: createFakeClock() }));
    const forger = plain.engine([flow]);
    await plain.drive(forger.start(flow, undefined, { id: "forged" }));
    await plain.drive(forger.settled("forged"));
    await plain.crash(forger);
    const row = (await plain.store.read("forged")) as RunRow;
    const entries = await plain.store.entries("forged", { from: 1, limit: 100 });
    const append = { run: row, expect: null, claim: { kind: "keep" } as const, entries, head: row.head };
    expect(await inner.append([{ ...append, blobs: [] }])).toEqual([{ ok: true }]);
    const engine = lab.engine([flow]);
    expect(await lab.drive(engine.get("forged"))).toMatchObject({
      status: "waiting",
      damage: expect.any(String),
    });
    expect((await lab.drive(engine.reports.verify())).damaged.map(({ runId }) => runId)).toEqual(["forged"]);
    await lab.crash(engine);
  });
});

describe("a blob that nothing in an encrypted run's journal names", () => {
  it("is found, and the run's own key is none (D3)", async () => {
    const { inner, lab, store } = await sealedRun();
    const engine = lab.engine([flow]);
    const check = async () => (await lab.drive(engine.reports.verify())).damaged;
    expect(await check()).toEqual([]);
    await store.rotate();
    expect(await check()).toEqual([]);
    const keys = [{ hash: "stray", data: "who put this here?" }];
    const events: EventDraft[] = [{ kind: "values_read", step: "", meta: { what: "it", reason: "test" } }];
    await writeOutside({ inner, blinding: store.blinding }, "r", async () => ({ events, keys }));
    expect((await check())[0]?.problems[0]?.problem).toBe("Blobs that nothing in its journal names: 1.");
    await lab.crash(engine);
  });
});

describe("an encrypted store with marked heads", () => {
  it("is not opened by a version that does not know of marks (X5)", async () => {
    const { inner } = await sealedRun();
    // Such a version looks for the store's key here, and throws HF-3040 when it is missing.
    expect((await inner.blobs(ROOT_RUN, [keyAddress(ROOT_RUN, "k1")])).size).toBe(0);
    expect((await inner.blobs(ROOT_RUN, [keyAddress(ROOT_RUN, "k1", 2)])).size).toBe(1);
  });
});
