import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type CliFolder, cliFolder } from "../../../test/support/cli.ts";
import { TEMPLATES } from "../templates.ts";

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
    expect(stdout).toContain("✓ workflows/hello.mjs");
    expect(stdout).toContain("npx holdfast run hello -i name=Ada");
    expect(JSON.parse(read("agent/package.json"))).toMatchObject({ name: "agent", type: "module" });
    expect(read("agent/.gitignore")).toBe(".holdfast/\n");
    expect(read("agent/workflows/hello.mjs")).not.toContain("input:");
  });

  it("leaves what is there as it is", async () => {
    folder.write(
      "package.json",
      JSON.stringify({ devDependencies: { typescript: "^5" }, dependencies: { holdfast: "*" } }),
    );
    folder.write(".gitignore", "node_modules");
    folder.write("holdfast.config.ts", "export const config = {};");
    const { made, kept } = (await folder.run("init --json")).json<{ made: string[]; kept: string[] }>();
    expect(made).toEqual(["workflows/hello.ts", ".gitignore"]);
    expect(kept).toEqual(["holdfast.config.ts"]);
    expect(read("holdfast.config.ts")).toBe("export const config = {};");
    expect(read(".gitignore")).toBe("node_modules\n.holdfast/\n");
    const again = (await folder.run("init --json")).json<{ made: string[] }>();
    expect(again.made).toEqual([]);
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
