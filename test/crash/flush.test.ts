import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";

const CHILD = childScript("test/crash/flush-child");
const root = mkdtempSync(path.join(tmpdir(), "holdfast-flush-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

it.each([
  ["with the flush option is not run again", "option", 1],
  ["before ctx.flush() is not run again", "flush", 1],
  ["with neither may be run again", "neither", 2],
] as const)("a step %s when its process blocks for 500 ms and is killed (E19)", (_, how, times) => {
  const [file, log] = [path.join(root, `${how}.db`), path.join(root, `${how}.log`)];
  const run = (dies: string) =>
    spawnSync(process.execPath, [CHILD, file, log, how, dies], { stdio: "inherit" });
  expect(run("dies").signal).toBe("SIGKILL");
  expect(run("lives").status).toBe(0);
  expect(readFileSync(log, "utf8")).toBe("done\n".repeat(times));
});
