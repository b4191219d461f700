import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import { parseEntry } from "../../src/core/journal/journal.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";

const CHILD = childScript("test/crash/recovery-pressure-child");
const folder = mkdtempSync(join(tmpdir(), "holdfast-pressure-"));

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a process whose heap really fills up", () => {
  it("marks and saves its run, takes no other one, and goes on when there is room again", async () => {
    const file = join(folder, "runs.db");
    const flags = ["--max-old-space-size=160", "--expose-gc"];
    const { stdout, stderr, status } = spawnSync(process.execPath, [...flags, CHILD, file], {
      encoding: "utf8",
    });
    expect(status, stderr).toBe(0);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    // The amount of garbage varies until all of it is collected.
    const second = lines.findIndex((line) => line["second"] === "queued");
    const before = lines.slice(0, second);
    expect(before[0]).toEqual({ high: true });
    expect(before.findLast((line) => "high" in line)).toEqual({ high: true });
    expect(before).toContainEqual({ marked: "first" });
    expect(lines.findLast((line) => "high" in line)).toEqual({ high: false });
    expect(lines.slice(-2)).toEqual([{ first: { n: 200 } }, { second: { n: 200 } }]);
    const store = await openSqliteStore({ file });
    const entries = await store.entries("first", { from: 1, limit: 1_000 });
    const marked = entries
      .map((entry) => parseEntry("first", entry).events)
      .find((events) => events.some(({ kind }) => kind === "checkpoint_marked"));
    expect(marked).toContainEqual(
      expect.objectContaining({ meta: { label: "memory pressure", trigger: "memory_pressure_high" } }),
    );
    expect((await store.read("first"))?.snapshotSeq).toBeGreaterThan(0);
    await store.close();
  });
});
