import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useFlows } from "../../../test/support/cli-flows.ts";
import { checkConfig } from "./check.ts";
import { engineSettings, fileSettings } from "./engine-settings.ts";
import { SETTING_KEYS } from "./schema.ts";
import type { Settings } from "./settings.ts";
import { storeUrl, withoutPassword } from "./store-url.ts";

const folder = useFlows();

type Shown = { values: Record<string, { value: unknown; origin: string }> };
const shown = async (line = "", options = {}) =>
  (await folder.run(`config show --json ${line}`, options)).json<Shown>().values;

describe("the configuration", () => {
  it("says of each value where it comes from", async () => {
    folder.write(
      "holdfast.config.yaml",
      "store: sqlite:./runs.db\nmax_recovery_attempts: 5\nretention: { max_age_days: 3 }\nprofiles:\n  prod: { claim: 30s }\n",
    );
    const values = await shown("--profile prod --ui lines", { env: { HOLDFAST_ACTOR: "ada" } });
    expect(values["store"]).toEqual({ value: "sqlite:./runs.db", origin: "holdfast.config.yaml" });
    expect(values["retention.max_age_days"]).toEqual({ value: 3, origin: "holdfast.config.yaml" });
    expect(values["claim"]).toEqual({ value: "30s", origin: "profile prod" });
    expect(values["actor"]).toEqual({ value: "ada", origin: "env HOLDFAST_ACTOR" });
    expect(values["ui"]).toEqual({ value: "lines", origin: "flag --ui" });
    expect(values["enabled"]).toEqual({ value: true, origin: "default" });
  });

  it("is found in a folder above, and its paths start there", async () => {
    folder.write("holdfast.config.json", JSON.stringify({ workflows: ["./flows.mjs"] }));
    folder.write("deep/inside/x.json", "{}");
    const { code, stdout } = await folder.run("run greet -i name=Ada --id one", { cwd: "deep/inside" });
    expect([code, stdout]).toEqual([0, "Hello Ada\n"]);
    expect((await folder.until("one", () => true)).status).toBe("completed");
  });

  it("may be TypeScript, JavaScript, JSON or YAML, and named by hand", async () => {
    folder.write("holdfast.config.ts", "export const config = { claim: '9s' as string };");
    expect((await shown())["claim"]?.value).toBe("9s");
    folder.write("default.ts", "export default { claim: '7s' as string };");
    expect((await shown("--config default.ts"))["claim"]?.value).toBe("7s");
    folder.write("other.mjs", "export default { claim: '8s' };");
    expect((await shown("--config other.mjs"))["claim"]?.value).toBe("8s");
    expect((await shown("", { env: { HOLDFAST_CONFIG: "other.mjs" } }))["claim"]?.value).toBe("8s");
    expect((await folder.run("config validate --config missing.json")).code).toBe(4);
  });

  it("refuses keys that it does not know, and says which were meant", async () => {
    folder.write("holdfast.config.json", JSON.stringify({ stroe: "x", retention: { max_checkpoint: 3 } }));
    const { code, stderr } = await folder.run("config validate");
    expect(code).toBe(3);
    expect(stderr).toContain("stroe is unknown; did you mean store?");
    expect(stderr).toContain("retention.max_checkpoint is unknown; did you mean retention.max_checkpoints?");
    expect(checkConfig({ profiles: { prod: { clam: 1 } } }).problems).toEqual([
      "profiles.prod.clam is unknown; did you mean profiles.prod.claim?",
    ]);
  });

  it("says what is wrong with a value", () => {
    expect(checkConfig({ on_failure: "explode" }).problems[0]).toMatch(
      /^on_failure: .*"pause"\|"continue"\|"rollback"/,
    );
    expect(checkConfig({ claim: "soon" }).problems).toEqual([
      'claim: must be a number with a unit, such as "15s" or "10m"',
    ]);
    expect(checkConfig({ max_recovery_attempts: -1 }).problems[0]).toMatch(/^max_recovery_attempts: /);
    expect(checkConfig({ enabled: "yes" }).problems[0]).toMatch(/^enabled: /);
  });

  it("takes variables of the environment, so that secrets need not be in the file", async () => {
    folder.write("holdfast.config.yaml", "store: postgres://app:${DB_PASSWORD}@db/runs\n");
    const values = await shown("", { env: { DB_PASSWORD: "s3cret" } });
    expect(values["store"]?.value).toBe("postgres://app:…@db/runs");
    expect((await folder.run("config show")).stderr).toContain("the variable DB_PASSWORD is not set");
  });

  it("names a profile that does not exist", async () => {
    folder.write("holdfast.config.json", JSON.stringify({ profiles: { prod: {} } }));
    expect((await folder.run("config show --profile prd")).stderr).toContain("Did you mean prod?");
  });

  it("is published as a JSON schema with every key", async () => {
    const { stdout } = await folder.run("config schema");
    const schema = JSON.parse(stdout) as {
      properties: Record<string, object>;
      additionalProperties: boolean;
    };
    expect(Object.keys(schema.properties).sort()).toEqual([...SETTING_KEYS, "$schema", "profiles"].sort());
    expect(schema.additionalProperties).toBe(false);
    for (const key of SETTING_KEYS) expect(schema.properties[key], key).toHaveProperty("description");
  });

  it("means for the engine what its keys say (S3-14)", () => {
    const values = {
      enabled: false,
      claim: "20s",
      retention: { max_checkpoints: 10, max_age_days: 7, keep_successful: true },
      size_limit: "2MB",
      async_writes: true,
      auto_recovery: false,
      max_recovery_attempts: 1,
      recovery_timeout: "1m",
      fallback_to_previous: false,
      triggers: ["error_encountered"],
    } as unknown as Settings["values"];
    expect(engineSettings({ values } as Settings)).toEqual({
      saving: false,
      claimMs: 20_000,
      retention: {
        keepLast: 10,
        keepPer: "workflow",
        maxAge: 604_800_000,
        failedMaxAge: 604_800_000,
        checkpointMaxAge: 604_800_000,
        keepSuccessful: true,
      },
      limits: { valueBytes: 2_000_000 },
      onSaveFailure: "continue",
      recovery: { auto: false, maxAttempts: 1, timeoutMs: 60_000, fallbackToPrevious: false },
      triggers: {
        errors: true,
        phases: false,
        agents: false,
        evaluations: false,
        confidence: Number.MIN_VALUE,
        memoryPressure: 1,
      },
    });
  });

  it("gives way to what a workflow's file says about its own runs, and to nothing of other workflows", () => {
    const values = {
      claim: "15s",
      retention: { max_age_days: 30, cache_ttl: "12h" },
      size_limit: "2MB",
      recovery_timeout: "1m",
      max_recovery_attempts: 3,
    } as unknown as Settings["values"];
    const said = { retention: { keepLast: 10 }, recovery: { maxAttempts: 1 }, valueBytes: 5 };
    expect(fileSettings({ values } as Settings, "chat", said)).toMatchObject({
      retention: { cacheTtl: 43_200_000, maxAge: 2_592_000_000, workflows: { chat: { keepLast: 10 } } },
      recovery: { maxAttempts: 1, timeoutMs: 60_000 },
      limits: { valueBytes: 5 },
    });
  });

  it("names a store by kind and path, which may hold the workflow's name", () => {
    const at = (values: object, origin = "holdfast.config.yaml", workflow?: string) => {
      const origins = Object.fromEntries(Object.keys(values).map((key) => [key, origin]));
      return storeUrl(
        { root: "/p", file: undefined, values, origins } as unknown as Settings,
        "/here",
        workflow,
      );
    };
    expect(at({ store: "sqlite:./x.db" })).toBe("sqlite:/p/x.db");
    expect(at({ store: "sqlite:./x.db" }, "flag --store")).toBe("sqlite:/here/x.db");
    expect(at({ store: "runs.db" })).toBe("/p/runs.db");
    expect(at({ store: "postgres://h/d" })).toBe("postgres://h/d");
    expect(at({ storage: "sqlite", path: ".conductor/${workflow.name}/" }, "f", "ask")).toBe(
      "sqlite:/p/.conductor/ask/holdfast.db",
    );
    expect(at({ storage: "file", path: "./runs" })).toBe("file:/p/runs");
    expect(() => at({ path: "./${workflow.name}" })).toThrow(/names no workflow/);
    expect(() => at({ storage: "postgres" })).toThrow(/doesn't say where/);
    expect(withoutPassword("postgres://a:b@h/d")).toBe("postgres://a:…@h/d");
  });

  it("encrypts what is stored where that is configured", async () => {
    const keys = folder.write(
      "keys.json",
      JSON.stringify({ current: "k1", keys: { k1: randomBytes(32).toString("base64") } }),
    );
    chmodSync(keys, 0o600);
    folder.write(
      "holdfast.config.json",
      JSON.stringify({ encryption: { key_file: "./keys.json" }, compression: 9 }),
    );
    expect((await folder.run("run flows.mjs#greet -i name=Rumpelstiltskin --id s1")).stdout).toBe(
      "Hello Rumpelstiltskin\n",
    );
    const files = ["holdfast.db", "holdfast.db-wal"].map((name) => join(folder.path, ".holdfast", name));
    const text = files.map((file) => readIfThere(file)).join("");
    expect(text).toContain("look up");
    expect(text).not.toContain("Rumpelstiltskin");
    expect((await folder.run("resume s1")).stdout).toBe("Hello Rumpelstiltskin\n");
    folder.write("holdfast.config.json", JSON.stringify({ encryption: true }));
    expect((await folder.run("resume s1")).stderr).toContain("HOLDFAST_KEYS");
  });

  it("compresses what is stored where that is configured (S1-65, S2-23, S3-30, S4-05, S4-23)", async () => {
    folder.write("holdfast.config.json", JSON.stringify({ compression: true }));
    const long = "tell me more ".repeat(400);
    const { stdout } = await folder.run([
      "run",
      "flows.mjs#echo",
      "--id",
      "z1",
      "-i",
      JSON.stringify({ long }),
    ]);
    expect(JSON.parse(stdout)).toEqual({ long });
    const files = ["holdfast.db", "holdfast.db-wal"].map((name) => join(folder.path, ".holdfast", name));
    expect(files.map((file) => readIfThere(file)).join("")).not.toContain(
      "tell me more tell me more tell me more",
    );
  });
});

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
