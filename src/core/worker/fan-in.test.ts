import path from "node:path";
import { describe, expect, it } from "vitest";
import { fanIn, sumOfDoubles } from "../../../test/support/fan-in.ts";
import { useFolders } from "../../../test/support/folders.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { openSqliteStore } from "../../stores/sqlite/index.ts";

const folder = useFolders("fan-in");

describe("many children of one run", () => {
  it("ends 120 children on one store in memory (E1)", async () => {
    expect((await fanIn(createMemoryStore(), 120)).result).toBe(sumOfDoubles(120));
  });

  it("ends 200 children on SQLite (E1)", async () => {
    const store = await openSqliteStore({ file: path.join(folder(), "runs.db") });
    expect((await fanIn(store, 200)).result).toBe(sumOfDoubles(200));
    await store.close();
  });

  it("reads a number of entries and rows in proportion to the number of children (E8)", async () => {
    const counts = process.env["HOLDFAST_FAN_IN"] ? [10, 25, 50, 75, 200, 1_000] : [10, 75, 200];
    for (const count of counts) {
      const { result, entries, rows } = await fanIn(createMemoryStore(), count);
      expect(result).toBe(sumOfDoubles(count));
      expect(entries, `entries for ${count}`).toBeLessThan(50 * count + 100);
      expect(rows, `rows for ${count}`).toBeLessThan(25 * count + 100);
    }
  });
});
