import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readReadme } from "../scripts/play-readme.mjs";
import { ROOT } from "./source-tree.ts";

/** As a user's folder after `npm install holdfast tsx`: no manifest that says "module". */
const folder = mkdtempSync(path.join(ROOT, ".tmp-readme-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(path.join(folder, "node_modules"));
symlinkSync(ROOT, path.join(folder, "node_modules/holdfast"), "junction");
writeFileSync(path.join(folder, "package.json"), "{}");

const { files } = readReadme();
for (const [name, code] of files) writeFileSync(path.join(folder, name), code);

const MAIN = path.join(ROOT, "dist/cli/main.js");
const TSX = path.join(ROOT, "node_modules/tsx/dist/cli.mjs");

const node = (...args: string[]) =>
  spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", timeout: 60_000 });
const holdfast = (...args: string[]) => node(MAIN, ...args);

describe("what the README shows", () => {
  it("has a first program of 8 to 12 lines (C1)", () => {
    const lines = files
      .get("trip.mts")
      ?.split("\n")
      .filter((line) => line.trim() !== "");
    expect(lines?.length).toBeGreaterThanOrEqual(8);
    expect(lines?.length).toBeLessThanOrEqual(12);
  });

  it("ends as a program, and as a workflow of the command line (C1)", () => {
    const booked = "Booked: a flight to Oslo and a room by the fjord.\n";
    const program = node(TSX, "trip.mts");
    expect([program.status, program.stdout, program.stderr]).toEqual([0, booked, ""]);
    const run = holdfast("run", "trip.mts", "--id", "again");
    expect([run.status, run.stdout]).toEqual([0, booked]);
  });

  it("waits at its gate on the command line, and ends once it is answered (C1)", () => {
    const run = holdfast("run", "approved.mts", "--id", "one");
    expect([run.status, run.stderr]).toEqual([75, expect.stringContaining("gate approve one:approve")]);
    expect(holdfast("gate", "approve", "one").status).toBe(0);
    const resumed = holdfast("resume", "one");
    expect([resumed.status, resumed.stdout]).toEqual([
      0,
      expect.stringMatching(/^Booked Oslo, receipt \S{8}\.\n$/),
    ]);
  });

  it("waits at its gate as a program, which another process answers (C1)", async () => {
    const program = spawn(process.execPath, [TSX, "approved.mts"], { cwd: folder });
    let said = "";
    program.stdout.on("data", (data) => (said += String(data)));
    const ended = new Promise((resolve) => program.on("close", resolve));
    while (!holdfast("gate", "list").stdout.includes("bergen:approve")) expect(program.exitCode).toBe(null);
    expect(holdfast("gate", "reject", "bergen").status).toBe(0);
    expect([await ended, said]).toEqual([0, "We are staying at home.\n"]);
  });

  it("runs without code, too (C1)", () => {
    const run = holdfast("run", "release.yaml", "--id", "v2");
    expect([run.status, run.stderr]).toEqual([75, expect.stringContaining("✓ notes")]);
    expect(holdfast("gate", "approve", "v2").status).toBe(0);
    expect(JSON.parse(holdfast("resume", "v2").stdout)).toEqual({ choice: "approve" });
  });
});
