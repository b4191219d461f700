import { describe, expect, it } from "vitest";
import { sqliteIn, stage, task } from "../../test/support/dag-stage.ts";
import { useFolders } from "../../test/support/folders.ts";
import type { Store } from "../index.ts";
import type { DAGStructure } from "./types.ts";

const folder = useFolders("dag-reads");

/** Ten layers of a hundred tasks, and one that comes last. */
const THOUSAND: DAGStructure = {
  tasks: [
    ...Array.from({ length: 1_000 }, (_, n) => task(`t${n}`, ...(n < 100 ? [] : [`t${n - 100}`]))),
    task("last", "t999"),
  ],
};

/** The questions that a store is asked about one run. */
function watched(store: Store) {
  const asked: { readonly what: string; readonly hashes: readonly string[] }[] = [];
  const about = (what: string, hashes: readonly string[] = []) => void asked.push({ what, hashes });
  const seen = new Proxy(store, {
    get(base, name) {
      const member: unknown = Reflect.get(base, name, base);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => {
        if (["read", "entries", "append", "peek"].includes(String(name))) about(String(name));
        if (name === "blobs") about("blobs", given[1] as readonly string[]);
        return Reflect.apply(member, base, given) as unknown;
      };
    },
  });
  return { store: seen, asked };
}

describe("a resume from a checkpoint", () => {
  it("asks the store for little, however many tasks have finished, and for no value twice (S2-29)", async () => {
    const { open } = await sqliteIn(folder());
    const store = await open();
    const first = stage({ store });
    first.failing.add("last");
    await expect(first.executor.execute(THOUSAND)).rejects.toThrow("last fails");
    await first.executor.close();

    const { store: seen, asked } = watched(store);
    const next = stage({ store: seen });
    let before: typeof asked = [];
    next.executor.on("task_started", () => {
      before = [...asked];
    });
    const { layers } = await next.executor.resumeFromCheckpoint(first.saved.at(-1) ?? "");
    expect([next.calls, layers]).toEqual([["last"], 11]);
    const count = (what: string): number => before.filter((one) => one.what === what).length;
    expect(count("read")).toBeLessThanOrEqual(3);
    expect(count("entries")).toBeLessThanOrEqual(7);
    expect(count("append")).toBeLessThanOrEqual(3);
    const hashes = before.flatMap((one) => one.hashes);
    expect(hashes.length).toBeGreaterThan(2);
    expect(new Set(hashes).size).toBe(hashes.length);
    await next.executor.close();
    await store.close();
  });
});
