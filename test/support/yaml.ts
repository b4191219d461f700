import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { type Script, type ScriptedCall, scriptedProvider } from "../../src/agent/index.ts";
import { type LoadOptions, loadWorkflow, type YamlWorkflow } from "../../src/yaml/index.ts";

/** Creates a folder with these files, which is removed when the test has ended. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-yaml-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** A workflow from this text, whose models answer from a script; `calls` lists the called agents in order. */
export async function fromText(
  text: string,
  script: Script = {},
  options: LoadOptions & { readonly files?: Readonly<Record<string, string>> } = {},
): Promise<YamlWorkflow & { readonly calls: readonly string[] }> {
  const { files = {}, ...rest } = options;
  const calls: string[] = [];
  const onCall = ({ agent }: ScriptedCall) => void calls.push(agent);
  const folder = folderWith({ "flow.yaml": text, ...files });
  const loaded = await loadWorkflow(join(folder, "flow.yaml"), {
    providers: { model: scriptedProvider(script, { onCall }) },
    aliases: { copilot: "model" },
    ...rest,
  });
  return Object.assign(loaded, { calls });
}
