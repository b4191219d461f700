import { describe, expect, it } from "vitest";
import { accepted, creation, storeConformance } from "../testing/conformance/index.ts";
import { createMemoryStore } from "./memory.ts";

const clock = {
  time: 1_800_000_000_000,
  now: () => clock.time,
  advance: (ms: number) => {
    clock.time += ms;
  },
};

const reason = "it forgets everything when it is closed";
const skip = ["reopening", "documents after reopening"].map((behaviour) => ({ behaviour, reason }));
storeConformance(
  { name: "memory", open: async () => createMemoryStore({ clock }), clock, skip },
  { describe, it },
);

describe("the memory store itself", () => {
  it("says that nothing survives the process and that it has no transactions", () => {
    const store = createMemoryStore();
    expect(store.capabilities).toMatchObject({ durability: "none", transactions: false });
    expect(store.transaction).toBeUndefined();
  });

  it("goes by the system clock unless it is given one", async () => {
    const before = Date.now();
    expect(await createMemoryStore().now()).toBeGreaterThanOrEqual(before);
  });

  it("gives out rows and entries that nobody can change", async () => {
    const store = createMemoryStore();
    const row = await accepted(
      store,
      creation({ run: { waiting: [{ kind: "gate", step: "a", since: 1 }] } }),
    );
    const [entry] = await store.entries("run-1", { from: 1, limit: 1 });
    for (const part of [row, row.claim, row.usage, row.waiting, row.waiting[0], entry]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it("is another store each time", async () => {
    const [one, two] = [createMemoryStore(), createMemoryStore()];
    await accepted(one, creation());
    expect(await two.read("run-1")).toBeNull();
    expect(await two.identity()).not.toEqual(await one.identity());
  });
});

describe("the conformance suite", () => {
  it("does not take a skip of a behaviour that does not exist", () => {
    const options = {
      name: "x",
      open: async () => createMemoryStore(),
      skip: [{ behaviour: "typo", reason: "" }],
    };
    expect(() => storeConformance(options, { describe, it })).toThrow('no behaviour "typo"');
  });

  it("registers no case it cannot run, and says why", () => {
    const names: string[] = [];
    const run = (name: string, body: () => void) => {
      names.push(name);
      body();
    };
    const cases: string[] = [];
    const register = Object.assign((name: string) => cases.push(name), { skip: (name: string) => name });
    storeConformance(
      { name: "bare", open: async () => createMemoryStore() },
      { describe: run, it: register },
    );
    expect(names).toContain("claim expiry (skipped: the store's clock cannot be moved)");
    expect(names).toContain("reopening (skipped: no way to reopen was given)");
    expect(cases).not.toContain("keeps who the store is");
  });
});
