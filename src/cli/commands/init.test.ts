import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type CliFolder, cliFolder } from "../../../test/support/cli.ts";
import { TEMPLATES } from "../init/templates.ts";

const folders: CliFolder[] = [];
let folder: CliFolder;

beforeEach(() => {
  folder = cliFolder();
  folders.push(folder);
});
afterAll(() => folders.forEach((one) => one.remove()));

const read = (path: string): string => readFileSync(join(folder.path, path), "utf8");

describe("holdfast init", () => {
  it("makes a project to begin with, and says what to do next", async () => {
    const { code, stdout } = await folder.run("init agent");
    expect(code).toBe(0);
    expect(stdout).toContain("✓ workflows/hello.ts");
    expect(stdout).toContain("  cd agent\n  npm install\n  npm run dev");
    expect(JSON.parse(read("agent/package.json"))).toMatchObject({
      name: "agent",
      type: "module",
      scripts: { dev: "holdfast run hello -i name=Ada", start: "tsx worker.ts" },
      dependencies: { holdfast: expect.stringMatching(/^\^\d/) },
      devDependencies: { tsx: expect.any(String) },
    });
    expect(read("agent/.gitignore")).toBe("node_modules/\n.holdfast/\n");
  });

  it("writes JavaScript when it is asked to", async () => {
    await folder.run("init agent --js");
    expect(read("agent/workflows/hello.mjs")).not.toContain("input:");
    expect(JSON.parse(read("agent/package.json"))).not.toHaveProperty("devDependencies");
    expect(existsSync(join(folder.path, "agent/tsconfig.json"))).toBe(false);
  });

  it("leaves what is there as it is, and names it", async () => {
    const manifest = {
      name: "theirs",
      scripts: { test: "vitest" },
      devDependencies: { typescript: "^5" },
      dependencies: { holdfast: "*" },
    };
    folder.write("package.json", JSON.stringify(manifest, null, "\t"));
    folder.write(".gitignore", "node_modules");
    folder.write("holdfast.config.ts", "export const config = {};");
    const { made, added, kept } = (await folder.run("init --json")).json<Record<string, string[]>>();
    expect(made).toEqual(["workflows/hello.ts", "worker.ts", "test/hello.test.ts"]);
    expect(kept).toEqual([
      "holdfast.config.ts",
      "package.json: scripts.test",
      "package.json: dependencies.holdfast",
      "package.json: devDependencies.typescript",
    ]);
    expect(added).toEqual([
      "package.json: scripts.dev",
      "package.json: scripts.start",
      "package.json: devDependencies.@types/node",
      "package.json: devDependencies.tsx",
      ".gitignore: .holdfast/",
    ]);
    expect(read("holdfast.config.ts")).toBe("export const config = {};");
    expect(read(".gitignore")).toBe("node_modules\n.holdfast/\n");
    expect(read("package.json")).toMatch(/^\{\n\t"name": "theirs"/);
    expect(JSON.parse(read("package.json"))).toMatchObject({
      scripts: { test: "vitest" },
      dependencies: { holdfast: "*" },
    });
    const again = (await folder.run("init --json")).json<Record<string, string[]>>();
    expect([again["made"], again["added"]]).toEqual([[], []]);
  });

  it("changes nothing in a manifest that it cannot read", async () => {
    folder.write("package.json", "{ // mine\n}");
    const { code, stderr } = await folder.run("init");
    expect([code, stderr]).toEqual([3, expect.stringContaining("HF-4411")]);
    expect(read("package.json")).toBe("{ // mine\n}");
  });

  it.each(Object.keys(TEMPLATES))("writes a %s template that can be planned as it is", async (name) => {
    await folder.run(`init --template ${name}`);
    // In the place of an installed package: only what a workflow file needs of it.
    const installed = join(folder.path, "node_modules/holdfast");
    mkdirSync(installed, { recursive: true });
    folder.write(
      "node_modules/holdfast/package.json",
      JSON.stringify({ type: "module", exports: { ".": "./i.js", "./config": "./c.js" } }),
    );
    folder.write(
      "node_modules/holdfast/i.js",
      "export const workflow = (name, body) => ({ name, body, version: '1', schema: 1, migrations: [], compensateOnFailure: false });",
    );
    folder.write("node_modules/holdfast/c.js", "export const defineConfig = (config) => config;");
    const inputs = ["-i", "name=Ada", "-i", "amount=1", "-i", 'topics=["a"]', "-i", "batch=1"];
    const { code, stdout } = await folder.run(["run", name, "--dry-run", ...inputs]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^run +\S/m)]);
    expect(existsSync(join(folder.path, ".holdfast"))).toBe(false);
  });
});
