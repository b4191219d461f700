import { describe, expect, it } from "vitest";
import { checkpointsOf, eventsOf } from "../../../../test/support/family.ts";
import { createLab, type Lab } from "../../../../test/support/lab.ts";
import { type HoldfastError, workflow } from "../../../index.ts";
import { buildEntry, parseEntry } from "../../journal/journal.ts";
import type { Drop } from "../../store/contract.ts";

/** Drops exactly these values, as retention may have done in some other way. */
async function forget(lab: Lab, runId: string, drop: Drop): Promise<void> {
  const row = await lab.store.read(runId);
  if (!row) throw new Error(`there is no run ${runId}`);
  const meta = { entries: drop.entries.length, blobs: drop.blobs.length };
  const place = { prev: row.head, seq: row.seq + 1, at: row.updatedAt, epoch: row.claim.epoch };
  const { entry, head } = buildEntry([{ kind: "values_dropped", step: "", meta }], place);
  const expected = { seq: row.seq, epoch: row.claim.epoch, token: null };
  const append = {
    run: row,
    expect: expected,
    claim: { kind: "keep" },
    entries: [entry],
    head,
    blobs: [],
    drop,
  } as const;
  expect(await lab.store.append([append])).toEqual([{ ok: true }]);
}

/** A long value, a short one, and a loop with snapshots after them. */
async function setup() {
  const lab = createLab();
  const flow = workflow("flow", async (ctx) => {
    const long = await ctx.step("long", () => "x".repeat(10_000));
    const short = await ctx.step("short", () => "short");
    const state = await ctx.loop("turn", { lines: [] as string[] }, async (draft, turn) => {
      draft.lines.push(await ctx.step("say", () => `${turn.index} ${"y".repeat(900)}`));
      return turn.index === 59 ? turn.done() : undefined;
    });
    await ctx.gate("ok", { choices: ["yes"] });
    return [long.length, short, state.lines.length];
  });
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  await lab.drive(engine.settled("r"));
  const entries = await lab.store.entries("r", { from: 1, limit: 1_000 });
  const completed = (step: string) => (event: { kind: string; step: string }) =>
    event.kind === "step_completed" && event.step === step;
  const at = (await checkpointsOf(lab.store, "r")).at(-1) ?? 0;
  const fork = () =>
    lab.drive(
      engine.fork(`r@${at}`, { id: "f" }).then(
        () => "made",
        (error: HoldfastError) => error.code,
      ),
    );
  return { lab, engine, entries, completed, fork, at };
}

describe("a copied journal", () => {
  it("is refused when a blob is gone that a finished step holds", async () => {
    const { lab, engine, completed, fork } = await setup();
    const data = (await eventsOf(lab.store, "r")).find(completed("long"))?.data;
    if (typeof data !== "object") throw new Error("the value should be a blob");
    await forget(lab, "r", { entries: [], blobs: [data.blob] });
    expect(await fork()).toBe("HF-1023");
    expect(await engine.get("f")).toBeNull();
  });

  it("is refused when a value is gone that only a snapshot's record refers to", async () => {
    const { lab, engine, entries, completed, fork } = await setup();
    const entry = entries.find((one) => parseEntry("r", one).events.some(completed("short")));
    await forget(lab, "r", { entries: [entry?.seq ?? 0], blobs: [] });
    expect(await fork()).toBe("HF-1023");
    expect(await engine.get("f")).toBeNull();
  });

  it("keeps what is dropped dropped, where nothing needs it any more", async () => {
    const { lab, engine, entries, fork, at } = await setup();
    const old = entries.find((one) => parseEntry("r", one).events.some(({ step }) => step === "turn[1]/say"));
    await forget(lab, "r", { entries: [old?.seq ?? 0], blobs: [] });
    expect(await fork()).toBe("made");
    const copied = (await lab.store.entries("f", { from: 1, limit: 1_000 })).find(
      ({ seq }) => seq === old?.seq,
    );
    expect(copied?.data).toBeNull();
    expect(parseEntry("f", copied as NonNullable<typeof copied>).pruned).toBe(true);
    await lab.drive(engine.settled("f"));
    if ((await lab.drive(engine.gates("f"))).length > 0)
      await lab.drive(engine.answer("f", "ok", { choice: "yes" }));
    expect(await lab.drive(engine.result("f"))).toEqual([10_000, "short", 60]);
    expect(at).toBeGreaterThan(old?.seq ?? 0);
  });

  it("holds only the blobs that its own entries point to", async () => {
    const { lab, engine } = await setup();
    const [first = 0] = await checkpointsOf(lab.store, "r");
    await lab.drive(engine.answer("r", "ok", { choice: "yes" }));
    await lab.drive(engine.result("r"));
    const hashes = (await eventsOf(lab.store, "r")).flatMap(({ seq, data }) =>
      typeof data === "object" ? [{ seq, hash: data.blob }] : [],
    );
    expect(hashes.some(({ seq }) => seq > first)).toBe(true);
    await lab.drive(lab.engine([], { execute: false }).fork(`r@${first}`, { id: "g" }));
    const kept = await lab.store.blobs(
      "g",
      hashes.map(({ hash }) => hash),
    );
    expect([...kept.keys()]).toEqual(hashes.filter(({ seq }) => seq <= first).map(({ hash }) => hash));
  });

  it("leaves out what belongs to later events of an entry that it cuts", async () => {
    const lab = createLab();
    const flow = workflow("flow", (ctx) =>
      ctx.loop("turn", { note: "" }, async (draft, turn) => {
        await ctx.step("say", () => turn.index);
        draft.note = `${turn.index} ${"z".repeat(2_000)}`;
        return turn.index === 1 ? turn.done() : undefined;
      }),
    );
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    await lab.crash(engine);
    const entries = await lab.store.entries("r", { from: 1, limit: 100 });
    const cut = entries.find(({ head }) => head.includes('"b":['));
    const [said] = parseEntry("r", cut as NonNullable<typeof cut>).events;
    expect(said).toMatchObject({ kind: "step_completed", step: "turn[0]/say" });
    const named = (JSON.parse(cut?.head ?? "{}") as { b: string[] }).b;
    await lab.drive(lab.engine([], { execute: false }).fork(`r@${said?.seq}`, { id: "f" }));
    expect(named.length).toBeGreaterThan(0);
    expect((await lab.store.blobs("f", named)).size).toBe(0);
  });
});
