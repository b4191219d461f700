import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, it } from "vitest";
import { ROOT } from "./source-tree.ts";

const folder = mkdtempSync(path.join(ROOT, ".tmp-openai-diff-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const page = readFileSync(path.join(ROOT, "docs/openai-agents.md"), "utf8");
const diff = (/```diff\n(.*?)```/s.exec(page)?.[1] ?? "").trimEnd().split("\n");
const of = (signs: string): string =>
  diff.flatMap((line) => (signs.includes(line[0] ?? " ") ? [line.slice(1)] : [])).join("\n");

const AGENT = `
import { Agent, setTracingDisabled, tool, Usage } from "@openai/agents";
import { z } from "zod";
setTracingDisabled(true);
const lookUp = tool({
  name: "lookUp",
  description: "Finds an order",
  parameters: z.object({ order: z.string() }),
  execute: ({ order }) => "a lamp, " + order,
});
const model = {
  async getResponse({ input }: { input: string | { type?: string; output?: { text: string } }[] }) {
    const result = typeof input === "string" ? undefined : input.find(({ type }) => type === "function_call_result");
    const call = { type: "function_call", callId: "c1", name: "lookUp", status: "completed", arguments: '{"order":"o-1"}' };
    const content = [{ type: "output_text", text: "Found: " + result?.output?.text }];
    const said = { type: "message", role: "assistant", status: "completed", content };
    return { usage: new Usage(), output: [result ? said : call] };
  },
};
export const agent = new Agent({ name: "Clerk", model: model as never, tools: [lookUp] });
`;
const CALL = 'import { support } from "./before.mts"; console.log(await support({ question: "lamp?" }));';

async function node(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  return text(child.stdout);
}

it("makes an OpenAI agent durable by changing at most five of its lines, and it answers the same (S1-76)", async () => {
  const [added, removed] = ["+", "-"].map((sign) => diff.filter((line) => line.startsWith(sign)).length);
  expect(added).toBeGreaterThan(0);
  expect(Math.max(added ?? 0, removed ?? 0)).toBeLessThanOrEqual(5);
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(ROOT, path.join(folder, "node_modules/holdfast"), "junction");
  const files = {
    "before.mts": of(" -"),
    "support.mts": of(" +"),
    "call.mts": CALL,
    "agent.mts": AGENT,
    "package.json": "{}",
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, name), content);
  const before = await node(path.join(ROOT, "node_modules/tsx/dist/cli.mjs"), "call.mts");
  const after = await node(path.join(ROOT, "dist/cli/main.js"), "run", "support.mts", "-i", "question=lamp?");
  expect(before).toBe("Found: a lamp, o-1\n");
  expect(after).toBe(before);
});
