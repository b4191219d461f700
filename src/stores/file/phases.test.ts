import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { useFolders } from "../../../test/support/folders.ts";
import type { PhaseCheckpointRow } from "../../core/records.ts";
import { createEngine, workflow } from "../../index.ts";
import { accepted, creation, step } from "../../testing/conformance/index.ts";
import { checkPhaseFile, openFileStore } from "./index.ts";
import { phaseName } from "./names.ts";

const newFolder = useFolders("phases");

const row: PhaseCheckpointRow = {
  checkpoint_id: "550e8400-e29b-41d4-a716-446655440000",
  workflow_id: "task_20240102_143022",
  timestamp: "2024-01-02T14:35:22Z",
  phase: 2,
  status: "in_progress",
  agents: { atlas: { status: "active", confidence: 0.92, last_decision: "spawn_additional_specialist" } },
  decisions: [{ agent: "atlas", description: "Spawned one more", rationale: "0.73 is below 0.75" }],
  metrics: { elapsed_time: 185.4, api_calls: 42 },
};

const phases = workflow("phases", async (ctx) => {
  await ctx.checkpoint("phase 2", {
    trigger: "phase_completed",
    record: { table: "phase_checkpoints", row },
  });
  await ctx.checkpoint("again", {
    record: { table: "phase_checkpoints", row: { ...row, status: "completed" } },
  });
  await ctx.gate("go on", { choices: ["yes"] });
});

const FIRST = "checkpoint_phase2_20240102_143522.json";
const SECOND = "checkpoint_phase2_20240102_143522_2.json";

const phaseFiles = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.startsWith("checkpoint_phase"))
    .sort();

/** A run that waits after two checkpoints of phases; returns its folder. */
async function waiting(): Promise<{ readonly root: string; readonly folder: string }> {
  const root = newFolder();
  const store = await openFileStore({ folder: root });
  const engine = createEngine({ store, workflows: [phases] });
  const asked = new Promise((resolve) => engine.on("gate_waiting", resolve));
  await engine.start(phases, undefined, { id: "task" });
  await asked;
  await engine.close();
  await store.close();
  return { root, folder: path.join(root, "runs", "task") };
}

describe("the file of a phase", () => {
  it("stands beside the journal under the phase and the time, complete and readable (S4-06)", async () => {
    const { folder } = await waiting();
    expect(phaseFiles(folder)).toEqual([FIRST, SECOND]);
    const text = readFileSync(path.join(folder, FIRST), "utf8");
    expect(JSON.parse(text)).toMatchObject({ version: "1.0", ...row, run_id: "task" });
    expect(text).toMatch(/"checksum": "sha256:[0-9a-f]{64}"\n\}\n$/);
    expect(checkPhaseFile(Buffer.from(text))).toMatchObject({ ok: true, sealed: true, runId: "task", row });
  });

  it("is told apart from a damaged, a shortened, a foreign and an unsealed one (S4-06, S4-27)", async () => {
    const { folder } = await waiting();
    const bytes = readFileSync(path.join(folder, FIRST));
    const changed = Buffer.from(bytes.toString().replace("0.92", "0.99"));
    expect(checkPhaseFile(changed)).toEqual({ ok: false, problem: "its checksum does not match" });
    expect(checkPhaseFile(bytes.subarray(0, 200))).toMatchObject({ ok: false });
    expect(checkPhaseFile(Buffer.from("[]"))).toMatchObject({
      ok: false,
      problem: "it is not a JSON object",
    });
    expect(checkPhaseFile(Buffer.from('{"version":"1.0"}'))).toMatchObject({
      ok: false,
      problem: "its checkpoint_id is missing",
    });
    const plain = Buffer.from(JSON.stringify({ version: "1.0", ...row }));
    expect(checkPhaseFile(plain)).toMatchObject({ ok: true, sealed: false });
    expect(checkPhaseFile(Buffer.from(JSON.stringify({ ...row, version: "9.0" })))).toMatchObject({
      ok: false,
    });
  });

  it("stops no run when it is damaged, foreign or gone", async () => {
    const { root, folder } = await waiting();
    writeFileSync(path.join(folder, FIRST), "half a fi");
    writeFileSync(path.join(folder, "checkpoint_phase9_mine.json"), "{}");
    mkdirSync(path.join(folder, "checkpoint_phase8_folder.json"));
    const store = await openFileStore({ folder: root });
    expect(store.recovered).toEqual([]);
    expect((await store.records?.("task"))?.map(({ row: { status } }) => status)).toEqual(["completed"]);
    const engine = createEngine({ store, workflows: [phases] });
    await engine.answer("task", "go on", { choice: "yes" });
    await engine.result("task");
    await engine.close();
    await store.close();
    expect(phaseFiles(folder)).toContain("checkpoint_phase9_mine.json");
    expect(readFileSync(path.join(folder, FIRST), "utf8")).toBe("half a fi");
  });

  it("is removed at the next opening when its event never came", async () => {
    const root = newFolder();
    const store = await openFileStore({ folder: root });
    const record = { table: "phase_checkpoints", seq: 2, row: { version: "1.0", ...row } } as const;
    const created = await accepted(store, creation({ run: { id: "task" } }));
    await accepted(store, step(created, { records: [record] }));
    await store.close();
    const folder = path.join(root, "runs", "task");
    // As a crash would leave it between the file of the phase and the record of its event.
    const orphan = readFileSync(path.join(folder, FIRST), "utf8");
    const earlier = newFolder();
    const other = await openFileStore({ folder: earlier });
    await accepted(other, creation({ run: { id: "task" } }));
    await other.close();
    const place = path.join(earlier, "runs", "task");
    writeFileSync(path.join(place, "tmp"), orphan);
    renameSync(path.join(place, "tmp"), path.join(place, FIRST));
    const again = await openFileStore({ folder: earlier });
    expect(phaseFiles(place)).toEqual([]);
    await again.close();
  });

  it("has a name without the characters that file systems refuse", () => {
    expect(phaseName(3, "2024-01-02T14:35:22.999Z", 1)).toBe("checkpoint_phase3_20240102_143522.json");
    expect(phaseName(3, "2024-01-02T15:35:22+01:00", 3)).toBe("checkpoint_phase3_20240102_143522_3.json");
  });
});
