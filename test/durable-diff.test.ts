import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { ROOT } from "./source-tree.ts";

const folder = mkdtempSync(path.join(ROOT, ".tmp-diff-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const page = readFileSync(path.join(ROOT, "docs/start.md"), "utf8");
const diff = (/```diff\n(.*?)```/s.exec(page)?.[1] ?? "").trimEnd().split("\n");
const of = (signs: string): string =>
  diff.flatMap((line) => (signs.includes(line[0] ?? " ") ? [line.slice(1)] : [])).join("\n");

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
  const [added, removed] = ["+", "-"].map((sign) => diff.filter((line) => line.startsWith(sign)).length);
  expect(diff.filter((line) => line.includes("ctx.step("))).toHaveLength(3);
  expect(Math.max(added ?? 0, removed ?? 0)).toBeLessThanOrEqual(5);

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
