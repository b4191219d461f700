import { symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { folderWith } from "../../test/support/yaml.ts";
import { checkWorkflow, problemText } from "./index.ts";

const HEAD = "workflow: { name: w, entry_point: a }\nagents:\n";
const A = "  - name: a\n    prompt: hello\n";

async function problemsOf(
  text: string,
  folder?: string,
  env: Record<string, string> = {},
): Promise<string[]> {
  const { problems } = await checkWorkflow({ text, ...(folder === undefined ? {} : { folder }) }, { env });
  return problems.map(problemText);
}

describe("a workflow file", () => {
  it("is taken when it is plain YAML", async () => {
    const { workflow, problems } = await checkWorkflow({ text: HEAD + A }, { env: {} });
    expect(problems).toEqual([]);
    expect(workflow).toMatchObject({ name: "w", nodes: [{ id: "a", type: "agent" }, { id: "$end" }] });
  });

  it("may not use anchors, aliases, merge keys, duplicate keys or tags of its own", async () => {
    expect(await problemsOf(`${HEAD}  - &x { name: a, prompt: p }\n`)).toEqual([
      "workflow.yaml:3:8: The anchor &x is not allowed.",
    ]);
    expect(await problemsOf(`${HEAD}  - { name: a, prompt: *x }\n`)).toEqual([
      expect.stringMatching(/^workflow\.yaml:3:24: /),
    ]);
    expect(await problemsOf(`${HEAD}  - { name: a, prompt: p, "<<": { b: 1 } }\n`)).toEqual([
      "workflow.yaml:3:27: Merge keys (<<) are not allowed: write the keys out.",
    ]);
    expect(await problemsOf(`${HEAD}  - name: a\n    prompt: p\n    prompt: q\n`)).toEqual([
      "workflow.yaml:5:5: The key prompt is there twice.",
    ]);
    expect(await problemsOf(`${HEAD}  - name: a\n    prompt: !!js/function "x"\n`)).toEqual([
      expect.stringMatching(/^workflow\.yaml:4:\d+: The tag .*js\/function is not allowed/),
    ]);
    expect(await problemsOf(`${HEAD}  - name: a\n    prompt: !env HOME\n`)).toEqual([
      "workflow.yaml:4:18: The tag !env is not allowed; only !file is.",
    ]);
    expect(await problemsOf(`${HEAD}  - { name: a, prompt: p, constructor: x }\n`)).toEqual([
      expect.stringContaining("the name constructor is not allowed"),
    ]);
  });

  it("may not be a bomb", async () => {
    const laughs = `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n`;
    expect((await problemsOf(laughs)).join("\n")).toContain("is not allowed");
    expect(await problemsOf("[".repeat(50_000))).not.toEqual([]);
    expect(await problemsOf(`${HEAD}  - ${"{ a: ".repeat(150)}1${" }".repeat(150)}\n`)).toEqual([
      expect.stringContaining("depth over 100"),
    ]);
    expect(await problemsOf(`${HEAD}${A}# ${"x".repeat(300_000)}\n`)).toEqual([
      "workflow.yaml:1:1: workflow.yaml is larger than 256 KiB",
    ]);
    expect(await problemsOf(`${HEAD}${A}---\nworkflow: {}\n`)).toEqual([
      expect.stringContaining("workflow.yaml:5:"),
    ]);
  });

  it("looks environment variables up once", async () => {
    const text = `${HEAD}  - name: a\n    prompt: p\n    model: \${MODEL:-small}\n    description: \${OTHER}\n`;
    expect(await problemsOf(text, undefined, { MODEL: "$" + "{SECRET}" })).toEqual([
      "workflow.yaml:6:18: The environment variable OTHER is not set. Give it a default: ${OTHER:-…}",
    ]);
    expect(await problemsOf(text, undefined, { MODEL: "$" + "{SECRET}", OTHER: "x" })).toEqual([]);
  });
});

describe("a reference to a file", () => {
  it("puts text, lists and mappings in, relative to the file it stands in", async () => {
    const folder = folderWith({
      "prompts/a.md": 'Hello {{ workflow.input.who }}\n{% include "b.md" %}',
      "prompts/b.md": "- a list, as it seems\n",
      "schemas/out.yaml": "answer: !file parts/field.yaml\n",
      "schemas/parts/field.yaml": "type: string\nenum: [yes please, no]\n",
    });
    const text = `workflow: { name: w, entry_point: a, input: { who: { type: string } } }
agents:
  - name: a
    prompt: !file prompts/a.md
    output: !file schemas/out.yaml
output: { x: "{{ a.output.answer }}" }
`;
    expect(await problemsOf(text, folder)).toEqual([]);
    expect(await problemsOf(text.replace("a.output.answer", "a.output.anwser"), folder)).toEqual([
      "workflow.yaml:6:11: warning: The output of a declares no anwser. Did you mean answer?",
    ]);
  });

  it("names the included file and line where something is wrong", async () => {
    const folder = folderWith({ "out.yaml": "answer:\n  type: text\n" });
    expect(
      await problemsOf(`${HEAD}  - name: a\n    prompt: p\n    output: !file out.yaml\n`, folder),
    ).toEqual(["out.yaml:2:3: type must be string or number or boolean or array or object, not text."]);
  });

  it("cannot leave the folder, by path or by link, nor lead in a circle or nowhere", async () => {
    const outside = folderWith({ "secret.md": "s" });
    const folder = folderWith({ "a.yaml": "x: !file b.yaml\n", "b.yaml": "y: !file a.yaml\n" });
    symlinkSync(join(outside, "secret.md"), join(folder, "link.md"));
    writeFileSync(join(folder, "bytes.md"), Buffer.from([0xff, 0xfe, 0x00]));
    const prompt = (path: string) => `${HEAD}  - name: a\n    prompt: !file ${path}\n`;
    const up = relative(folder, join(outside, "secret.md"));
    for (const path of [up, "link.md"])
      expect(await problemsOf(prompt(path), folder)).toContainEqual(
        `workflow.yaml:4:19: ${path} is outside the workflow's folder.`,
      );
    expect(await problemsOf(prompt("/etc/hosts"), folder)).toContainEqual(
      "workflow.yaml:4:19: /etc/hosts must be a path relative to the file it is in.",
    );
    expect(await problemsOf(prompt("gone.md"), folder)).toContainEqual(
      "workflow.yaml:4:19: gone.md does not exist.",
    );
    expect(await problemsOf(prompt("bytes.md"), folder)).toContainEqual(
      "workflow.yaml:4:19: bytes.md cannot be read as UTF-8 text.",
    );
    expect(await problemsOf(`${HEAD}${A}output: !file a.yaml\n`, folder)).toContainEqual(
      expect.stringContaining("a.yaml → b.yaml → a.yaml: the files refer to each other in a circle"),
    );
  });
});
