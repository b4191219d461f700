import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { useFolders } from "../support/folders.ts";

const CHILD = childScript("test/crash/checkpointer-child");
const newFolder = useFolders("checkpointer-crash");
const SUBTASKS = 5;

describe("an agent whose process is killed between its saves", () => {
  for (const side of ["before", "during", "after"] as const)
    it(`repeats at most the subtask under way when it dies ${side} a save (S0-11, S0-13, S0-18, S0-22)`, async () => {
      const folder = newFolder();
      const [file, witness] = [path.join(folder, "runs.db"), path.join(folder, "witness")];
      const analysis = randomUUID();
      const run = (...moment: string[]) =>
        spawnSync(process.execPath, [CHILD, file, witness, analysis, ...moment], { encoding: "utf8" });
      for (const at of ["1", "2"]) expect(run(at, side).signal).toBe("SIGKILL");
      const last = run();
      expect(last.stderr).toBe("");
      const done = JSON.parse(last.stdout) as string[];
      expect(done).toHaveLength(SUBTASKS);
      const effects = readFileSync(witness, "utf8").trim().split("\n");
      expect([...new Set(effects)]).toEqual(done);
      // Each kill may cost the subtask whose save was not acknowledged; one that was saved is never done again.
      expect(effects.length - SUBTASKS).toBeLessThanOrEqual(side === "after" ? 0 : 2);
      const store = await openSqliteStore({ file });
      const rows = (await store.records?.(`${analysis}-valuation_agent`)) ?? [];
      expect(rows.map(({ row }) => (row["completed_subtasks"] as string[]).length)).toEqual([1, 2, 3, 4, 5]);
      await store.close();
    });
});
