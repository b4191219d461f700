import { generateKeyPairSync } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CliFolder, cliFolder } from "../../../test/support/cli.ts";

/** Leaves a trace when it is loaded, and another when it goes on. */
const CODE = `import { appendFileSync } from "node:fs";
import { join } from "node:path";
const trace = (what) => appendFileSync(join(import.meta.dirname, "trace.txt"), what + "\\n");
trace("loaded");
export const flow = {
  name: "flow", version: "1", schema: 1, migrations: [], compensateOnFailure: false,
  async body(ctx) {
    await ctx.step("first", () => 1);
    await ctx.gate("ok", { choices: ["yes"] });
    await ctx.step("pay", () => trace("paid"), { effect: "once" });
  },
};
`;

const YAML = `
workflow: { name: scripted, entry_point: wait }
agents:
  - name: wait
    type: human_gate
    prompt: "Go on?"
    options: [{ label: "Yes", value: go, route: finish }]
  - { name: finish, type: script, command: touch, args: [ran.txt], routes: [{ to: $end }] }
output: { done: "yes" }
`;

let here: CliFolder;
let there: CliFolder;
beforeEach(() => {
  [here, there] = [cliFolder(), cliFolder()];
});
afterEach(() => {
  here.remove();
  there.remove();
});

describe("import", () => {
  it("loads and runs nothing of an unsigned bundle before somebody has accepted its list (X1)", async () => {
    here.write("flow.mjs", CODE);
    await here.run("run flow.mjs --id r");
    const bundle = join(here.path, "r.jsonl");
    await here.run(["export", "r", "-o", bundle]);
    there.write("flow.mjs", CODE);
    const trace = join(there.path, "trace.txt");
    const taken = await there.run(["import", bundle]);
    expect(taken.stdout).toContain("loads        flow.mjs");
    expect(taken.stdout).toContain("none of it runs until you accept it");
    for (const command of ["resume r", "resume --all", "retry r", "cancel r --compensate", "show r", "list"])
      await there.run(command);
    expect(existsSync(trace)).toBe(false);
    const refused = await there.run("resume r");
    expect([refused.code, refused.stderr]).toEqual([8, expect.stringContaining("HF-3060")]);
    expect((await there.run("accept r --show")).stdout).toContain("workflow     flow 1");
    expect((await there.run("accept r")).code).toBe(8);
    expect((await there.run("accept r --yes")).stdout).toContain("r is accepted by");
    await there.run("resume r");
    expect(existsSync(trace)).toBe(true);
  });

  it("lists the scripts of a workflow file, which come in the bundle itself (X1)", async () => {
    here.write("flow.yaml", YAML);
    await here.run("run flow.yaml --id s");
    const bundle = join(here.path, "s.jsonl");
    await here.run(["export", "s", "-o", bundle]);
    const taken = await there.run(["import", bundle, "--json"]);
    expect(taken.json()).toMatchObject({
      review: ["s"],
      lists: [{ executes: { scripts: [{ agent: "finish", command: "touch ran.txt" }] } }],
    });
    await there.run("gate approve s:wait --choice go --resume");
    await there.run("resume s");
    expect(existsSync(join(there.path, "ran.txt"))).toBe(false);
  });

  it("needs no review where the bundle's key is trusted (X1)", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const secret = here.write("key.pem", privateKey.export({ type: "pkcs8", format: "pem" }).toString());
    const open = there.write("public.pem", publicKey.export({ type: "spki", format: "pem" }).toString());
    here.write("flow.mjs", CODE);
    await here.run("run flow.mjs --id r");
    const [signed, unsigned] = [join(here.path, "signed.jsonl"), join(here.path, "unsigned.jsonl")];
    await here.run(["export", "r", "-o", signed, "--sign", secret]);
    await here.run(["export", "r", "-o", unsigned]);
    const wary = cliFolder();
    expect((await wary.run(["import", unsigned, "--trust", open])).stdout).toContain(
      "isn't signed with a key that you trust",
    );
    wary.remove();
    expect((await there.run(["import", signed, "--trust", open, "--json"])).json()).toMatchObject({
      imported: ["r"],
      review: [],
    });
    expect((await there.run("list")).stdout).not.toContain("review");
  });
});
