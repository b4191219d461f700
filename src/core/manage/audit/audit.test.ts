import { describe, expect, it } from "vitest";
import { countingStore } from "../../../../test/support/counting-store.ts";
import { useFolders } from "../../../../test/support/folders.ts";
import { createLab } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";
import { auditKey, newAuditKey } from "../../../security/audit-key.ts";
import { createMemoryStore } from "../../../stores/memory.ts";
import { openSqliteStore } from "../../../stores/sqlite/index.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { BundleCheck } from "../../audit/proof/bundle.ts";
import { parseHead } from "../../audit/proof/checkpoint.ts";
import { leafHash, rootByInclusion } from "../../audit/proof/merkle.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Store } from "../../store/contract.ts";

const folder = useFolders("audit");

const flow = workflow("pay", async (ctx, n: number) => {
  await ctx.step("load", () => n);
  return ctx.step("send", () => n + 1);
});

const made = newAuditKey("example.com/audit");
const key = auditKey(made.privateKey);
const keys = [made.publicKey];

async function runs(lab: ReturnType<typeof createLab>, engine: Engine, ids: readonly string[]) {
  for (const id of ids) {
    await lab.drive(engine.start(flow, 1, { id }));
    await lab.drive(engine.result(id));
  }
}

describe("the audit log", () => {
  it("signs the heads of all runs that have moved, each once (S1-34, U2)", async () => {
    const lab = createLab();
    const engine = lab.engine([flow], { audit: { key } });
    await runs(lab, engine, ["a", "b"]);
    const { head } = await engine.audit.anchor();
    expect(parseHead(head.note)).toMatchObject({ origin: head.origin, size: 4 });
    expect((await engine.audit.anchor()).head).toEqual(head);
    await runs(lab, engine, ["c"]);
    const other = lab.engine([], { audit: { key } });
    const { head: next } = await other.audit.anchor();
    expect(next.size).toBe(5);
    const found = await engine.audit.verify({ keys, anchors: [{ name: "notebook", text: next.note }] });
    expect(found).toMatchObject({ ok: true, leaves: 5, anchored: { size: 5, by: "notebook" } });
    expect(found.acts).toEqual({ log_opened: 1, key_announced: 1, run_head: 3 });
    expect(found.newer).toEqual({ leaves: 0, runs: [], events: 0 });
  });

  it("finds a journal that was re-hashed as a whole, which no chain alone shows (X5)", async () => {
    const lab = createLab();
    const engine = lab.engine([flow], { audit: { key } });
    await runs(lab, engine, ["a", "b"]);
    const anchors = [{ name: "notebook", text: (await engine.audit.anchor()).head.note }];
    const { rehash } = await import("../../../../test/support/forgery.ts");
    const forged = lab.engine([], { store: await rehash(lab.store, "a") });
    expect((await forged.reports.verify()).damaged).toEqual([]);
    const found = await forged.audit.verify({ keys, anchors });
    expect(found.ok).toBe(false);
    expect(found.problems).toMatchObject([{ kind: "run", where: "a" }]);
  });

  it("costs a step nothing: no statement more than without it (U2)", async () => {
    const callsWith = async (audit: object): Promise<Record<string, number>> => {
      const clock = createFakeClock();
      const { store, counts } = countingStore(createMemoryStore({ clock }));
      const lab = createLab(store, clock);
      const engine = lab.engine([flow], audit);
      await lab.drive(engine.start(flow, 1, { id: "a" }));
      await lab.drive(engine.result("a"));
      return { ...counts.calls };
    };
    expect(await callsWith({ audit: { key } })).toEqual(await callsWith({}));
  });

  it("asks the store once for what is new, however much a run has written (U2)", async () => {
    const clock = createFakeClock();
    const { store, counts } = countingStore(createMemoryStore({ clock }));
    const lab = createLab(store, clock);
    const busy = workflow("busy", async (ctx) => {
      for (let n = 0; n < 500; n++) await ctx.step(`step-${n}`, () => n);
    });
    const engine = lab.engine([flow, busy], { audit: { key, events: 1e9 } });
    await runs(lab, engine, ["first"]);
    await engine.audit.anchor();
    await lab.drive(engine.start(busy, undefined, { id: "a" }));
    await lab.drive(engine.result("a"));
    counts.calls = {};
    await engine.audit.anchor();
    expect(counts.calls).toEqual({ changes: 1, now: 2 });
  });

  it("signs after 1,000 events, and after 60 s, by itself", async () => {
    const lab = createLab();
    const engine = lab.engine([flow], { audit: { key, events: 20 } });
    await runs(lab, engine, ["a", "b", "c"]);
    await lab.clock.advance(10);
    const first = await engine.audit.head();
    expect(first?.size).toBeGreaterThan(2);
    await runs(lab, engine, ["d"]);
    await lab.clock.advance(121_000);
    expect((await engine.audit.head())?.size).toBeGreaterThan(first?.size ?? 0);
    await runs(lab, engine, ["e"]);
    await lab.drive(engine.close());
    const { newer } = await lab.engine([]).audit.verify({ keys });
    expect(newer).toEqual({ leaves: 0, runs: [], events: 0 });
  });

  it("proves that a run's position is in a signed head", async () => {
    const lab = createLab();
    const engine = lab.engine([flow], { audit: { key } });
    await runs(lab, engine, ["a", "b", "c"]);
    await engine.audit.anchor();
    const proof = await engine.audit.prove("b");
    const root = rootByInclusion(
      leafHash(proof?.leaf ?? ""),
      proof?.index ?? -1,
      proof?.head.size ?? 0,
      (proof?.path ?? []).map((hash) => Buffer.from(hash, "base64")),
    );
    expect(root).toEqual(parseHead(proof?.head.note ?? "")?.root);
    expect(JSON.parse(proof?.leaf ?? "")).toMatchObject({ act: "run_head", run: "b" });
    expect(await engine.audit.prove("nobody")).toBeNull();
  });

  it("lets one key hand over to the next, and the old one counts no more", async () => {
    const lab = createLab();
    const second = newAuditKey("example.com/audit");
    const engine = lab.engine([flow], { audit: { key } });
    await runs(lab, engine, ["a"]);
    await engine.audit.anchor();
    await engine.audit.rotate(auditKey(second.privateKey), { actor: "Ada", reason: "yearly" });
    await runs(lab, engine, ["b"]);
    await expect(engine.audit.anchor()).rejects.toMatchObject({ code: "HF-3205" });
    const next = lab.engine([], { audit: { key: auditKey(second.privateKey) } });
    const anchors = [{ name: "notebook", text: (await next.audit.anchor()).head.note }];
    for (const trusted of [made.publicKey, second.publicKey])
      expect(await next.audit.verify({ keys: [trusted], anchors })).toMatchObject({ ok: true });
    const stranger = newAuditKey("example.com/audit");
    expect(await next.audit.verify({ keys: [stranger.publicKey], anchors })).toMatchObject({ ok: false });
    expect((await next.audit.list()).entries).toContainEqual(
      expect.objectContaining({ act: "audit_key_rotated", actor: "Ada", reason: "yearly" }),
    );
  });

  it("says that nothing is proven without a key, and what it can't see (U3)", async () => {
    const lab = createLab();
    const engine = lab.engine([flow]);
    await runs(lab, engine, ["a"]);
    await expect(engine.audit.anchor()).rejects.toMatchObject({ code: "HF-3203" });
    await engine.audit.record({ act: "thing_done", actor: "Ada" });
    const found = await engine.audit.verify();
    expect(found).toMatchObject({ ok: true, signed: null, anchored: null });
    expect(found.cannotSee.join(" ")).toContain("Nothing is signed");
  });

  it("is exported as a bundle that stands on its own", async () => {
    const lab = createLab();
    const engine = lab.engine([flow], { audit: { key } });
    await runs(lab, engine, ["a", "b"]);
    const { head } = await engine.audit.anchor();
    for (const journals of ["none", "heads", "full"] as const) {
      const check = new BundleCheck({ keys: [], anchors: [] });
      let lines = 0;
      for await (const line of engine.audit.export({ journals, actor: "Ada" })) {
        check.take(line.trimEnd());
        lines++;
      }
      const found = check.finish();
      expect(lines).toBeGreaterThan(5);
      expect(found).toMatchObject({ ok: true, signed: { size: head.size }, keysFrom: "log" });
      expect(found.journals?.runs ?? null).toBe(journals === "none" ? null : 2);
    }
  });

  it("takes a deletion for what it is, and a missing run for what that is", async () => {
    const lab = createLab();
    const engine = lab.engine([flow], { audit: { key } });
    await runs(lab, engine, ["a", "b"]);
    await engine.audit.anchor();
    await lab.drive(engine.delete("a", { actor: "Ada", reason: "asked to", tombstone: false }));
    await engine.audit.anchor();
    expect(await engine.audit.verify({ keys })).toMatchObject({ ok: true, journals: { deleted: 1 } });
    const { without } = await import("../../../../test/support/forgery.ts");
    const found = await lab.engine([], { store: without(lab.store, "b") }).audit.verify({ keys });
    expect(found.problems).toMatchObject([{ kind: "run", where: "b" }]);
  });

  it("keeps every leaf once while many processes write (U4)", async () => {
    const store: Store = await openSqliteStore({ file: `${folder()}/runs.db` });
    const clock = createFakeClock();
    const lab = createLab(store, clock);
    const engines = Array.from({ length: 6 }, () => lab.engine([], { audit: { key } }));
    await Promise.all(
      engines.flatMap((engine, who) =>
        Array.from({ length: 10 }, async (_, nth) => {
          await engine.audit.record({ act: "thing_done", actor: `p${who}`, what: String(nth) });
          if (nth % 4 === 0) await engine.audit.anchor();
        }),
      ),
    );
    const found = await engines[0]?.audit.verify({ keys });
    expect(found).toMatchObject({ ok: true, acts: { thing_done: 60, log_opened: 1, key_announced: 1 } });
    await store.close();
  });
});
