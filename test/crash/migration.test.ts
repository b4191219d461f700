import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import type { Entry } from "../../src/core/store/contract.ts";
import type { RunRow } from "../../src/core/types.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { SCHEMA } from "../../src/stores/sqlite/migrations.ts";
import { type Contents, contentsOf, makeVersion1 } from "../support/version-1.ts";

const CHILD = childScript("test/crash/migration-child");
const root = mkdtempSync(path.join(tmpdir(), "holdfast-migration-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly steps: number;
}

/** Migrates the file in a child process, and kills it before the given statement. */
function migrateInChild(file: string, step = 0): Promise<End> {
  const args = [CHILD, file, String(step)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  return new Promise((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal, steps: Number(printed) }));
  });
}

interface Read {
  readonly row: RunRow;
  readonly entries: readonly Entry[];
  readonly blobs: ReadonlyMap<string, string>;
}

/** Every run of a file, through the store. */
async function readAll(file: string): Promise<Read[]> {
  const store = await openSqliteStore({ file });
  const hashes = (await contentsOf(file)).rows["run_blobs"]?.map(([, , hash]) => String(hash)) ?? [];
  try {
    const { runs } = await store.list({ limit: 100 });
    return await Promise.all(
      runs.map(async (row) => ({
        row,
        entries: await store.entries(row.id, { from: 1, limit: 1000 }),
        blobs: await store.blobs(row.id, hashes),
      })),
    );
  } finally {
    await store.close();
  }
}

describe("a process killed while it migrates a file (C14)", () => {
  const whole = path.join(root, "whole.db");
  let before: Contents;
  let after: Contents;
  let expected: Read[];
  let steps = 0;

  beforeAll(async () => {
    await makeVersion1(whole);
    before = await contentsOf(whole);
    const end = await migrateInChild(whole);
    expect(end.code).toBe(0);
    steps = end.steps;
    after = await contentsOf(whole);
    expected = await readAll(whole);
  });

  it("is compared with one that was not killed, which keeps runs, entries and blobs", () => {
    expect([before.version, after.version]).toEqual([1, SCHEMA]);
    expect(after.rows["journal"]).toEqual(before.rows["journal"]?.map((row) => [...row, null]));
    expect(after.rows["meta"]).toEqual(before.rows["meta"]);
    expect(after.rows["runs"]?.map((row) => row.slice(0, 26))).toEqual(before.rows["runs"]);
    const blobs = new Map(before.rows["blobs"]?.map(([, hash, data]) => [hash, data]));
    for (const [, , hash, data] of after.rows["run_blobs"] ?? []) expect(data).toBe(blobs.get(hash ?? ""));
    expect(expected.map(({ row, blobs: own }) => [row.workflow, own.size])).toEqual([
      ["write", 1],
      ["report", 1],
      ["check", 0],
      ["write", 1],
      ["pages", 2],
    ]);
    expect(steps).toBeGreaterThan(20);
  });

  it("leaves it wholly of one version, whichever statement came next, and the next start finishes", async () => {
    const versions: unknown[] = [];
    for (let step = 1; step <= steps; step++) {
      const file = path.join(root, `${step}.db`);
      await makeVersion1(file);
      expect((await migrateInChild(file, step)).signal, `step ${step}`).toBe("SIGKILL");
      const left = await contentsOf(file);
      versions.push(left.version);
      expect(left, `step ${step}`).toEqual(left.version === 1 ? before : after);
      expect(await readAll(file), `step ${step}`).toEqual(expected);
      expect(await contentsOf(file), `step ${step}`).toEqual(after);
    }
    // Only the last kill comes after the commit.
    expect(versions).toEqual([...Array<number>(steps - 1).fill(1), SCHEMA]);
  });

  it("may be one of several that start at once", async () => {
    const file = path.join(root, "shared.db");
    await makeVersion1(file);
    const kills = [3, 12, 0, 0, 18, 0];
    await Promise.all(
      kills.map(async (step) => {
        const end = await migrateInChild(file, step);
        // A process that comes after the one that finished has no step left to be killed at.
        expect(end.code === 0 || (step > 0 && end.signal === "SIGKILL")).toBe(true);
      }),
    );
    expect(await readAll(file)).toEqual(expected);
    expect(await contentsOf(file)).toEqual(after);
  });
});
