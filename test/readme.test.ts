import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { ROOT } from "./source-tree.ts";

// Inside the package, so that "holdfast" is found as users find it.
const folder = mkdtempSync(path.join(ROOT, ".tmp-readme-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const [flow = "", program = ""] = [
  ...readFileSync(path.join(ROOT, "README.md"), "utf8").matchAll(/```ts\n(.*?)```/gs),
].map(([, code = ""]) => code);

const node = (...args: string[]) =>
  spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", timeout: 60_000 });
const holdfast = (...args: string[]) => node(path.join(ROOT, "dist/cli/main.js"), ...args);

it("the README's workflow runs from the command line, waits at its gate and ends (C1)", () => {
  writeFileSync(path.join(folder, "flow.ts"), flow);
  const run = holdfast("run", "flow.ts", "-i", "batch=2026-01", "--id", "one");
  expect([run.status, run.stderr]).toEqual([75, expect.stringContaining("gate approve one:approve")]);
  expect(holdfast("gate", "approve", "one").status).toBe(0);
  const resumed = holdfast("resume", "one");
  expect([resumed.status, JSON.parse(resumed.stdout)]).toEqual([0, expect.objectContaining({ paid: 20 })]);
});

it("the README's program says what it waits for, and ends (C1)", () => {
  writeFileSync(path.join(folder, "program.ts"), program);
  const tsx = path.join(ROOT, "node_modules/tsx/dist/cli.mjs");
  const first = node(tsx, "program.ts");
  expect([first.status, first.stdout]).toEqual([0, "waiting: npx holdfast show reconcile-2026-01\n"]);
});
