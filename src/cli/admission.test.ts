import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cliFolder } from "../../test/support/cli.ts";
import { fillStore } from "../../test/support/cli-runs.ts";
import { neededBy } from "./admission.ts";
import { catalog } from "./catalog.ts";

const folder = cliFolder();
const tokens: Record<string, string> = {};

beforeAll(async () => {
  await fillStore(folder.path);
  for (const role of ["viewer", "operator", "auditor", "admin"])
    tokens[role] = (await folder.run(`token create ${role} --role ${role}`)).stdout.trim();
  tokens["scoped"] = (await folder.run("token create scoped --role admin --workflow x")).stdout.trim();
  folder.write("holdfast.config.yaml", "access: required\n");
});
afterAll(() => folder.remove());

const as = (role: string, line: string) =>
  folder.run(line, { env: tokens[role] === undefined ? {} : { HOLDFAST_TOKEN: tokens[role] } });

describe("access: required", () => {
  it("lets each do what their role allows, and nobody else anything (A2)", async () => {
    expect((await as("viewer", "list")).code).toBe(0);
    expect((await as("nobody", "list")).stderr).toContain("HF-6065");
    const refused = await as("viewer", "pause done-1");
    expect([refused.code, refused.stderr]).toEqual([8, expect.stringContaining("runs:act")]);
    expect((await as("operator", "token list")).code).toBe(8);
    expect((await as("admin", "token list")).code).toBe(0);
    expect((await as("scoped", "list")).stderr).toContain("some runs only");
    const wrong = await folder.run("list", {
      env: { HOLDFAST_TOKEN: `hf_${"a".repeat(16)}_${"b".repeat(43)}` },
    });
    expect(wrong.code).toBe(8);
  });

  it("records the token's actor, whatever --as says", async () => {
    await as("operator", "inject recon-88 --text hello --as mallory --reason help");
    const { stdout } = await as("auditor", "report trail recon-88 --json");
    expect(stdout).toContain('"operator"');
    expect(stdout).not.toContain("mallory");
  });

  it("shows values only with state:read and a reason, and records it (A3)", async () => {
    expect((await as("operator", "show done-1 --output --reveal --reason audit")).code).toBe(8);
    expect((await as("auditor", "show done-1 --output --reveal")).stderr).toContain("HF-4312");
    const shown = await as("auditor", "show done-1 --output --reveal --reason audit");
    expect(shown.code).toBe(0);
    const { stdout } = await as("auditor", "report trail done-1 --json");
    expect(stdout).toContain("holdfast show --reveal");
  });

  it("needs no token for commands that touch no run", async () => {
    expect((await as("nobody", "explain HF-6065")).code).toBe(0);
    expect((await as("nobody", "config validate")).code).toBe(0);
  });

  it("asks for the most where nobody has said what a command needs", () => {
    expect(neededBy("something new")).toBe("admin");
    const open = catalog.filter(({ name }) => neededBy(name) === null).map(({ name }) => name);
    expect(open).toEqual(["init", "crash-test", "demo", "config", "mcp", "explain", "completion"]);
  });
});
