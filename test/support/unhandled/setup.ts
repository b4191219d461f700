import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect } from "vitest";

/**
 * Instruments every process that a crash test starts: an unhandled rejection or exception in any of them fails the
 * file, even if the test itself ignores how its processes ended (E5).
 */
const folder = mkdtempSync(path.join(tmpdir(), "holdfast-unhandled-"));
const file = path.join(folder, "unhandled.log");
const arm = new URL("./arm.mjs", import.meta.url).href;
process.env["HOLDFAST_TEST_UNHANDLED"] = file;
process.env["NODE_OPTIONS"] = `${process.env["NODE_OPTIONS"] ?? ""} --import ${arm}`.trim();

/** For tests of this setup: returns what was recorded so far, which then doesn't count. */
export function takeUnhandled(): string {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  rmSync(file, { force: true });
  return text;
}

afterAll(() => {
  const unhandled = takeUnhandled();
  rmSync(folder, { recursive: true, force: true });
  expect(unhandled).toBe("");
});
