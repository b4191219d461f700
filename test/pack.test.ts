import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { installed, PACKAGE } from "./support/packed.ts";

const run = promisify(execFile);
const manifest = JSON.parse(readFileSync(path.join(PACKAGE, "package.json"), "utf8")) as {
  exports: Record<string, unknown>;
  peerDependencies: Record<string, string>;
};

/** An empty project in which only the tarballs are installed, without any peer. */
let project = "";

beforeAll(async () => {
  project = await installed();
});

const npx = (...args: readonly string[]) =>
  run("npx", ["--no-install", "holdfast", ...args], { cwd: project });

const code = (specifiers: readonly string[]): string => `
  const found = {};
  for (const name of ${JSON.stringify(specifiers)})
    found[name] = await import(name).then((module) => Object.keys(module).length > 0, (error) => error.message);
  console.log(JSON.stringify(found));
`;

describe("the packed package, installed in an empty project", () => {
  it("shows its demo without anything else: eight agents kept, nothing twice", async () => {
    const { stdout } = await npx("demo", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ ran: ["reviewer", "publisher"], duplicates: 0 });
  });

  it("says what it can do", async () => {
    const { stdout } = await npx("--help");
    for (const command of ["run", "resume", "gate", "crash-test"]) expect(stdout).toContain(`  ${command}`);
  });

  it("can be imported by every name it exports, though no peer is there", async () => {
    const peers = Object.keys(manifest.peerDependencies);
    expect(peers.filter((name) => existsSync(path.join(project, "node_modules", name)))).toEqual([]);
    const names = Object.keys(manifest.exports).filter((name) => name !== "./package.json");
    const specifiers = names.map((name) => `holdfast${name.slice(1)}`);
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", code(specifiers)], {
      cwd: project,
    });
    expect(JSON.parse(stdout)).toEqual(Object.fromEntries(specifiers.map((name) => [name, true])));
  });
});
