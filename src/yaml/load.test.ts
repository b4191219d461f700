import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLab } from "../../test/support/lab.ts";
import { folderWith, fromText } from "../../test/support/yaml.ts";
import { scriptedProvider } from "../agent/scripted.ts";
import { DEFINITION_KEY, type Definition, loadWorkflow, restoreWorkflow } from "./index.ts";

const TEXT = `workflow:
  name: w
  version: "2"
  description: what it does
  entry_point: a
  metadata: { team: x }
  instructions: [rules.md]
  input:
    topic: { type: string, description: about what }
    depth: { type: number, default: 2 }
    strict: { type: boolean, required: false }
    tags: { type: array, required: false }
  checkpoint:
    storage: sqlite
    path: .conductor/\${workflow.name}
    retention: { max_checkpoints: 10, max_age_days: 7, keep_successful: true }
    max_recovery_attempts: 5
agents:
  - name: a
    prompt: !file ask.md
    routes: [{ to: gate }]
  - name: gate
    type: human_gate
    prompt: go on?
    options: [{ label: Yes, value: yes, route: b }, { label: No, value: no, route: $end }]
  - { name: b, prompt: then }
`;
const FILES = { "rules.md": "Be brief.\n", "ask.md": "About {{ workflow.input.topic }}" };

describe("a loaded workflow", () => {
  it("tells its inputs and takes texts for them", async () => {
    const { inputs, parseInputs, description, metadata } = await fromText(TEXT, {}, { files: FILES });
    expect({ description, metadata }).toEqual({ description: "what it does", metadata: { team: "x" } });
    expect(inputs[0]).toEqual({ name: "topic", type: "string", required: true, description: "about what" });
    expect(parseInputs({ topic: "t", depth: "3", strict: "yes", tags: '["a"]' })).toEqual({
      topic: "t",
      depth: 3,
      strict: true,
      tags: ["a"],
    });
    expect(parseInputs({ topic: "t" })).toEqual({ topic: "t", depth: 2, strict: false, tags: [] });
    expect(() => parseInputs({})).toThrow("Input topic is not valid: it is required and was not given.");
    expect(() => parseInputs({ topic: "t", depth: "deep" })).toThrow('it must be of type number, not "deep"');
    expect(() => parseInputs({ topc: "t" })).toThrow("there is no input of this name");
  });

  it("says how its runs are to be kept, and can be drawn (S3-21)", async () => {
    const { checkpoint, describe: draw } = await fromText(TEXT, {}, { files: FILES });
    expect(checkpoint).toEqual({
      saving: true,
      onFailure: "pause",
      storage: "sqlite",
      path: ".conductor/w",
      retention: {
        keepLast: 10,
        keepPer: "workflow",
        maxAge: "7d",
        failedMaxAge: "7d",
        checkpointMaxAge: "7d",
        keepSuccessful: true,
      },
      recovery: { maxAttempts: 5 },
    });
    expect(draw().edges).toEqual([
      { from: "a", to: "gate" },
      { from: "gate", to: "b", when: "Yes" },
      { from: "gate", to: "$end", when: "No" },
      { from: "b", to: "$end" },
    ]);
  });

  it("is refused with every problem and its place when it is not valid", async () => {
    const refused = fromText("workflow: { name: w, entry_point: x }\nagents:\n  - { name: a, promt: p }\n");
    await expect(refused).rejects.toMatchObject({
      code: "HF-4001",
      message: expect.stringContaining("flow.yaml:3:16: There is no key promt here. Did you mean prompt?"),
    });
    await expect(loadWorkflow(join(folderWith({}), "gone.yaml"))).rejects.toMatchObject({ code: "HF-4001" });
  });

  it("needs the providers, tools and servers that it names", async () => {
    const file = (more: string, runtime = ""): string =>
      `workflow: { name: w, entry_point: a${runtime} }\nagents:\n  - { name: a, prompt: p${more} }\n`;
    await expect(fromText(file(", provider: hermes"))).rejects.toMatchObject({
      code: "HF-4008",
      message: expect.stringMatching(/^Agent a of .* asks for the provider hermes/),
    });
    // C9: when no provider is named, the error doesn't ask for one called "default".
    await expect(fromText(file(""), {}, { providers: {} })).rejects.toMatchObject({
      code: "HF-4332",
    });
    await expect(fromText(`${file("")}tools: [search]\n`)).rejects.toMatchObject({ code: "HF-4009" });
    await expect(
      fromText(file("", ", runtime: { mcp_servers: { web: { command: x } } }")),
    ).rejects.toMatchObject({ code: "HF-4009" });
    const settings: unknown[] = [];
    const model = scriptedProvider({});
    await expect(
      fromText(
        file("", ", runtime: { provider: { name: copilot, base_url: 'http://x' } }"),
        {},
        { providers: { copilot: { ...model, name: "real" } }, aliases: {} },
      ),
    ).rejects.toMatchObject({ code: "HF-4017" });
    const providers = { copilot: (given: unknown) => (settings.push(given), model) };
    await fromText(
      file("", ", runtime: { provider: { name: copilot, base_url: 'http://x' } }"),
      {},
      { providers, aliases: {} },
    );
    expect(settings).toEqual([{ name: "copilot", baseUrl: "http://x" }]);
  });

  it("goes on with runs of the same text wherever it lies, and holds those of another", async () => {
    const lab = createLab();
    const first = await fromText(TEXT, {}, { files: FILES });
    const engine = lab.engine([first.workflow]);
    await lab.drive(engine.start(first.workflow, { topic: "t" }, { id: "r" }));
    await lab.drive(engine.settled("r"));
    const changed = await fromText(TEXT, {}, { files: { ...FILES, "ask.md": "Other" } });
    const desk = (await lab.afterCrash(engine, [], "r")).engine;
    await lab.drive(desk.answer("r", "gate", { choice: "yes" }));
    const held = await lab.afterCrash(desk, [changed.workflow], "r");
    expect(held.run).toMatchObject({ status: "waiting", waiting: [{ kind: "migration" }] });
    const { memory } = await lab.drive(held.engine.checkpoints.show("r"));
    const kept = memory[DEFINITION_KEY] as Definition;
    expect(kept.files["ask.md"]).toBe(FILES["ask.md"]);
    const calls: string[] = [];
    const provider = scriptedProvider({}, { onCall: ({ agent }) => void calls.push(agent) });
    const restored = await restoreWorkflow(kept, { providers: { model: provider } });
    expect(restored.workflow.version).toBe(first.workflow.version);
    const { engine: last } = await lab.afterCrash(held.engine, [restored.workflow], "r");
    expect(await lab.drive(last.result("r"))).toEqual({});
    expect(calls).toEqual(["b"]);
  });

  it("keeps no values of environment variables with its runs", async () => {
    const folder = folderWith({
      "flow.yaml":
        "workflow: { name: w, entry_point: a }\nagents:\n  - { name: a, prompt: 'key ${SECRET}' }\n",
    });
    writeFileSync(join(folder, "other.txt"), "not read");
    const { definition } = await loadWorkflow(join(folder, "flow.yaml"), {
      providers: { m: scriptedProvider({}) },
      env: { SECRET: "s3cret" },
    });
    expect(JSON.stringify(definition)).not.toContain("s3cret");
    expect(Object.keys(definition.files)).toEqual(["flow.yaml"]);
  });
});
