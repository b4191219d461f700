import { randomBytes } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliFolder, cliFolder } from "../../../test/support/cli.ts";
import { createEngine } from "../../index.ts";
import { checkpointToJson } from "../../manage.ts";
import { openFileStore } from "../../stores/file/index.ts";

const FLOW = `
workflow: { name: example_task, entry_point: gather }
agents:
  - { name: gather, type: set, value: one, routes: [{ to: weigh }] }
  - { name: weigh, type: set, value: two, routes: [{ to: decide }] }
  - { name: decide, type: human_gate, prompt: Go on?, options: [{ label: "Yes", value: go, route: $end }] }
output: { answer: "{{ weigh.output }}" }
checkpoint_config: { compression: false, encryption: false }
`;

/** The document's own example. */
const DOCUMENT = {
  version: "1.0",
  checkpoint_id: "550e8400-e29b-41d4-a716-446655440000",
  workflow_id: "task_20240102_143022",
  timestamp: "2024-01-02T14:35:22Z",
  phase: 2,
  status: "in_progress",
  agents: {
    atlas: {
      status: "active",
      confidence: 0.92,
      last_decision: "spawn_additional_specialist",
      state: "YQ==",
    },
    mercury_1: {
      status: "completed",
      confidence: 0.87,
      output_ref: "phase2/specialist_1_output.md",
      state: "YQ==",
    },
  },
  decisions: [
    {
      timestamp: "2024-01-02T14:33:10Z",
      agent: "atlas",
      type: "workflow_adjustment",
      description: "Spawned additional specialist due to low confidence",
      rationale: "Mercury_1 confidence (0.73) below threshold (0.75)",
      alternatives_considered: ["request_human_review", "proceed_with_low_confidence"],
    },
  ],
  metrics: { elapsed_time: 185.4, api_calls: 42, tokens_used: 18500, memory_peak: 512.3 },
};

const TEAM_MODULE = new URL("../../team/index.ts", import.meta.url).href;

let folder: CliFolder;
let entries: string;
let names: string[];
beforeAll(async () => {
  folder = cliFolder();
  folder.write("flow.yaml", FLOW);
  expect((await folder.run("run flow.yaml --id t1")).code).toBe(75);
  entries = join(folder.path, "outputs/example_task/checkpoints/runs/t1");
  names = readdirSync(entries).filter((name) => name.startsWith("checkpoint_"));
});
afterAll(() => folder.remove());

const check = (file: string) => folder.run(`validate-checkpoint --file=${file}`);

describe("the debug commands of the checkpoint system design", () => {
  it("list the checkpoints of a task, by run or by workflow (S4-27)", async () => {
    for (const task of ["t1", "example_task"]) {
      const { code, stdout } = await folder.run(`list-checkpoints --task=${task}`);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/t1@\d+[\s\S]*weigh[\s\S]*gather/)]);
    }
    expect((await folder.run("list-checkpoints --task=nothing")).code).toBe(4);
    expect((await folder.run("list-checkpoints")).stdout).toContain("t1@");
  });

  it("compare two phases of a task (S4-28)", async () => {
    const { code, stdout } = await folder.run("diff-checkpoints --from=phase1 --to=phase2");
    expect([code, stdout]).toEqual([0, expect.stringMatching(/weigh/)]);
    expect((await folder.run("diff-checkpoints --task=t1 --from=gather --to=weigh")).stdout).toBe(stdout);
    expect((await folder.run("diff-checkpoints --task=t1 --from=phase1 --to=phase9")).code).not.toBe(0);
    expect((await folder.run("diff-checkpoints --from=phase1")).code).toBe(2);
  });

  it("replay a checkpoint that an option names (S4-28)", async () => {
    const { code, stdout } = await folder.run("replay --checkpoint=t1@phase2");
    expect([code, stdout]).toEqual([0, expect.stringContaining("nothing was called")]);
    expect((await folder.run("replay t1@phase2")).stdout).toBe(stdout);
    expect((await folder.run("replay")).code).toBe(2);
  });
});

describe("a checkpoint with a UUID", () => {
  const PHASES = `
const row = (n) => ({ checkpoint_id: "550e8400-e29b-41d4-a716-44665544000" + n, workflow_id: "p1", phase: n, status: "in_progress",
  agents: { atlas: { status: "active", confidence: 0.9 } }, decisions: [], metrics: { api_calls: n } });
export const phased = { name: "phased", version: "1", schema: 1, migrations: [], compensateOnFailure: false,
  async body(ctx) {
    for (const n of [1, 2]) {
      await ctx.step("work " + n, () => n);
      await ctx.checkpoint("phase " + n, { trigger: "phase_completed", record: { table: "phase_checkpoints", row: row(n) } });
    }
    return "end";
  } };
`;

  it("is found by it: replayed, compared, shown and gone on from (S4-28)", async () => {
    folder.write("phased.mjs", PHASES);
    const store = ["--store", `file:${join(folder.path, "phased")}`];
    const run = (line: string) => folder.run([...line.split(" "), ...store]);
    expect((await run("run phased.mjs --id p1")).code).toBe(0);
    const id = "550e8400-e29b-41d4-a716-446655440001";
    const { code, stdout } = await run(`replay --checkpoint=${id}`);
    expect([code, stdout]).toEqual([0, expect.stringContaining("1 of 1 steps replayed")]);
    const diff = await run(`diff-checkpoints --from=${id} --to=${id.slice(0, -1)}2`);
    expect([diff.code, diff.stdout]).toEqual([0, expect.stringContaining("work 2")]);
    expect((await run(`checkpoints show ${id}`)).stdout).toContain("phase 1");
    expect((await run(`resume --checkpoint-id ${id}`)).stdout).toContain("end");
    expect((await run(`replay --checkpoint=${id.slice(0, -1)}9`)).code).toBe(4);
    const [file = ""] = readdirSync(join(folder.path, "phased/runs/p1")).filter((name) =>
      name.startsWith("checkpoint_phase1"),
    );
    const healthy = join("phased/runs/p1", file);
    expect((await check(healthy)).stdout).toContain("its checksum is right");
    const text = readFileSync(join(folder.path, healthy), "utf8");
    folder.write(`hurt/${file}`, text.replace('"api_calls": 1', '"api_calls": 7'));
    expect((await check(`hurt/${file}`)).code).toBe(6);
  });
});

describe("a team with the document's configuration", () => {
  const TEAM = `
const phase = (n) => ({ name: "phase" + n,
  orchestrator: { name: "atlas", run: async (one) => { for (let i = 0; i < 6; i++) await one.createCheckpoint(); } },
  specialists: [defineAgent({ type: "mercury_" + n, version: "1.0",
    subtasks: [{ name: "write", deliverable: "draft", target: "files", run: () => "draft" }] })] });
export const team = defineTeam({ name: "example_task", phases: [phase(1), phase(2)],
  checkpoint_config: {}, recovery_config: {}, performance_config: {} });
`;
  const own = cliFolder();
  afterAll(() => own.remove());
  beforeAll(() => void (process.env["HOLDFAST_KEYS"] = `k1:${randomBytes(32).toString("base64")}`));
  afterAll(() => void delete process.env["HOLDFAST_KEYS"]);
  const run = (line: string) => own.run(line);

  it("has five checkpoints for each phase, encrypted, and each is restored and whole (S4-07, S4-19, S4-27)", async () => {
    own.write("flow.ts", `import { defineAgent, defineTeam } from ${JSON.stringify(TEAM_MODULE)};${TEAM}`);
    const ran = await run("run flow.ts --id t1");
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining("completed")]);
    const listed = (await run("list-checkpoints --task=t1 --json")).json<{
      checkpoints: { id: string; phase: string }[];
    }>().checkpoints;
    for (const phase of ["phase1", "phase2"])
      expect(listed.filter((one) => one.phase === phase)).toHaveLength(5);
    for (const { id } of listed) expect((await run(`checkpoints show ${id}`)).code, id).toBe(0);
    const place = join(own.path, "outputs/example_task/checkpoints/runs/t1");
    const files = readdirSync(place).filter((name) => name.startsWith("checkpoint_phase"));
    expect(files.filter((name) => name.includes("_phase1_")).length).toBeLessThanOrEqual(5);
    for (const file of files) {
      const { code, stdout } = await run(`validate-checkpoint --file=${file}`);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/encrypted values[\s\S]*checksum is right/)]);
    }
    const [file = ""] = files;
    const text = readFileSync(join(place, file), "utf8");
    own.write(`hurt/${file}`, text.replace('"phase": 1', '"phase": 2'));
    expect((await run(`validate-checkpoint --file=hurt/${file}`)).code).toBe(6);
  });
});

describe("validate, given a file", () => {
  it("calls a healthy journal entry of a file store healthy (S4-24, S4-27)", async () => {
    for (const name of names) {
      const { code, stdout } = await folder.run(["validate", join(entries, name)]);
      expect([code, stdout]).toEqual([0, expect.stringContaining("its checksum is right")]);
    }
    // Only its name, as the document types it.
    expect((await check(names[0] ?? "")).code).toBe(0);
    expect((await check(join(entries, "newest.json"))).code).toBe(0);
    expect((await check(join(entries, "../../store.json"))).code).toBe(0);
  });

  it("calls an entry damaged when a byte changed, or when it is cut short (S4-24, S4-27)", async () => {
    const [name = ""] = names;
    const text = readFileSync(join(entries, name), "utf8");
    const at = text.indexOf("workflow_id") + 20;
    const flipped = `${text.slice(0, at)}${text[at] === "x" ? "y" : "x"}${text.slice(at + 1)}`;
    for (const broken of [flipped, text.slice(0, -40), text.slice(0, text.length / 2), ""]) {
      folder.write(`broken/${name}`, broken);
      const { code, stderr } = await folder.run(["validate", join(folder.path, "broken", name)]);
      expect([code, stderr]).toEqual([6, expect.stringContaining("HF-4359")]);
    }
  });

  it("says when a healthy entry lies under another name", async () => {
    mkdirSync(join(folder.path, "moved"), { recursive: true });
    copyFileSync(join(entries, names[0] ?? ""), join(folder.path, "moved/copy.json"));
    const { code, stdout } = await check("moved/copy.json");
    expect([code, stdout]).toEqual([0, expect.stringContaining("its name isn't the one")]);
  });

  it("takes the document's own example and exported checkpoints for what they are (S4-15, S4-27)", async () => {
    folder.write("checkpoint_phase2_20240102.json", JSON.stringify(DOCUMENT, null, 2));
    const { code, stdout } = await check("checkpoint_phase2_20240102.json");
    expect([code, stdout]).toEqual([0, expect.stringContaining(DOCUMENT.checkpoint_id)]);
    expect(stdout).toContain("phase 2, in_progress, 2 agents");
    const store = await openFileStore({ folder: join(folder.path, "outputs/example_task/checkpoints") });
    const engine = createEngine({ store, execute: false });
    writeFileSync(
      join(folder.path, "exported.json"),
      JSON.stringify(checkpointToJson(await engine.checkpoints.show("t1@phase2"))),
    );
    await engine.close();
    await store.close();
    expect((await check("exported.json")).code).toBe(0);
  });

  it("names what is wrong with a checkpoint's fields (S4-27)", async () => {
    const wrong = {
      ...DOCUMENT,
      status: "odd",
      agents: { atlas: { status: "active", confidence: 3 } },
      metrics: { api_calls: -1 },
      decisions: [{ description: "", timestamp: "never" }],
    };
    folder.write("checkpoint_phase2_1.json", JSON.stringify(wrong));
    const { code, stdout } = await folder.run("validate-checkpoint --file=checkpoint_phase2_1.json --json");
    expect(code).toBe(6);
    const { problems } = JSON.parse(stdout) as { problems: string[] };
    expect(problems).toEqual([
      "status must be one of in_progress, paused, completed, failed, cancelled.",
      "agents.atlas.confidence must be a number from 0 to 1.",
      "decisions[0].description must be a text.",
      "decisions[0].timestamp must be an ISO time.",
      "metrics.api_calls must be a number of 0 or more.",
    ]);
  });

  it("tells a foreign file from a damaged one (S4-27)", async () => {
    folder.write("package.json", JSON.stringify({ name: "x" }));
    folder.write("notes.json", "not json at all");
    for (const file of ["package.json", "notes.json"]) {
      const { code, stderr } = await check(file);
      expect([code, stderr]).toEqual([3, expect.stringContaining("HF-4362")]);
    }
    expect((await check("missing.json")).code).toBe(4);
    expect((await folder.run("validate-checkpoint")).code).toBe(2);
    expect((await folder.run("validate-checkpoint --file=")).code).toBe(2);
  });

  it("checks bundles as before, whatever they are called", async () => {
    expect((await folder.run("export t1 -o run.jsonl")).code).toBe(0);
    copyFileSync(join(folder.path, "run.jsonl"), join(folder.path, "run.backup"));
    for (const file of ["run.jsonl", "run.backup"])
      expect((await folder.run(`validate ${file}`)).stdout).toContain("1 run (t1)");
    const text = readFileSync(join(folder.path, "run.jsonl"), "utf8");
    folder.write("cut.jsonl", text.slice(0, -20));
    expect((await folder.run("validate cut.jsonl")).code).toBe(6);
  });
});
