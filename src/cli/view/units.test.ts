import { afterAll, describe, expect, it } from "vitest";
import { cliFolder } from "../../../test/support/cli.ts";
import { unitOf } from "./units.ts";

describe("steps of a workflow file (C14)", () => {
  it.each([
    ["planner[0]/model", "planner"],
    ["planner#2[13]/tool:search#2", "planner#2"],
    ["research/planner[0]/model", "research/planner"],
    ["checks[style]/style[0]/model", "checks[style]"],
    ["each[7]/one[2]/approve:tool:pay", "each[7]"],
    ["writer/writer[0]/model", "writer"],
    ["writer#2/writer (validator)[0]/model", "writer#2"],
    ["build", "build"],
    ["ask/q1", "ask/q1"],
    ["each[7]", "each[7]"],
    ["turn[3]/ask", "turn[3]/ask"],
  ])("have the author's names: %s is %s", (step, unit) => {
    expect(unitOf(step)).toBe(unit);
  });

  const folder = cliFolder();
  afterAll(() => folder.remove());

  it("are shown as agents, members and items in progress, lists, errors and plans", async () => {
    folder.write(
      "flow.yaml",
      `workflow: { name: team, entry_point: planner }
agents:
  - { name: planner, prompt: plan, routes: [{ to: checks }] }
  - { name: style, prompt: p }
  - { name: facts, prompt: p }
  - { name: reviewer, prompt: p, retry: { max_attempts: 1 }, routes: [{ to: writer }] }
  - { name: writer, prompt: p }
parallel: [{ name: checks, agents: [style, facts], routes: [{ to: reviewer }] }]
output: { text: "{{ writer.output.result }}" }
`,
    );
    folder.write(
      "holdfast.config.json",
      JSON.stringify({ providers: { default: { script: "replies.yaml" } } }),
    );
    folder.write("replies.yaml", "agents: { reviewer: [{ error: { status: 400, message: no } }] }\n");
    const inner = /\[\d+\]\/model/;
    const failed = await folder.run("run flow.yaml --id r");
    expect(failed.code).toBe(75);
    expect(failed.stdout + failed.stderr).not.toMatch(inner);
    expect(failed.stderr).toMatch(/✓ planner .*checkpoint/);
    expect(failed.stderr).toMatch(/✓ checks\[style\] /);
    expect(failed.stderr).toMatch(/✗ reviewer +attempt 1 failed: no/);
    expect(failed.stderr).toContain("in reviewer, attempt 1");
    for (const command of ["show r", "list", "show r:reviewer", "resume r --plan"]) {
      const { code, stdout } = await folder.run(command);
      expect([code, stdout]).toEqual([0, expect.not.stringMatching(inner)]);
    }
    const shown = (await folder.run("show r")).stdout;
    expect(shown.match(/reviewer/g)).toHaveLength(1);
    expect(shown).toMatch(/✗ reviewer +failed/);
    expect(shown).toMatch(/○ writer +planned/);
    for (const command of ["show r --steps", "show r -v"])
      expect((await folder.run(command)).stdout).toContain("reviewer[0]/model");
    folder.write("replies.yaml", "agents: {}\n");
    const { stderr } = await folder.run("resume r -v");
    expect(stderr).toContain("writer[0]/model");
    expect((await folder.run("show r")).stdout).toMatch(/✓ writer +done/);
  });

  it("are said to have failed once, members of groups too (C14)", async () => {
    folder.write(
      "group.yaml",
      `workflow: { name: group, entry_point: checks }
agents:
  - { name: style, prompt: p, retry: { max_attempts: 1 } }
  - { name: facts, prompt: p, retry: { max_attempts: 1 } }
parallel: [{ name: checks, agents: [style, facts], failure_mode: all_or_nothing, routes: [{ to: $end }] }]
`,
    );
    folder.write("replies.yaml", "agents: { facts: [{ error: { status: 400, message: away } }] }\n");
    const { code, stderr } = await folder.run("run group.yaml --id g");
    expect(code).toBe(75);
    expect(stderr.match(/^✗ checks\[facts\] .*$/gm)).toEqual([
      expect.stringMatching(/attempt 1 failed: .*away/),
    ]);
  });
});
