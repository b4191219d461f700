import { describe, expect, it } from "vitest";
import { damage } from "../../../../test/support/damage.ts";
import { createLab, hangs, type Lab } from "../../../../test/support/lab.ts";
import { type Engine, workflow } from "../../../index.ts";
import { hexDigest } from "../../hash.ts";
import type { Store } from "../../store/contract.ts";
import { evidenceBundle, manifestOf, readManifest } from "./bundle.ts";
import { drillOf } from "./drill.ts";
import { EVIDENCE_FORMATS, evidenceFile } from "./files.ts";
import { EVIDENCE_STYLE } from "./html.ts";

const HOSTILE = '</td><script>alert(1)</script> [x](javascript:alert(1)) | `a` \u202e "';

/** A mail whose worker dies while it is under way, settled by a person. */
async function settled(lab: Lab): Promise<Engine> {
  let calls = 0;
  const child = workflow("child", (ctx) => ctx.step("work", () => 1));
  const post = workflow("post", async (ctx) => {
    await ctx.child("part", child, undefined);
    return ctx.step("mail", () => (++calls === 1 ? hangs() : "sent"), { effect: "once" });
  });
  const first = lab.engine([post, child], { owner: "first" });
  await lab.drive(first.start(post, undefined, { id: "r" }));
  await lab.clock.advance(3_000);
  await lab.crash(first);
  await lab.clock.advance(20_000);
  const engine = lab.engine([post, child], { owner: "second" });
  await lab.drive(engine.recover());
  await lab.drive(engine.settled("r"));
  await lab.drive(
    engine.resolve("r", "mail", { action: "done", value: "sent", actor: "maria", reason: HOSTILE }),
  );
  await lab.drive(engine.result("r"));
  return engine;
}

const text = (evidence: Parameters<typeof evidenceFile>[0], format: (typeof EVIDENCE_FORMATS)[number]) =>
  evidenceFile(evidence, format).text;

describe("evidence", () => {
  it("has the four artefacts of one run and the runs it started, with the root cause of each finding (S1-56)", async () => {
    const lab = createLab();
    const engine = await settled(lab);
    const evidence = await lab.drive(engine.reports.evidence({ run: "r", by: "auditor" }));
    expect(evidence.trail).toMatchObject({ damaged: 0, more: false, trail: { run: "r", verified: true } });
    expect(evidence.trail?.runs.map(({ workflow: name }) => name)).toEqual(["post", "child"]);
    expect(evidence.recoveries?.incidents).toMatchObject([
      { run: "r", lost: "first", takenBy: "second", interrupted: [{ step: "mail", effect: "once" }] },
    ]);
    expect(evidence.effects).toMatchObject({
      violations: 0,
      findings: [
        { step: "mail", concern: "unknown", root: "worker lost", settled: { how: "done", actor: "maria" } },
      ],
    });
    expect(evidence.capacity).toMatchObject({ total: { runs: 2 } });
    expect(evidence.capacity).not.toHaveProperty("growth");
  });

  it("says what was edited, as the list of acts does", async () => {
    const lab = createLab();
    const flow = workflow("edited", async () => "done");
    const engine = lab.engine([flow]);
    await lab.drive(engine.start(flow, undefined, { id: "e" }));
    await lab.drive(engine.result("e"));
    await lab.drive(engine.fork("e", { id: "f", set: { config: { region: "north" } }, actor: "ada" }));
    const { acts } = await lab.drive(engine.reports.acts({ kind: "value_edited" }));
    expect(acts).toMatchObject([{ run: "f", actor: "ada", what: "config" }]);
    const [entry] = (await lab.drive(engine.audit.list({ act: "value_edited" }))).entries;
    expect(entry).toMatchObject({ run: "f", what: "config" });
    const evidence = await lab.drive(engine.reports.evidence({ run: "f", by: "auditor" }));
    expect(text(evidence, "md")).toContain("value edited: config");
  });

  it("counts an outage from the lost worker's last write, whatever people wrote meanwhile (S1-58)", async () => {
    const lab = createLab();
    let calls = 0;
    const flow = workflow("slow", (ctx) => ctx.step("read", () => (++calls === 1 ? hangs() : "read")));
    const first = lab.engine([flow], { owner: "first" });
    await lab.drive(first.start(flow, undefined, { id: "r" }));
    await lab.clock.advance(100);
    await lab.crash(first);
    await lab.clock.advance(50_000);
    const engine = lab.engine([flow], { owner: "second" });
    await lab.drive(engine.resume("r", { actor: "ada", reason: "it stands still" }));
    await lab.drive(engine.result("r"));
    const { recoveries } = await lab.drive(engine.reports.evidence({ run: "r", by: "auditor" }));
    expect(recoveries?.incidents).toHaveLength(1);
    expect(recoveries?.incidents[0]?.silentMs).toBeGreaterThan(50_000);
  });

  it("covers a month in UTC, with growth and the rate of expiry, and no other month (S1-56)", async () => {
    const lab = createLab();
    const engine = await settled(lab);
    const month = new Date(await lab.store.now()).toISOString().slice(0, 7);
    const evidence = await lab.drive(engine.reports.evidence({ month, by: "auditor" }));
    expect(evidence.trail?.runs).toHaveLength(2);
    expect(evidence.trail?.acts.map(({ actor, kind }) => [actor, kind])).toContainEqual([
      "maria",
      "step_resolved",
    ]);
    expect(evidence.capacity?.growth).toMatchObject({ days: 1, expired: 0, expiryRate: 0 });
    expect(evidence.capacity?.growth?.bytesPerDay).toBeGreaterThan(0);
    const other = await lab.drive(engine.reports.evidence({ month: "2001-02", by: "auditor" }));
    expect(other).toMatchObject({ trail: { runs: [], acts: [] }, recoveries: { incidents: [] } });
    await expect(engine.reports.evidence({ month: "2026-13", by: "x" })).rejects.toThrow(/2026-11/);
    await expect(engine.reports.evidence({ month, run: "r", by: "x" })).rejects.toThrow(/one run, one month/);
  });

  it("keeps hostile text as text in every format, without scripts or links (S1-56)", async () => {
    const lab = createLab();
    const engine = await settled(lab);
    const evidence = await lab.drive(engine.reports.evidence({ run: "r", by: HOSTILE }));
    const html = text(evidence, "html");
    expect(html).not.toMatch(/<script|javascript:[^<]*"/i);
    expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(html).toContain(`style-src ${EVIDENCE_STYLE}`);
    const md = text(evidence, "md");
    expect(md).not.toMatch(/(?<!\\)<script|(?<!\\)\[x(?<!\\)\]/);
    expect(md).toContain("\\<script\\>");
    for (const format of EVIDENCE_FORMATS) expect(text(evidence, format)).not.toContain("\u202e");
    const data = JSON.parse(text(evidence, "json")) as { madeAt: string; madeBy: string };
    expect(data.madeBy).toBe(HOSTILE);
    expect(data.madeAt).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it("says first that records are damaged or can't be read, and goes on with the others", async () => {
    const lab = createLab();
    await settled(lab);
    const asked = { since: 0, by: "auditor" };
    const changed = lab.engine([], { store: damage(lab.store), execute: false });
    const evidence = await lab.drive(changed.reports.evidence(asked));
    expect(evidence.trail?.damaged).toBe(2);
    expect(text(evidence, "md")).toContain("- ✗ The record of 2 of 2 runs is damaged");
    const store: Store = {
      ...lab.store,
      entries: async (runId, range) =>
        (await lab.store.entries(runId, range)).map((one) => (runId === "r" ? { ...one, head: "{" } : one)),
    };
    const torn = await lab.drive(lab.engine([], { store, execute: false }).reports.evidence(asked));
    expect(torn.trail).toMatchObject({ damaged: 1, unreadable: ["r"], runs: [{ verified: true }] });
    expect(torn.effects?.unreadable).toEqual(["r"]);
    expect(text(torn, "html")).toContain("It can&#39;t be read");
  });

  it("lists the digest of every file in a bundle, and signs the list", async () => {
    const lab = createLab();
    const engine = await settled(lab);
    const evidence = await lab.drive(engine.reports.evidence({ run: "r", by: "maria" }));
    const files = EVIDENCE_FORMATS.map((format) => evidenceFile(evidence, format));
    const manifest = manifestOf(evidence, files);
    expect([...(readManifest(manifest) ?? [])]).toEqual(
      files.map((file) => [file.name, hexDigest(file.text)]),
    );
    expect(readManifest("holdfast-evidence/v1\nx\n")).toBeNull();
    const { name, bytes } = await evidenceBundle(evidence, async (note) => `${note}\n— signed\n`);
    expect(name).toBe("evidence-run-r.zip");
    expect(Buffer.from(bytes).toString("latin1")).toContain("evidence-run-r.note");
  });

  it("takes the figures of a crash test as a recovery drill, and nothing else (S1-70)", () => {
    const report = {
      kind: "holdfast-crash-test",
      schema: 1,
      ok: true,
      workflow: { name: "pay", version: "1" },
      store: { name: "redis", durability: "power-loss" },
      machine: { holdfast: "0.1.0", node: "24" },
      startedAt: "2026-11-16T10:00:00.000Z",
      fault: "sigkill",
      kills: 12,
      struck: 12,
      held: 12,
      recoveryMs: { p50: 600, p95: 800, max: 900 },
      stepsLost: { most: 1, total: 7 },
      duplicates: 0,
    };
    expect(drillOf(report, "abc", "x.json")).toMatchObject({
      rto: { max: 900 },
      rpo: { most: 1 },
      sha256: "abc",
    });
    expect(drillOf({ schema: "holdfast/crash-test/v1", ok: true, report }, "abc", "x.json").struck).toBe(12);
    expect(() => drillOf({ ...report, kills: "12" }, "abc", "x.json")).toThrow(/x\.json/);
    expect(() => drillOf([], "abc", "x.json")).toThrow(/crash test/);
  });
});
