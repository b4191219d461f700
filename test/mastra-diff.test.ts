import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, it } from "vitest";
import { ROOT } from "./source-tree.ts";

const folder = mkdtempSync(path.join(ROOT, ".tmp-mastra-diff-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const page = readFileSync(path.join(ROOT, "docs/mastra.md"), "utf8");
const diff = (/```diff\n(.*?)```/s.exec(page)?.[1] ?? "").trimEnd().split("\n");
const of = (signs: string): string =>
  diff.flatMap((line) => (signs.includes(line[0] ?? " ") ? [line.slice(1)] : [])).join("\n");

const WORKFLOW = `
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { z } from "zod";
const order = z.object({ order: z.string() });
const done = z.object({ said: z.string() });
const find = createStep({
  id: "find",
  inputSchema: order,
  outputSchema: order,
  execute: async ({ inputData }) => { console.log("looked up " + inputData.order); return inputData; },
});
const ask = createStep({
  id: "ask",
  inputSchema: order,
  outputSchema: done,
  resumeSchema: done,
  execute: async ({ resumeData, suspend }) => resumeData ?? suspend({}),
});
export const refund = createWorkflow({ id: "refund", inputSchema: order, outputSchema: done }).then(find).then(ask).commit();
`;
/** Starts the workflow; the program that follows resumes it, unless there is nothing to resume. */
const call = (module: string): string => `
import { mastra } from "./${module}.mts";
const run = await mastra.getWorkflow("refund").createRun({ runId: "r-1" });
if (process.argv[2] === "start") {
  const { status } = await run.start({ inputData: { order: "o-1" } });
  console.log(status);
} else {
  const said = await run.resume({ step: "ask", resumeData: { said: "yes" } }).then(({ status }) => status, () => "nothing to resume");
  console.log(said);
}
process.exit(0);
`;

async function node(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, ["--import", "tsx", ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  return text(child.stdout);
}

it("makes a Mastra application durable by changing at most five of its lines, and the next process goes on (S1-76)", async () => {
  const [added, removed] = ["+", "-"].map((sign) => diff.filter((line) => line.startsWith(sign)).length);
  expect(added).toBeGreaterThan(0);
  expect(Math.max(added ?? 0, removed ?? 0)).toBeLessThanOrEqual(5);
  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(ROOT, path.join(folder, "node_modules/holdfast"), "junction");
  const files = {
    "before.mts": of(" -"),
    "after.mts": of(" +"),
    "refund.mts": WORKFLOW,
    "call-before.mts": call("before"),
    "call-after.mts": call("after"),
    "package.json": "{}",
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, name), content);
  const both = (verb: string) =>
    Promise.all(["before", "after"].map((name) => node(`call-${name}.mts`, verb)));
  const started = "looked up o-1\nsuspended\n";
  expect(await both("start")).toEqual([started, started]);
  expect(await both("resume")).toEqual(["nothing to resume\n", "success\n"]);
});
