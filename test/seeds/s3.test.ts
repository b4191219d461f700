import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type CliFolder, cliFolder } from "../support/cli.ts";

const FLOW = `
workflow:
  name: long-analysis
  entry_point: planner
agents:
  - { name: planner, prompt: "Plan it.", routes: [{ to: analysts }] }
  - { name: market, prompt: "How large is the market?" }
  - { name: team, prompt: "How good is the team?" }
  - { name: writer, prompt: "Sum it up.", routes: [{ to: $end }] }
parallel:
  - { name: analysts, agents: [market, team], failure_mode: all_or_nothing, routes: [{ to: writer }] }
output: { report: "{{ writer.output.result }}" }
`;

let folder: CliFolder;
const folders: CliFolder[] = [];
beforeEach(() => {
  folder = cliFolder();
  folders.push(folder);
  folder.write("workflow.yaml", FLOW);
  folder.write("replies.yaml", "agents: { writer: [{ text: done }] }\n");
  folder.write("holdfast.config.json", JSON.stringify({ providers: { local: { script: "replies.yaml" } } }));
});
afterAll(() => folders.forEach((one) => one.remove()));

describe("a workflow file of agents and a parallel group", () => {
  it("has a checkpoint behind each agent and behind the group (S3-03)", async () => {
    expect((await folder.run("run workflow.yaml --id r")).code).toBe(0);
    const { checkpoints } = (await folder.run("checkpoints list r --limit 100 --json")).json<{
      checkpoints: { unit?: string; step?: string }[];
    }>();
    const steps = checkpoints.map(({ step = "" }) => step).join("\n");
    for (const name of ["planner", "market", "team", "analysts", "writer"]) expect(steps).toContain(name);
  });

  it("is kept in SQLite unless told otherwise, and in JSON files by one option (S3-05)", async () => {
    expect((await folder.run("run workflow.yaml --id r")).code).toBe(0);
    expect(existsSync(join(folder.path, ".holdfast/holdfast.db"))).toBe(true);
    expect((await folder.run("run workflow.yaml --id f --store file:./runs")).code).toBe(0);
    expect((await folder.run("checkpoints list f --store file:./runs")).stdout).toContain("writer");
    expect((await folder.run("checkpoints list f")).code).toBe(4);
  });
});
