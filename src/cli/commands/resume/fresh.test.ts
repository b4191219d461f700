import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type CliFolder, cliFolder } from "../../../../test/support/cli.ts";

const folders: CliFolder[] = [];
let folder: CliFolder;
beforeEach(() => {
  folder = cliFolder();
  folders.push(folder);
});
afterAll(() => folders.forEach((one) => one.remove()));

/** A program whose first version pays and then waits, and whose second has another major version. */
const write = (version: string): string =>
  folder.write(
    `flow${version[0]}.mjs`,
    `export const pays = { name: "pays", version: "${version}", schema: 1, migrations: [], compensateOnFailure: false,
  async body(ctx, input) {
    await ctx.step("pay", () => "paid " + input.to, { effect: "keyed" });
    ${version.startsWith("1") ? 'await ctx.gate("ok", { choices: ["yes"] });' : ""}
    return "done for " + input.to;
  } };
`,
  );

/** Leaves a run of version 1 waiting, which the code of version 2 can't go on with. */
async function stranded(): Promise<void> {
  write("1.0");
  write("2.0");
  expect((await folder.run("run flow1.mjs -i to=Ada --id r")).code).toBe(75);
}

describe("holdfast resume --fresh", () => {
  it("lists what could happen twice, asks, and starts the run again (S1-44, S1-45)", async () => {
    await stranded();
    const planned = await folder.run("resume r --fresh --plan --file flow2.mjs");
    expect([planned.code, planned.stdout]).toEqual([0, expect.stringMatching(/✓ +pay +keyed +happened/)]);
    const refused = await folder.run("resume r --fresh --file flow2.mjs");
    expect([refused.code, refused.stderr]).toEqual([8, expect.stringContaining("1 effect may happen twice")]);
    const { code, stdout, stderr } = await folder.run("resume r --fresh --file flow2.mjs --yes");
    expect([code, stdout]).toEqual([0, "done for Ada\n"]);
    expect(stderr).toMatch(/pay +keyed +happened/);
    const shown = await folder.run("checkpoints show r-fresh --reveal");
    expect(shown.stdout).toContain('"$restart"');
    expect((await folder.run("show r")).stdout).toContain("ok");
  });

  it("starts a run with a damaged journal again, with the file that a person names (S1-45)", async () => {
    write("1.0");
    const store = `--store file:${folder.path}/runs`;
    expect((await folder.run(`run flow1.mjs -i to=Ada --id r ${store}`)).code).toBe(75);
    const place = join(folder.path, "runs/runs/r");
    const [, second = ""] = readdirSync(place).filter((name) => name.startsWith("checkpoint_"));
    writeFileSync(join(place, second), readFileSync(join(place, second), "utf8").replace('"seq"', '"sep"'));
    expect((await folder.run(`resume r ${store}`)).code).toBe(6);
    const unnamed = await folder.run(`resume r --fresh --yes ${store}`);
    expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining("--fresh --file <file>")]);
    const { code, stderr } = await folder.run(`resume r --fresh --file flow1.mjs --yes ${store}`);
    expect([code, stderr]).toEqual([75, expect.stringContaining("part of its journal can't be read")]);
    expect((await folder.run(`list ${store}`)).stdout).toContain("r-fresh");
  });

  it("happens by itself where on_unrestorable says so (S1-44)", async () => {
    await stranded();
    folder.write("holdfast.config.json", JSON.stringify({ on_unrestorable: "fresh" }));
    await folder.run("gate answer r:ok --choice yes");
    const { code, stderr } = await folder.run("resume r --file flow2.mjs");
    expect(code).toBe(75);
    expect(stderr).toContain("was started over as r-fresh");
    expect((await folder.run("list")).stdout).toContain("r-fresh");
  });
});
