import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { folderWith, fromText } from "../../../test/support/yaml.ts";
import { type ModelRequest, scriptedProvider } from "../../agent/index.ts";
import { readAnswer } from "../../agent/json-answer.ts";
import { checkWorkflow, loadWorkflow } from "../index.ts";
import { outputSchema } from "../output.ts";

const head = (more = ""): string => `workflow: { name: x, entry_point: a${more} }\nagents:\n`;

/** A scripted provider that records its requests. */
function listening(script: object): { provider: ReturnType<typeof scriptedProvider>; asked: ModelRequest[] } {
  const asked: ModelRequest[] = [];
  const inner = scriptedProvider(script);
  return {
    asked,
    provider: {
      name: "scripted",
      generate: (request) => {
        asked.push(request);
        return inner.generate(request);
      },
    },
  };
}

describe("what other providers bring along (Y5)", () => {
  it("settings of an endpoint are not asked of canned answers", async () => {
    const text = `${head(', runtime: { provider: { name: copilot, base_url: "http://x", api_key: k } }')}  - { name: a, prompt: p }\n`;
    const { workflow } = await fromText(text);
    expect(workflow.name).toBe("x");
  });

  it("a context tier is without effect and says so", async () => {
    const { workflow, problems } = await checkWorkflow({
      text: `${head()}  - { name: a, prompt: p, context_tier: long_context }\n`,
    });
    expect(workflow).toBeDefined();
    expect(problems.map(({ severity, message }) => [severity, message])).toEqual([
      ["warning", expect.stringContaining("context_tier: long_context is without effect")],
    ]);
  });

  it("skills of the workflow's folder are put into the prompt, unless an agent wants none", async () => {
    const { provider, asked } = listening({});
    const folder = folderWith({
      "main.yaml": `${head(", runtime: { skills: [./skills/house] }")}  - { name: a, prompt: first, routes: [{ to: b }] }\n  - { name: b, prompt: second, skills: [] }\n`,
      "skills/house/SKILL.md": "---\nname: house\n---\nUse oxford commas.\n",
    });
    const { workflow } = await loadWorkflow(`${folder}/main.yaml`, { providers: { default: provider } });
    const lab = createLab();
    const engine = lab.engine([workflow]);
    await lab.drive(engine.start(workflow, {}, { id: "r" }));
    await lab.drive(engine.result("r"));
    const [first, second] = asked.map(({ messages }) => messages[0]?.text);
    expect(first).toContain('<skill name="house">\n---\nname: house\n---\nUse oxford commas.\n</skill>');
    expect(second).toBe("second");
    const { problems } = await checkWorkflow({
      text: `${head()}  - { name: a, prompt: p, skills: [conductor] }\n`,
    });
    expect(problems[0]?.message).toContain("The skill conductor comes with Conductor");
  });

  it("a session key lets an agent see what was said under it before", async () => {
    const { provider, asked } = listening({ agents: { a: [{ text: "red" }] } });
    const { workflow } = await fromText(
      `${head()}  - { name: a, prompt: colour?, session_key: s, routes: [{ to: b }] }\n  - { name: b, prompt: why?, session_key: s }\n`,
      {},
      { providers: { model: provider } },
    );
    const lab = createLab();
    const engine = lab.engine([workflow]);
    await lab.drive(engine.start(workflow, {}, { id: "r" }));
    await lab.drive(engine.result("r"));
    expect(asked[1]?.messages.map(({ text }) => text)).toEqual(["colour?", "red", "why?"]);
  });

  it("a dialog is a gate for each message, and what was said is heeded", async () => {
    const { provider, asked } = listening({
      agents: {
        "a (dialog)": [
          { when: "The agent a was asked", json: { talk: true, opening: "Which bolts?" } },
          { when: "M8", text: "Noted." },
        ],
        a: [{ when: "## Conversation", text: "M8 bolts" }, { text: "bolts" }],
      },
    });
    const { workflow } = await fromText(
      `${head()}  - { name: a, prompt: order, dialog: { trigger_prompt: if unsure } }\noutput: { text: "{{ a.output.result }}" }\n`,
      {},
      { providers: { model: provider } },
    );
    const lab = createLab();
    const engine = lab.engine([workflow]);
    await lab.drive(engine.start(workflow, {}, { id: "r" }));
    for (const [choice, text] of [
      ["say", "M8"],
      ["proceed", ""],
    ] as const) {
      await lab.drive(engine.settled("r"));
      const [gate] = await lab.drive(engine.gates("r"));
      await lab.drive(engine.answer("r", gate?.gate ?? "", { choice, text }));
    }
    expect(await lab.drive(engine.result("r"))).toEqual({ text: "M8 bolts" });
    expect(asked.at(-1)?.messages.at(-1)?.text).toContain("person: M8\na: Noted.");
  });

  it("plugins are refused with what to write instead", async () => {
    const { problems } = await checkWorkflow({
      text: `${head(", runtime: { plugins: [x] }")}  - { name: a, prompt: p }\n`,
    });
    expect(problems[0]?.message).toContain("name the folders of its skills under skills");
  });
});

describe("a script of answers (Y6)", () => {
  it("may answer each visit of an agent differently", async () => {
    const { workflow } = await fromText(
      `${head()}  - { name: a, prompt: p, output: { ok: { type: boolean } }, routes: [{ to: $end, when: "{{ output.ok }}" }, { to: a }] }\noutput: { n: "{{ context.iteration }}" }\n`,
      { agents: { a: [{ visit: 3, json: { ok: true } }, { json: { ok: false } }] } },
    );
    const lab = createLab();
    const engine = lab.engine([workflow]);
    await lab.drive(engine.start(workflow, {}, { id: "r" }));
    expect(await lab.drive(engine.result("r"))).toEqual({ n: 3 });
  });
});

describe("questions (Y4)", () => {
  it("take a blank answer to an optional question for none, and leave it out of the transcript", async () => {
    const { workflow } = await fromText(
      `${head()}  - { name: a, type: questions, allow_back: false, questions: [{ id: one, text: One? }, { id: two, text: Two? }, { id: three, text: Three?, default: d }] }\noutput: { t: "{{ a.output.transcript }}", n: "{{ a.output.skipped_count }}" }\n`,
    );
    const lab = createLab();
    const engine = lab.engine([workflow]);
    await lab.drive(engine.start(workflow, {}, { id: "r" }));
    for (const [gate, text] of [
      ["a/one", " "],
      ["a/two", "yes"],
      ["a/three", ""],
    ] as const) {
      await lab.drive(engine.settled("r"));
      await lab.drive(engine.answer("r", gate, { choice: "answer", text }));
    }
    expect(await lab.drive(engine.result("r"))).toEqual({ t: "Q2. Two?\nA: yes\n\nQ3. Three?\nA: d", n: 1 });
  });

  it("check a pattern as Python does: a line break may stand before the end", () => {
    const schema = outputSchema({ v: { type: "string", pattern: "^ok$", required: true, nullable: false } });
    expect(readAnswer('{"v": "ok\\n"}', schema).ok).toBe(true);
    expect(readAnswer('{"v": "ok\\n\\n"}', schema).ok).toBe(false);
  });
});
