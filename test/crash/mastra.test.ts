import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import { createEngine } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { isExhaustive } from "../support/exhaustive.ts";
import { useFolders } from "../support/folders.ts";

const CHILD = childScript("test/crash/mastra-child");
const newFolder = useFolders("mastra-crash");
const STEPS = 10;
/** Mastra saves the steps before its suspension one by one, and those after its resume when it ends. */
const SAVED = ["step 0", "step 1", "step 2", "step 3", "step 4"];
/** More appends than the first process makes before it waits for its answer. */
const MOST = 30;

/** Lives through these deaths, each at an append of its process, and then runs to the end. */
function live(deaths: readonly number[], moment: "before" | "after") {
  const folder = newFolder();
  mkdirSync(folder, { recursive: true });
  const [file, witness] = [path.join(folder, "runs.db"), path.join(folder, "witness")];
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [CHILD, file, witness, ...args], { encoding: "utf8" });
  let killed = 0;
  for (const at of deaths) {
    const { signal, stderr, status } = run(String(at), moment);
    expect([stderr, signal === "SIGKILL" || status === 0]).toEqual(["", true]);
    if (signal === "SIGKILL") killed++;
  }
  const last = run();
  expect(last.stderr).toBe("");
  const seen = readFileSync(witness, "utf8").trim().split("\n");
  return {
    file,
    killed,
    result: JSON.parse(last.stdout) as { status: string; messages: string[] },
    extra: seen.filter((line) => SAVED.includes(line)).length - SAVED.length,
    distinct: new Set(seen).size,
  };
}

describe("a Mastra workflow whose process is killed", () => {
  it.each(["before", "after"] as const)(
    "%s an append goes on where it was: no saved step again, no message lost or twice (S1-76)",
    async (moment) => {
      const deaths = isExhaustive ? Array.from({ length: MOST }, (_, n) => n + 1) : [9, 14];
      const { result, killed, extra, distinct, file } = live(deaths, moment);
      expect(killed).toBeGreaterThan(0);
      expect(result).toEqual({
        status: "success",
        messages: Array.from({ length: STEPS }, (_, n) => `m-${n}`),
        appends: expect.any(Number),
      });
      expect(distinct).toBe(STEPS);
      expect(extra).toBeLessThanOrEqual(killed);
      const store = await openSqliteStore({ file });
      const engine = createEngine({ store, execute: false });
      const { runs } = await engine.list({ workflow: "mastra-workflow" });
      expect(runs).toMatchObject([{ status: "completed", name: "flow" }]);
      for (const id of [runs[0]?.id ?? "", "notes"])
        expect(await engine.checkpoints.validate(id)).toMatchObject({ ok: true });
      await engine.close();
      await store.close();
    },
  );
});
