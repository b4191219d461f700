import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";
import { brief, fillStore, withRuns } from "../../../test/support/cli-runs.ts";
import { workflow } from "../../index.ts";

const folder = cliFolder();
const source = new URL("../../../src/index.ts", import.meta.url).href;
const hangs = (name: string) => workflow(name, () => new Promise<never>(() => undefined));

beforeAll(() => fillStore(folder.path));
afterEach(() => vi.useRealTimers());
afterAll(() => folder.remove());

describe("doctor", () => {
  it("looks at everything and writes nothing into the store", async () => {
    const file = join(folder.path, ".holdfast", "holdfast.db");
    const before = statSync(file).size;
    const { code, stdout } = await folder.run("doctor");
    expect(code).toBe(0);
    for (const name of [
      "versions",
      "store",
      "reads",
      "writes",
      "rights",
      "clock",
      "encryption",
      "disk",
      "interrupted",
    ])
      expect(stdout).toMatch(new RegExp(`^[✓!] ${name} `, "m"));
    expect(stdout).toMatch(/! waiting +2 runs need you {2}→ holdfast list --needs-me/);
    expect(statSync(file).size).toBe(before);
    expect(readdirSync(join(folder.path, ".holdfast")).filter((name) => name.includes("doctor"))).toEqual([]);
  });

  it("is content where there is no store yet, and makes none", async () => {
    const empty = cliFolder();
    expect((await empty.run("doctor")).stdout).toContain("is made with the first run");
    expect(existsSync(join(empty.path, ".holdfast"))).toBe(false);
    empty.remove();
  });

  it("answers 5 with the reason when the store cannot be opened", async () => {
    const broken = cliFolder();
    broken.write("broken.db", "this is not a database, however long it may be. ".repeat(100));
    const { code, stdout, stderr } = await broken.run("doctor --store ./broken.db");
    expect(code).toBe(5);
    expect(stdout).toContain("✗ store");
    expect(stderr).toContain("HF-4360");
    expect((await broken.run("doctor --store ./broken.db --json")).json()).toMatchObject({ ok: false });
    broken.remove();
  });

  it("names the commands for runs that were interrupted", async () => {
    const crashed = cliFolder();
    await withRuns(crashed.path, (engine) => engine.start(hangs("one"), undefined, { id: "one-1" }));
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
    expect((await crashed.run("doctor")).stdout).toMatch(
      /1 run could continue, but no process works on it {2}→ holdfast resume one-1/,
    );
    vi.useRealTimers();
    await withRuns(crashed.path, (engine) => engine.start(hangs("two"), undefined, { id: "two-1" }));
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
    expect((await crashed.run("doctor --json")).stdout).toContain("holdfast resume --all");
    crashed.remove();
  });

  it("puts right what changes no run, when told to", async () => {
    const open = cliFolder();
    await fillStore(open.path);
    mkdirSync(join(open.path, ".git"));
    const file = join(open.path, ".holdfast", "holdfast.db");
    chmodSync(file, 0o644);
    expect((await open.run("doctor")).stdout).toContain("others can read the store (mode 644)");
    const { stdout } = await open.run("doctor --fix");
    expect(stdout).toContain("made the store private");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(join(open.path, ".holdfast", ".gitignore"))).toBe(true);
    open.remove();
  });

  it("misses a key where values are to be encrypted, and never shows one", async () => {
    const sealed = cliFolder();
    sealed.write("holdfast.config.json", '{ "encryption": true }');
    const { code, stdout } = await sealed.run("doctor");
    expect([code, stdout]).toEqual([3, expect.stringContaining("✗ encryption   on, and no key is there")]);
    const key = randomBytes(32).toString("base64");
    const found = await sealed.run("doctor", { env: { HOLDFAST_KEYS: `k2:${key}` } });
    expect(found.stdout).toContain("key present (k2)");
    expect(found.stdout).not.toContain(key.slice(0, 8));
    sealed.remove();
  });

  it("takes a key as `openssl rand -base64 32` prints it, names one that can't be used, and one that isn't used (C7)", async () => {
    const sealed = cliFolder();
    const encryption = async (keys: string): Promise<string> => {
      const { stdout } = await sealed.run("doctor", { env: { HOLDFAST_KEYS: keys } });
      return /. encryption .*/.exec(stdout)?.[0] ?? "";
    };
    const key = randomBytes(32).toString("base64");
    expect(await encryption(key)).toContain("off, although HOLDFAST_KEYS is set");
    sealed.write("holdfast.config.json", '{ "encryption": true }');
    expect(await encryption(key)).toContain("key present (k1)");
    expect(await encryption("nonsense")).toContain("key k1 is not 32 bytes in base64");
    sealed.remove();
  });
});

describe("migrate", () => {
  const flow = (options: string): string =>
    `import { workflow } from ${JSON.stringify(source)};\nexport const brief = workflow("brief", ${options}, async (ctx) => ctx.step("collect", () => 1));\n`;

  beforeAll(async () => {
    folder.write("v2.mjs", flow('{ version: "2", migrations: [{ from: "1", to: "2" }] }'));
    folder.write("v3.mjs", flow('{ version: "3" }'));
    await withRuns(folder.path, async (engine) => {
      const { body: _, ...rest } = brief;
      const waits = {
        ...rest,
        body: async (ctx: { gate(name: string, o: object): unknown }) => ctx.gate("go", { choices: ["on"] }),
      };
      await engine.start(waits as never, undefined, { id: "brief-7" });
      await engine.settled("brief-7");
    });
  });

  it("says which versions are stored", async () => {
    expect((await folder.run("migrate")).stdout).toMatch(/brief +version 1 +schema 1 +1 run/);
  });

  it("plans first, and goes on only when told to", async () => {
    const plan = await folder.run("migrate v2.mjs --plan");
    expect([plan.code, plan.stdout]).toEqual([
      0,
      expect.stringMatching(/1 would migrate .*\n +→ brief-7 +1 → 2/),
    ]);
    expect((await folder.run("migrate v2.mjs")).code).toBe(8);
    const done = await folder.run("migrate v2.mjs --yes --json");
    expect(done.json()).toMatchObject({ plan: false, runs: [{ runId: "brief-7", applied: true }] });
    expect((await folder.run("show brief-7 --json")).json()).toMatchObject({ version: "2" });
  });

  it("answers 3 where runs would have to wait", async () => {
    const { code, stderr } = await folder.run("migrate v3.mjs --dry-run");
    expect([code, stderr]).toEqual([3, expect.stringContaining("HF-4361")]);
  });
});
