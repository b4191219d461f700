import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { ROOT } from "./source-tree.ts";

const folder = mkdtempSync(path.join(ROOT, ".tmp-diff-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The diff in a page of the documentation. */
function diffIn(name: string) {
  const page = readFileSync(path.join(ROOT, "docs", name), "utf8");
  const diff = (/```diff\n(.*?)```/s.exec(page)?.[1] ?? "").trimEnd().split("\n");
  const of = (signs: string): string =>
    diff.flatMap((line) => (signs.includes(line[0] ?? " ") ? [line.slice(1)] : [])).join("\n");
  const [added = 0, removed = 0] = ["+", "-"].map(
    (sign) => diff.filter((line) => line.startsWith(sign)).length,
  );
  return { diff, of, changed: Math.max(added, removed) };
}

const SERVICES = `
export const load = async (topic: string) => ({ topic, legs: 0 });
export const ask = async (facts: { topic: string; legs: number }) => facts.topic + " have " + facts.legs + " legs";
export const send = async (text: string) => "sent: " + text;
`;
const RETRY =
  "export const retry = <I, O>(work: (input: I) => Promise<O>) => (input: I) => work(input).catch(() => work(input));";
const CALL = 'import { report } from "./before.mts"; console.log(await report({ topic: "whales" }));';

const node = (...args: string[]) => spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });

it("makes a function of three steps durable by changing at most five of its lines (C1)", () => {
  const { diff, of, changed } = diffIn("start.md");
  expect(diff.filter((line) => line.includes("ctx.step("))).toHaveLength(3);
  expect(changed).toBeLessThanOrEqual(5);

  mkdirSync(path.join(folder, "node_modules"));
  symlinkSync(ROOT, path.join(folder, "node_modules/holdfast"), "junction");
  const files = {
    "before.mts": of(" -"),
    "report.mts": of(" +"),
    "call.mts": CALL,
    "services.mts": SERVICES,
    "retry.mts": RETRY,
  };
  for (const [name, text] of Object.entries({ ...files, "package.json": "{}" }))
    writeFileSync(path.join(folder, name), text);
  const before = node(path.join(ROOT, "node_modules/tsx/dist/cli.mjs"), "call.mts");
  const after = node(path.join(ROOT, "dist/cli/main.js"), "run", "report.mts", "-i", "topic=whales");
  expect([before.stdout, before.status]).toEqual(["sent: whales have 0 legs\n", 0]);
  expect([after.stdout, after.status]).toEqual(["sent: whales have 0 legs\n", 0]);
  expect(after.stderr).toMatch(/✓ load.*✓ ask.*✓ send/s);
});

it("makes a LangGraph agent durable by changing at most five of its lines (C1)", () => {
  const { of, changed } = diffIn("langgraph.md");
  expect(changed).toBeLessThanOrEqual(5);
  const agent = path.join(folder, "langgraph");
  mkdirSync(path.join(agent, "node_modules"), { recursive: true });
  symlinkSync(ROOT, path.join(agent, "node_modules/holdfast"), "junction");
  symlinkSync(
    path.join(ROOT, "node_modules/@langchain"),
    path.join(agent, "node_modules/@langchain"),
    "junction",
  );
  const model = "export const model = ({ messages }) => ({ messages: [['ai', `turn ${messages.length}`]] });";
  const files = { "before.mts": of(" -"), "after.mts": of(" +"), "model.mts": model, "package.json": "{}" };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(agent, name), text);
  const run = (name: string) => {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [path.join(ROOT, "node_modules/tsx/dist/cli.mjs"), name],
      {
        cwd: agent,
        encoding: "utf8",
      },
    );
    return [stdout, stderr];
  };
  expect(run("before.mts")).toEqual(["turn 1\n", ""]);
  // The second process goes on with the thread.
  expect([run("after.mts"), run("after.mts")]).toEqual([
    ["turn 1\n", ""],
    ["turn 3\n", ""],
  ]);
});
