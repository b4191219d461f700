import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";

const folder = cliFolder();
afterAll(() => folder.remove());

const FLOW = `const workflow = (name, body) => ({ name, version: "1", schema: 1, migrations: [], compensateOnFailure: false, body });

export const misused = workflow("misused", async (ctx) => {
  await ctx.step("first", () => 1);
  await ctx.step("second", () => 2, { retry: { attempt: 2 } });
});

export const unsavable = workflow("unsavable", async (ctx) => {
  await ctx.step("first", () => 1);
  await ctx.step("socket", () => ({ open: () => 1 }));
});

export const lost = workflow("lost", (ctx) =>
  ctx.each("pages", [1], async () => {
    throw Object.assign(new Error("connect ECONNREFUSED"), { stack: "Error: connect ECONNREFUSED" });
  }, { retry: { attempts: 1 } }),
);

export const slow = workflow("slow", (ctx) =>
  ctx.step("wait", () => new Promise(() => {}), { timeoutMs: 5, retry: { attempts: 1 } }),
);
`;

interface Failed {
  readonly code: string;
  readonly at: string;
  readonly fix: readonly string[];
}

const failure = async (line: string): Promise<Failed> =>
  (await folder.run(`${line} --json`)).json<{ error: Failed }>().error;

beforeAll(() => {
  folder.write("flow.mjs", FLOW);
});

describe("the place of a failure that the engine itself throws (C4)", () => {
  it("is the line that called the engine, in run, resume, retry and show", async () => {
    const at = "flow.mjs:5:13";
    expect(await failure("run flow.mjs#misused --id one")).toMatchObject({
      code: "HF-1003",
      at: expect.stringContaining(at),
      fix: [expect.stringContaining("option"), "then holdfast resume one"],
    });
    expect((await failure("resume one")).at).toContain(at);
    const shown = await folder.run("show one");
    expect(shown.stdout).toContain(at);
    expect(shown.stdout).toContain("Then resume the run.");
  });

  it("is the line of the step for a value that can't be saved, and for one that takes too long", async () => {
    expect(await failure("run flow.mjs#unsavable --id two")).toMatchObject({
      code: "HF-2001",
      at: expect.stringContaining("flow.mjs:10:3"),
    });
    expect((await failure("run flow.mjs#slow --id three")).at).toContain("flow.mjs:20:7");
    expect((await failure("retry three:wait")).at).toContain("flow.mjs:20:7");
  });

  it("is the line of the group when an error has no stack of its own", async () => {
    expect((await failure("run flow.mjs#lost --id four")).at).toContain("flow.mjs:14:7");
    const shown = (await folder.run("show four --attempts --json")).json<{
      steps: { attempts: { thrownAt: string }[] }[];
    }>();
    expect(shown.steps[0]?.attempts[0]?.thrownAt).toContain("flow.mjs:14:7");
  });
});
