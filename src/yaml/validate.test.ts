import { describe, expect, it } from "vitest";
import { folderWith } from "../../test/support/yaml.ts";
import { checkWorkflow, problemText } from "./index.ts";

async function problemsOf(text: string, folder?: string): Promise<string[]> {
  const { problems } = await checkWorkflow(
    { text, name: "w.yaml", ...(folder === undefined ? {} : { folder }) },
    { env: {} },
  );
  return problems.map(problemText);
}

const flow = (agents: string, rest = "", settings = ""): string =>
  `workflow: { name: w, entry_point: a${settings} }\nagents:\n${agents}${rest}`;
const A = "  - { name: a, prompt: p }\n";

describe("what a workflow file says", () => {
  it.each([
    [
      "an unknown key",
      flow("  - { name: a, promtp: x, prompt: p }\n"),
      "w.yaml:3:16: There is no key promtp here. Did you mean prompt?",
    ],
    [
      "a key of another type",
      flow("  - { name: a, type: script, command: x, prompt: p }\n"),
      "w.yaml:3:42: A step of type script cannot have prompt; it is for agent, human_gate, questions.",
    ],
    [
      "an unknown type",
      flow("  - { name: a, type: scipt }\n"),
      "w.yaml:3:16: There is no agent of type scipt; there are agent, human_gate, questions, script, set, wait, workflow, terminate. Did you mean script?",
    ],
    [
      "an unknown setting",
      flow(A, "", ", limits: { max_iteration: 3 }"),
      "w.yaml:1:48: There is no key max_iteration here. Did you mean max_iterations?",
    ],
    [
      "a key in the wrong place",
      flow(A, "input: { x: { type: string } }\n"),
      "w.yaml:4:1: input belongs under workflow.",
    ],
    [
      "a mapping for a text",
      flow("  - { name: a, type: script, command: x, args: [{ b: 1 }] }\n"),
      "w.yaml:3:49: entry 1 of args must be a text, not a mapping.",
    ],
    ["a missing key", flow("  - { name: a, type: script }\n"), "w.yaml:3:5: command is missing."],
    [
      "a value that is not allowed",
      flow(A, "", ", context: { mode: all }"),
      "w.yaml:1:49: mode must be accumulate or last_only or explicit, not all.",
    ],
    [
      "a wrong type",
      flow("  - { name: a, prompt: p, tools: x }\n"),
      "w.yaml:3:27: tools must be a list, not x.",
    ],
    [
      "a number out of range",
      flow(A, "", ", limits: { max_iterations: 501 }"),
      "w.yaml:1:48: max_iterations is out of range: Too big: expected number to be <=500.",
    ],
    [
      "a default of a wrong type",
      flow(A, "", ", input: { n: { type: number, default: x } }"),
      "w.yaml:1:66: The default must be of type number.",
    ],
    [
      "a constraint on the wrong type",
      flow("  - { name: a, prompt: p, output: { x: { type: number, pattern: a } } }\n"),
      "w.yaml:3:56: pattern is only for type string, and this is number.",
    ],
    [
      "an optional field at the top",
      flow("  - { name: a, prompt: p, output: { x: { type: number, required: false } } }\n"),
      "w.yaml:3:56: A field at the top of output cannot be optional; nullable: true allows null.",
    ],
    [
      "a route to nowhere",
      flow("  - { name: a, prompt: p, routes: [{ to: bb }] }\n  - { name: b, prompt: p }\n"),
      "w.yaml:3:38: There is no agent or group bb. Did you mean b?",
    ],
    [
      "a missing entry point",
      "workflow: { name: w, entry_point: b }\nagents:\n  - { name: a, prompt: p }\n",
      "w.yaml:1:22: There is no agent or group b.",
    ],
    ["two of a name", flow(A + A), "w.yaml:4:7: There are two of the name a."],
    [
      "a name that cannot be one",
      flow('  - { name: "a/b", prompt: p }\n').replace("entry_point: a", "entry_point: a/b"),
      "w.yaml:3:7: a/b is not a valid name for a step or a workflow.",
    ],
    [
      "a member that is not there",
      flow(A, "parallel: [{ name: g, agents: [a, c] }]\n"),
      "w.yaml:4:35: There is no agent c.",
    ],
    [
      "a member that may not be one",
      flow(`${A}  - { name: b, type: wait, duration: 1s }\n`, "parallel: [{ name: g, agents: [a, b] }]\n"),
      "w.yaml:5:35: b is of type wait; in a parallel group there may be agent and set.",
    ],
    [
      "members that see each other",
      flow(
        `${A}  - { name: b, prompt: "{{ a.output.result }}" }\n`,
        "parallel: [{ name: g, agents: [a, b] }]\n",
      ),
      "w.yaml:4:16: a runs at the same time in g: b cannot see it.",
    ],
    [
      "a template that does not parse",
      flow('  - { name: a, prompt: "{% if x %}" }\n'),
      "w.yaml:3:16: The template does not parse: the template ends before {% endif %}.",
    ],
    [
      "a template of unknown names",
      flow('  - { name: a, prompt: "{{ wrkflow.input.x }}" }\n'),
      "w.yaml:3:16: The template asks for wrkflow, which doesn't exist. Did you mean workflow?",
    ],
    [
      "a template of unknown inputs",
      flow(
        '  - { name: a, prompt: "{{ workflow.input.topc }}" }\n',
        "",
        ", input: { topic: { type: string } }",
      ),
      "w.yaml:3:16: workflow.input has no topc. Did you mean topic?",
    ],
    [
      "a template of unknown parts",
      flow('  - { name: a, prompt: "{{ a.outputs.x }}" }\n'),
      "w.yaml:3:16: Agent a has no outputs. Did you mean output?",
    ],
    [
      "an unknown filter",
      flow('  - { name: a, prompt: "{{ workflow.name | uper }}" }\n'),
      "w.yaml:3:16: There is no filter uper. Did you mean upper?",
    ],
    [
      "a condition that does not parse",
      flow('  - { name: a, prompt: p, routes: [{ to: $end, when: "x ==" }] }\n'),
      "w.yaml:3:48: The condition does not parse",
    ],
    [
      "an input that is not there",
      flow("  - { name: a, prompt: p, input: [b.output] }\n"),
      "w.yaml:3:35: There is no agent or group b.",
    ],
    [
      "a duration that is none",
      flow("  - { name: a, type: wait, duration: 2d }\n"),
      "w.yaml:3:28: duration must be a duration such as 500ms, 60s, 2.5m or 1h, of at most a day.",
    ],
    [
      "a question nobody can answer",
      flow("  - { name: a, type: questions, questions: [{ text: x, allow_free_text: false }] }\n"),
      "w.yaml:3:45: Nobody can answer it: it has no choices and allows no free text.",
    ],
    [
      "a registry",
      flow("  - { name: a, type: workflow, workflow: 'qa@team#v1' }\n"),
      "qa@team#v1 is not supported: workflows come from files, not from a registry.",
    ],
    [
      "skills",
      flow("  - { name: a, prompt: p, skills: [x] }\n"),
      "w.yaml:3:36: The skill x comes with Conductor; name a folder with a SKILL.md, such as ./skills/x.",
    ],
    [
      "a summary of the context",
      flow(A, "", ", context: { trim_strategy: summarize }"),
      "trim_strategy: summarize is not supported",
    ],
    [
      "part of retry_on",
      flow("  - { name: a, prompt: p, retry: { retry_on: [timeout] } }\n"),
      "retry_on with only some of the categories is not supported",
    ],
  ])("is refused: %s", async (_, text, problem) => {
    const found = await problemsOf(text);
    expect(found.filter((one) => !one.includes("warning"))).toContainEqual(expect.stringContaining(problem));
  });

  it("is warned about where it is no mistake but looks like one", async () => {
    const text = flow(
      "  - { name: a, prompt: p, routes: [{ to: b }], reasoning: { effort: max }, working_dir: x }\n  - { name: b, prompt: p, routes: [{ to: a }] }\n  - { name: c, prompt: p }\n",
      "",
      ", checkpoint: { enabled: false }",
    );
    expect(await problemsOf(text)).toEqual([
      "w.yaml:1:52: warning: Runs are not saved: after a crash, they are gone.",
      "w.yaml:3:7: warning: From a no way leads to $end: only max_iterations (10) ends it.",
      "w.yaml:3:61: warning: max is asked for as high: providers are asked for low, medium or high.",
      "w.yaml:3:76: warning: working_dir is where MCP servers are started, and there are none.",
      "w.yaml:4:7: warning: From b no way leads to $end: only max_iterations (10) ends it.",
      "w.yaml:5:7: warning: Nothing leads to c.",
    ]);
  });

  it("holds for workflows inside it, by file or written out", async () => {
    const folder = folderWith({
      "sub.yaml":
        "workflow: { name: s, entry_point: x, input: { q: { type: string } } }\nagents:\n  - { name: x, prompt: '{{ y }}' }\n",
    });
    const text = flow(
      "  - { name: a, type: workflow, workflow: sub.yaml, input_mapping: { p: x } }\n  - { name: b, type: workflow, workflow: gone.yaml }\n  - { name: c, type: workflow, workflow: { workflow: { name: i, entry_point: z }, agents: [] } }\n",
    );
    const found = await problemsOf(text, folder);
    expect(found.filter((one) => !one.includes("warning"))).toEqual([
      "sub.yaml:3:16: The template asks for y, which doesn't exist.",
      "w.yaml:3:52: s needs the input q.",
      "w.yaml:3:69: s has no input p.",
      "w.yaml:4:32: gone.yaml does not exist.",
      expect.stringMatching(/^w\.yaml:5:\d+: There is no agent or group z\./),
    ]);
  });
});
