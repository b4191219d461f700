import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CliFolder, cliFolder } from "../../../test/support/cli.ts";

/** The document's own text. */
const BLOCKS = `checkpoint_config:
  enabled: true
  storage_path: "./outputs/{TASK}/checkpoints"
  compression: true
  encryption: true
  retention_days: 30
  max_checkpoints_per_phase: 5
  checkpoint_size_limit_mb: 100

recovery_config:
  auto_recovery: true
  max_recovery_attempts: 3
  recovery_timeout_seconds: 300
  fallback_to_previous: true

performance_config:
  async_writes: true
  batch_decisions: true
  compression_level: 6
  memory_mapped_threshold_mb: 10
`;

const FLOW = `
workflow: { name: example_task, entry_point: first }
agents:
  - { name: first, type: set, value: Rumpelstiltskin, routes: [{ to: decide }] }
  - { name: decide, type: human_gate, prompt: Go on?, options: [{ label: "Yes", value: go, route: $end }] }
output: { answer: "{{ first.output }}" }
`;

const folders: CliFolder[] = [];
let folder: CliFolder;
beforeEach(() => {
  folder = cliFolder();
  folders.push(folder);
});
afterEach(() => void delete process.env["HOLDFAST_KEYS"]);
afterAll(() => folders.forEach((one) => one.remove()));

const withKeys = (): void => {
  process.env["HOLDFAST_KEYS"] = `k1:${randomBytes(32).toString("base64")}`;
};

const textsIn = (place: string): string =>
  readdirSync(join(folder.path, place), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => readFileSync(join(one.parentPath, one.name), "utf8"))
    .join("\n");

/** Runs the workflow to its gate, answers it, and resumes it by name. */
async function throughTheGate(): Promise<string> {
  expect((await folder.run("run flow.yaml --id t1")).code).toBe(75);
  expect((await folder.run("list")).stdout).toContain("t1");
  expect((await folder.run("gate answer t1:decide --choice go")).code).toBe(0);
  const { code, stdout } = await folder.run("resume example_task");
  expect(code).toBe(0);
  return stdout;
}

describe("checkpoint_config, recovery_config and performance_config", () => {
  it("count in the configuration as the document writes them (S4-06, S4-19, S4-20, S4-21)", async () => {
    folder.write("holdfast.config.yaml", BLOCKS);
    folder.write("flow.yaml", FLOW);
    expect((await folder.run("run flow.yaml")).stderr).toMatch(/HF-3034[\s\S]*export HOLDFAST_KEYS=/);
    withKeys();
    expect(await throughTheGate()).toContain("Rumpelstiltskin");
    const stored = textsIn("outputs/example_task/checkpoints");
    expect(stored).toContain("first");
    expect(stored).not.toContain("Rumpelstiltskin");
  });

  it("count in a workflow file, whose runs every command finds (S4-19)", async () => {
    folder.write("flow.yaml", `${FLOW}${BLOCKS}`);
    withKeys();
    expect(await throughTheGate()).toContain("Rumpelstiltskin");
    expect(textsIn("outputs/example_task/checkpoints")).not.toContain("Rumpelstiltskin");
    expect((await folder.run("checkpoints list --workflow example_task")).stdout).toContain("t1@");
  });

  it("are shown with what each key means, and with those that do nothing (S4-21)", async () => {
    folder.write("holdfast.config.yaml", BLOCKS);
    const { stdout } = await folder.run("config show --json");
    const { values, notes } = JSON.parse(stdout) as {
      values: Record<string, { value: unknown; origin: string }>;
      notes: string[];
    };
    const shown = Object.fromEntries(Object.entries(values).map(([key, { value }]) => [key, value]));
    expect(shown).toMatchObject({
      enabled: true,
      storage: "file",
      path: "./outputs/{TASK}/checkpoints",
      compression: 6,
      encryption: true,
      size_limit: 104_857_600,
      "retention.max_age_days": 30,
      "retention.max_checkpoints_per_phase": 5,
      auto_recovery: true,
      max_recovery_attempts: 3,
      recovery_timeout: 300_000,
      fallback_to_previous: true,
      async_writes: true,
    });
    expect(values["encryption"]?.origin).toContain("checkpoint_config");
    expect(notes).toEqual([expect.stringContaining("memory_mapped_threshold_mb")]);
    expect((await folder.run("config validate")).stdout).toContain(
      "memory_mapped_threshold_mb has no effect",
    );
  });

  it("give way to a key written beside them, and to flags", async () => {
    folder.write("holdfast.config.yaml", `encryption: false\nmax_recovery_attempts: 7\n${BLOCKS}`);
    folder.write("flow.yaml", FLOW);
    expect(await throughTheGate()).toContain("Rumpelstiltskin");
    const { values } = (await folder.run("config show --json")).json<{
      values: Record<string, { value: unknown }>;
    }>();
    expect(values["max_recovery_attempts"]?.value).toBe(7);
    expect((await folder.run("run flow.yaml --id t2 --store sqlite:./own.db")).code).toBe(75);
    expect(existsSync(join(folder.path, "own.db"))).toBe(true);
  });

  it("turn saving off with enabled: false (S4-19)", async () => {
    folder.write("holdfast.config.yaml", "checkpoint_config: { enabled: false }\n");
    folder.write("flow.yaml", FLOW);
    const { code, stderr } = await folder.run("run flow.yaml");
    expect([code, stderr]).toEqual([1, expect.stringContaining("None of it is saved (enabled: false)")]);
    expect(existsSync(join(folder.path, "outputs"))).toBe(false);
  });

  it("are refused with the key that is wrong", async () => {
    folder.write("holdfast.config.yaml", "checkpoint_config: { retention_day: 3 }\n");
    expect((await folder.run("config validate")).stderr).toContain(
      "did you mean checkpoint_config.retention_days?",
    );
    folder.write("holdfast.config.yaml", "performance_config: { compression_level: 12 }\n");
    expect((await folder.run("config validate")).code).toBe(3);
    folder.write("flow.yaml", `${FLOW}recovery_config: { auto_recover: true }\n`);
    expect((await folder.run("validate flow.yaml --config /dev/null")).stdout).toContain(
      "Did you mean auto_recovery?",
    );
  });
});
