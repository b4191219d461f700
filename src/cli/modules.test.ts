import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { cliFolder } from "../../test/support/cli.ts";
import { checkFound } from "./config/trust.ts";
import { loadModule } from "./modules.ts";

const folder = cliFolder();
const outside = mkdtempSync(join(tmpdir(), "holdfast-modules-"));
afterAll(() => {
  folder.remove();
  rmSync(outside, { recursive: true, force: true });
});

const refusing = (code: string, message: string) => () =>
  Promise.reject(Object.assign(new Error(message), { code }));

describe("loading a workflow file", () => {
  it("says that a file awaits something at its top level, and gives up (C1)", async () => {
    const file = folder.write(
      "waits.mjs",
      "await new Promise((done) => setTimeout(done, 3_600_000).unref());",
    );
    const told: string[] = [];
    const loading = loadModule(file, { slowMs: 1, patienceMs: 50, onSlow: (line) => told.push(line) });
    await expect(loading).rejects.toMatchObject({ code: "HF-4320" });
    expect(told).toEqual([
      expect.stringMatching(/Does it await something at its top level\? .*import\.meta\.filename/),
    ]);
  });

  it("says how a file that awaits at its top level becomes a module (C1)", async () => {
    const file = folder.write(
      "commonjs/flow.ts",
      "await Promise.resolve();\nexport const one: number = 1;\n",
    );
    folder.write("commonjs/package.json", '{ "type": "commonjs" }');
    const loading = loadModule(file, { native: undefined });
    await expect(loading).rejects.toMatchObject({
      code: "HF-4410",
      fix: expect.stringContaining("flow.mts"),
    });
  });

  it("finds the default export of a TypeScript file in a CommonJS project", async () => {
    folder.write("plain/package.json", "{}");
    const file = folder.write(
      "plain/flow.ts",
      "export default { one: 1 as number };\nexport const two = 2;\n",
    );
    const loaded = await loadModule(file, { native: undefined });
    expect(loaded).toMatchObject({ default: { one: 1 }, two: 2 });
  });

  it("finds what a CommonJS file exports by name", async () => {
    const file = folder.write(
      "flow.cjs",
      "const made = { one: 1 };\nmodule.exports = { ...made, two: 2 };\n",
    );
    expect(await loadModule(file)).toMatchObject({ one: 1, two: 2 });
  });

  it("takes tsx for what Node cannot load by itself (R4)", async () => {
    folder.write("helper.ts", "export const one: number = 1;\n");
    const file = folder.write(
      "enum.ts",
      'import { one } from "./helper.js";\nexport enum Colour { Red = 3 }\nexport const sum: number = one + Colour.Red;\n',
    );
    for (const code of ["ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX", "ERR_MODULE_NOT_FOUND"]) {
      const loaded = await loadModule(file, { native: refusing(code, "enum is not supported") });
      expect(loaded["sum"]).toBe(4);
    }
  });

  it("says in which line of the file an error was thrown (C4)", async () => {
    const file = folder.write("broken.mjs", "const a = 1;\nthrow new Error('no ' + a);\n");
    await expect(loadModule(file)).rejects.toThrow(/no 1 \(.*broken\.mjs:2:7\)/);
  });

  it("ends with 4 for a file that is not there, whatever it would be (R11)", async () => {
    for (const line of [
      "run nowhere.ts",
      "run nowhere.yaml",
      "validate nowhere.yaml",
      "import nowhere.jsonl",
      "list --config x.yaml",
    ]) {
      const { code, stderr } = await folder.run(line);
      expect([line, code, stderr]).toEqual([line, 4, expect.stringContaining("HF-4321")]);
    }
  });
});

describe("a configuration that was found", () => {
  it("is not executed where everybody can write to it or its folder (X11)", async () => {
    const open = join(outside, "open");
    mkdirSync(open);
    writeFileSync(
      join(open, "holdfast.config.mjs"),
      "globalThis.holdfastWasRun = true; export const config = {};",
    );
    chmodSync(open, 0o777);
    const ran = await folder.run("list", { root: open });
    expect([ran.code, ran.stderr]).toEqual([8, expect.stringContaining("chmod o-w")]);
    expect("holdfastWasRun" in globalThis).toBe(false);
    expect((await folder.run("list --config holdfast.config.mjs", { root: open })).code).toBe(0);
    chmodSync(open, 0o755);
    expect((await folder.run("list", { root: open })).code).toBe(0);
  });

  it("is not executed when another user owns it (X11)", () => {
    const file = join(outside, "holdfast.config.mjs");
    writeFileSync(file, "");
    const uid = process.getuid?.() ?? 0;
    expect(() => checkFound(file, outside, uid)).not.toThrow();
    if (uid === 0) chownSync(file, 4711, 4711);
    // The folder that the command is given in belongs to the system.
    expect(() => checkFound(file, "/", uid === 0 ? 0 : uid + 1)).toThrow(/another user/);
  });
});
