/**
 * Texts designed to take long: each is small enough to be sent, and would block a process for seconds to for ever if it
 * were parsed without a budget. Add every new slow input here.
 */

const HEAD = "workflow: { name: hostile, entry_point: a }\nagents:\n";
const many = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join("");

/** Whole workflow files. */
export const FILES: Readonly<Record<string, string>> = {
  "24,000 keys": many(24_000, (index) => `key${index}: ${index}\n`),
  "24,000 keys below one agent": `${HEAD}  - { ${many(24_000, (index) => `k${index}: 1, `)} }\n`,
  "a list that never ends": `[${",".repeat(100_000)}`,
  "a list of empty items": `${HEAD}[${",".repeat(100_000)}]`,
  "brackets without an end": "[".repeat(200_000),
  "mappings without an end": "{a: ".repeat(50_000),
  "lists in lists on one line": "- ".repeat(100_000),
  "questions in questions": "? ".repeat(100_000),
  "stairs of mappings": many(2_000, (index) => `${" ".repeat(Math.min(index, 120))}a:\n`),
  "closing brackets": "]".repeat(200_000),
  "empty mappings": "{}".repeat(100_000),
  "values without a comma": '"a" '.repeat(60_000),
  tags: "!a ".repeat(80_000),
  anchors: "&a ".repeat(80_000),
  aliases: "- *a\n".repeat(50_000),
  laughs: `a: &a [x,x]\n${many(30, (index) => `b${index}: &b${index} [${`*${index === 0 ? "a" : `b${index - 1}`},`.repeat(9)}]\n`)}`,
  documents: "---\na\n".repeat(40_000),
  directives: "%YAML 1.2\n".repeat(25_000),
  comments: "# a\n".repeat(60_000),
  newlines: "\n".repeat(260_000),
  tabs: "\t- a\n".repeat(50_000),
  "block scalars": "- |\n".repeat(60_000),
  "comments in a list": `[${"a, # c\n".repeat(30_000)}]`,
  "variables that never close": `${HEAD}  - { name: a, prompt: "${"${A:-".repeat(45_000)}" }\n`,
  "800 agents that lead nowhere": `${HEAD}${many(800, (index) => `  - { name: a${index}, prompt: p, routes: [{ to: b${index} }] }\n`)}`,
  "800 agents that lead to each other": `${HEAD.replace("entry_point: a", "entry_point: a0")}${many(800, (index) => `  - { name: a${index}, prompt: p, routes: [{ to: a${(index + 1) % 800} }] }\n`)}`,
  "names of 50,000 letters": `${HEAD}${many(4, (index) => `  - { name: ${"x".repeat(50_000)}${index}, prompt: p, routes: [{ to: ${"y".repeat(10_000)} }] }\n`)}`,
  "unknown keys": `${HEAD}  - { name: a, prompt: p, ${many(2_500, (index) => `promp${index}: 1, `)} }\n`,
  "a group of 2,500": `${HEAD}  - { name: a, prompt: p }\nparallel: [{ name: g, agents: [${"a, ".repeat(2_500)}] }]\n`,
  "groups of the same agents": `${HEAD}${many(40, (index) => `  - { name: a${index}, prompt: "{{ workflow.input.x }}" }\n`)}parallel:\n${many(40, (index) => `  - { name: g${index}, agents: [${many(40, (one) => `a${one}, `)}] }\n`)}`,
};

/** Files that refer to each other, by name; `main.yaml` is the workflow. */
export const TREES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "includes that double, twenty deep": Object.fromEntries([
    ["main.yaml", `${HEAD}  - { name: a, prompt: !file p0.md }\n`],
    ...Array.from({ length: 20 }, (_, index) => [
      `p${index}.md`,
      index === 19 ? "x".repeat(1_000) : `{% include "p${index + 1}.md" %}{% include "p${index + 1}.md" %}`,
    ]),
  ]),
  "one file put in 5,000 times": {
    "main.yaml": `${HEAD}  - { name: a, prompt: !file p.md }\n`,
    "p.md": '{% include "big.md" %}'.repeat(5_000),
    "big.md": "x".repeat(200_000),
  },
  "lists put in by lists": Object.fromEntries([
    ["main.yaml", `${HEAD}  - { name: a, prompt: p }\ntools: !file l0.yaml\n`],
    ...Array.from({ length: 12 }, (_, index) => [
      `l${index}.yaml`,
      index === 11 ? "- x\n".repeat(500) : `- !file l${index + 1}.yaml\n- !file l${index + 1}.yaml\n`,
    ]),
  ]),
  "1,000 sub-workflows": {
    "main.yaml": `${HEAD.replace("entry_point: a", "entry_point: a0")}${many(1_000, (index) => `  - { name: a${index}, type: workflow, workflow: s${index}.yaml }\n`)}`,
    ...Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [
        `s${index}.yaml`,
        `workflow: { name: s, entry_point: b }\nagents: [{ name: b, prompt: p }]\n`,
      ]),
    ),
  },
};

/** Texts that a model or a tool may write, and a set step of type auto binds. */
export const SET_VALUES: Readonly<Record<string, string>> = {
  "149 KB of keys": many(13_000, (index) => `key${index}: ${index}\n`).slice(0, 149_000),
  "a list that never ends": `[${",".repeat(100_000)}`,
  "a list of empty items": `[${",".repeat(100_000)}]`,
  "a long list in YAML": "- a\n".repeat(100_000),
  "a long list in JSON": `[${"1,".repeat(300_000)}1]`,
  "a deep list": `${"[".repeat(50_000)}${"]".repeat(50_000)}`,
  "brackets without an end": "[".repeat(500_000),
  "mappings without an end": "{a: ".repeat(100_000),
  "lists on one line": "- ".repeat(200_000),
  "quotes without an end": `"${"a\n".repeat(200_000)}`,
  "a long text": "The quick brown fox jumps over, the lazy dog.\n".repeat(10_000),
  "a text with colons": "The fox: jumps over, the lazy dog.\n".repeat(10_000),
  "closing brackets": "]".repeat(200_000),
  "a number of 200,000 digits": "9".repeat(200_000),
  laughs: `a: &a [x,x]\n${many(30, (index) => `b${index}: &b${index} [${`*${index === 0 ? "a" : `b${index - 1}`},`.repeat(9)}]\n`)}`,
};

/** Texts that a model may write when JSON is requested. */
export const ANSWERS: Readonly<Record<string, string>> = {
  "braces without an end": "{".repeat(500_000),
  "brackets and braces in turn": "[{".repeat(250_000),
  "strings that never close": `{"a`.repeat(150_000),
  "a fence that never closes": `\`\`\`${"a".repeat(200_000)}`,
  "a fence of spaces": `\`\`\`${" ".repeat(200_000)}`,
  "many fences": "```json\n".repeat(40_000),
  "a deep list": `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
  "a long list": `[${"1,".repeat(400_000)}1]`,
  "many small objects": '{"b":1} '.repeat(60_000),
  "objects in broken objects": `${'{"b":'.repeat(60_000)}1${"}".repeat(59_999)}`,
  "spaces before nothing": " ".repeat(1_000_000),
};
