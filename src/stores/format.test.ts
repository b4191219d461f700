import { describe, expect, it } from "vitest";
import { JOURNAL_FORMAT } from "../core/journal/format.ts";
import { SCHEMA as DYNAMODB } from "./dynamodb/table.ts";
import { STORE_FORMAT as FILES } from "./file/sealed.ts";
import { MIGRATIONS as POSTGRES } from "./postgres/schema.ts";
import { SCHEMA as REDIS } from "./redis/prepare.ts";
import { SCHEMA as SQLITE } from "./sqlite/migrations.ts";

/** The version of each store, by the journal format that introduced it. */
const NUMBERS: Readonly<Record<number, object>> = {
  1: { SQLITE: 2, POSTGRES: 1, REDIS: 1, DYNAMODB: 1, FILES: "1.0" },
  2: { SQLITE: 7, POSTGRES: 8, REDIS: 3, DYNAMODB: 3, FILES: "3.0" },
};

describe("a journal format (R15)", () => {
  it("has a number on every store that older versions refuse", () => {
    const now = { SQLITE, POSTGRES: POSTGRES.length, REDIS, DYNAMODB, FILES };
    expect(now).toEqual(NUMBERS[JOURNAL_FORMAT]);
    for (const [store, number] of Object.entries(NUMBERS[JOURNAL_FORMAT - 1] ?? {}))
      expect(now[store as keyof typeof now] > number, store).toBe(true);
  });
});
