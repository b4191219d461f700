import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, it } from "vitest";
import { startOpenAiServer } from "../src/testing/openai-server.ts";
import { ROOT } from "./source-tree.ts";

const folder = mkdtempSync(path.join(ROOT, ".tmp-ai-diff-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const page = readFileSync(path.join(ROOT, "docs/ai-sdk.md"), "utf8");
const diff = (/```diff\n(.*?)```/s.exec(page)?.[1] ?? "").trimEnd().split("\n");
const of = (signs: string): string =>
  diff.flatMap((line) => (signs.includes(line[0] ?? " ") ? [line.slice(1)] : [])).join("\n");

const TOOLS = `
import { tool } from "ai";
import { z } from "zod";
const order = z.object({ order: z.string() });
export const lookUp = tool({ inputSchema: order, execute: ({ order }) => "a lamp, " + order });
export const refund = tool({ inputSchema: order, execute: ({ order }) => "refunded " + order });
`;
const modelAt = (url: string): string => `
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
export const model = createOpenAICompatible({ name: "local", baseURL: "${url}" })("m");
`;
const CALL = 'import { support } from "./before.mts"; console.log(await support({ question: "lamp?" }));';

async function node(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  return text(child.stdout);
}

it("makes an AI SDK agent durable by changing at most five of its lines, and it answers the same (S1-76)", async () => {
  const [added, removed] = ["+", "-"].map((sign) => diff.filter((line) => line.startsWith(sign)).length);
  expect(added).toBeGreaterThan(0);
  expect(Math.max(added ?? 0, removed ?? 0)).toBeLessThanOrEqual(5);

  const server = await startOpenAiServer(({ body }) => {
    const told = body.messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
    if (told.length > 0) return { text: `Found: ${told.join()}` };
    return { calls: [{ tool: "lookUp", input: { order: "o-1" } }] };
  });
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(ROOT, path.join(folder, "node_modules/holdfast"), "junction");
  const files = {
    "before.mts": of(" -"),
    "support.mts": of(" +"),
    "call.mts": CALL,
    "tools.mts": TOOLS,
    "model.mts": modelAt(server.url),
    "package.json": "{}",
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, name), content);
  const before = await node(path.join(ROOT, "node_modules/tsx/dist/cli.mjs"), "call.mts");
  const after = await node(path.join(ROOT, "dist/cli/main.js"), "run", "support.mts", "-i", "question=lamp?");
  await server.close();
  expect(before).toBe("Found: a lamp, o-1\n");
  expect(after).toBe(before);
});
