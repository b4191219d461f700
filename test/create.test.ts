import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { emptyFolder } from "../scripts/play-readme.mjs";
import { ROOT } from "./source-tree.ts";
import { installed } from "./support/packed.ts";

const folder = emptyFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let modules = "";
beforeAll(async () => {
  modules = path.join(await installed(), "node_modules");
});

const inFolder =
  (name: string) =>
  (command: string, ...args: string[]) =>
    spawnSync(command, args, { cwd: path.join(folder, name), encoding: "utf8", timeout: 280_000 });
const create = (at: string, ...args: string[]) =>
  inFolder(at)(process.execPath, path.join(modules, "create-holdfast/index.mjs"), ...args);

/** In the place of `npm install`: the packed package, and the tools that a new project asks for. */
function install(name: string): void {
  const target = path.join(folder, name, "node_modules");
  mkdirSync(path.join(target, ".bin"), { recursive: true });
  mkdirSync(path.join(target, "@types"));
  symlinkSync(path.join(modules, "holdfast"), path.join(target, "holdfast"), "junction");
  symlinkSync(path.join(modules, ".bin/holdfast"), path.join(target, ".bin/holdfast"));
  for (const tool of ["tsx", "@types/node"])
    symlinkSync(path.join(ROOT, "node_modules", tool), path.join(target, tool), "junction");
}

const read = (file: string): string => readFileSync(path.join(folder, file), "utf8");

describe("npm create holdfast", () => {
  it("makes a project in TypeScript whose workflow runs, and whose crash test passes", () => {
    const made = create(".", "my-agent");
    expect([made.status, made.stdout]).toEqual([0, expect.stringContaining("✓ workflows/hello.ts")]);
    const { scripts, dependencies } = JSON.parse(read("my-agent/package.json")) as Record<string, object>;
    expect(Object.keys(scripts ?? {})).toEqual(["dev", "start", "test"]);
    expect(dependencies).toHaveProperty("holdfast");
    install("my-agent");
    const run = inFolder("my-agent");
    const ran = run("npm", "run", "--silent", "dev");
    expect([ran.status, ran.stdout]).toEqual([0, expect.stringContaining("Hello Ada, 3 letters")]);
    const tested = run("npm", "test", "--silent");
    expect([tested.status, tested.stdout]).toEqual([0, expect.stringMatching(/pass 1\b/)]);
    const checked = run(process.execPath, path.join(ROOT, "node_modules/typescript/bin/tsc"), "-p", ".");
    expect([checked.status, checked.stdout]).toEqual([0, ""]);
  });

  it("adds to a project that exists, and overwrites nothing", () => {
    mkdirSync(path.join(folder, "theirs/test"), { recursive: true });
    const manifest = { name: "theirs", version: "1.0.0", scripts: { test: "echo theirs" } };
    writeFileSync(path.join(folder, "theirs/package.json"), JSON.stringify(manifest));
    writeFileSync(path.join(folder, "theirs/test/hello.test.ts"), "// theirs");
    const made = create("theirs");
    expect(made.status).toBe(0);
    expect(made.stdout).toMatch(/· test\/hello\.test\.ts +was there and is unchanged/);
    expect(made.stdout).toMatch(/· package\.json: scripts\.test +was there and is unchanged/);
    expect(read("theirs/test/hello.test.ts")).toBe("// theirs");
    expect(JSON.parse(read("theirs/package.json"))).toMatchObject(manifest);
    install("theirs");
    const run = inFolder("theirs");
    expect(run("npm", "test", "--silent").stdout).toBe("theirs\n");
    expect(run("npm", "run", "--silent", "dev").stdout).toContain("Hello Ada, 3 letters");
  });
});
