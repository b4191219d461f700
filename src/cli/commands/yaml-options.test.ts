import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type CliFolder, cliFolder } from "../../../test/support/cli.ts";

const FLOW = `
workflow:
  name: gated
  description: Asks before it writes
  entry_point: draft
  runtime: { provider: { name: cloud, base_url: "https://models.invalid", api_key: k } }
  input:
    topic: { type: string, description: what about }
    rounds: { type: number, default: 2 }
agents:
  - { name: draft, prompt: "Write about {{ workflow.input.topic }}", routes: [{ to: decide }] }
  - name: decide
    type: human_gate
    prompt: Good?
    options:
      - { label: "Yes", value: yes_please, route: ask }
      - { label: "No", value: no_thanks, route: $end }
  - name: ask
    type: questions
    questions: [{ id: tone, text: Which tone? }, { id: size, text: How long?, choices: [short, long], required: true, allow_free_text: false, default: long }]
output: { text: "{{ draft.output.result }}", chosen: "{{ decide.output.selected }}", size: "{{ ask.output.answers.size if ask is defined else 0 }}" }
`;

let folder: CliFolder;
const folders: CliFolder[] = [];
beforeEach(() => {
  folder = cliFolder();
  folders.push(folder);
  folder.write("flow.yaml", FLOW);
  folder.write("replies.yaml", "agents: {}\n");
  folder.write(
    "holdfast.config.json",
    JSON.stringify({ providers: { canned: { script: "replies.yaml" }, cloud: { script: "replies.yaml" } } }),
  );
});
afterAll(() => folders.forEach((one) => one.remove()));

describe("what Conductor's command line has (Y6)", () => {
  it("--skip-gates goes on with the first choice and says who did not ask", async () => {
    const { code, stdout } = await folder.run("run flow.yaml -i topic=bolts --skip-gates --id s");
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { text: "Answer of draft.", chosen: "yes_please", size: "long" },
    ]);
    expect((await folder.run("logs s")).stdout).toContain("--skip-gates");
    folder.write("flow.mjs", 'export const flow = { name: "x", version: "1", schema: 1, body: () => 1 };');
    expect((await folder.run("run flow.mjs --skip-gates")).code).not.toBe(0);
  });

  it("--provider takes the place of the file's provider, also when the run is resumed", async () => {
    folder.write(
      "holdfast.config.json",
      JSON.stringify({ providers: { canned: { script: "replies.yaml" } } }),
    );
    expect((await folder.run("run flow.yaml -i topic=bolts")).code).toBe(3);
    expect((await folder.run("run flow.yaml -i topic=bolts --provider canned --id p")).stderr).toContain(
      "gate answer",
    );
    expect((await folder.run("gate answer p:decide --choice no_thanks")).code).toBe(0);
    expect((await folder.run("resume p")).stderr).not.toContain("HF-4008");
  });

  it("--instructions and --workspace-instructions reach every agent, and stay with the run", async () => {
    folder.write("house.md", "Write in British English.");
    folder.write("AGENTS.md", "Be brief.");
    folder.write(
      "replies.yaml",
      'agents: { draft: [{ when: "Be brief.\\n\\nWrite in British English.", text: seen }] }\n',
    );
    const line = "run flow.yaml -i topic=bolts --workspace-instructions --instructions house.md --id i";
    expect((await folder.run(line)).code).toBe(75);
    await folder.run("gate answer i:decide --choice no_thanks");
    expect((await folder.run("resume i")).stdout).toContain('"seen"');
    expect((await folder.run("run flow.yaml --instructions none.md")).stderr).toContain("HF-4304");
  });

  it("--log-file appends what happens, a JSON line each", async () => {
    await folder.run("run flow.yaml -i topic=bolts --log-file run.log --id l");
    const lines = readFileSync(join(folder.path, "run.log"), "utf8").trim().split("\n");
    const kinds = lines.map((line) => (JSON.parse(line) as { type: string }).type);
    expect(kinds).toEqual(expect.arrayContaining(["step_started", "loop_advanced"]));
  });

  it("show <file> tells what a workflow is started with", async () => {
    const { code, stdout } = await folder.run("show flow.yaml");
    expect(code).toBe(0);
    expect(stdout).toMatch(/topic +string +required +what about/);
    expect(stdout).toMatch(/rounds +number +default 2/);
    expect(stdout).toContain("run flow.yaml -i topic=…");
    folder.write("bad.yaml", "workflow: {}\n");
    expect((await folder.run("show bad.yaml")).code).toBe(3);
  });
});
