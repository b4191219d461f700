import { describe, expect, it } from "vitest";
import { HoldfastError } from "../errors.ts";
import { isStoreFault } from "./faults.ts";

describe("a failure of the engine's own work for a run", () => {
  it.each([
    ["a store that is down", new HoldfastError("HF-3002", { store: "sqlite", problem: "busy" })],
    [
      "a Temporal server that is away",
      new HoldfastError("HF-7001", { address: "127.0.0.1:7233", problem: "refused" }),
    ],
    ["a run on Temporal that doesn't answer", new HoldfastError("HF-7003", { run: "r", queue: "q" })],
  ])("is the store's, not the workflow's: %s", (_, error) => {
    expect(isStoreFault(error)).toBe(true);
  });

  it("is the workflow's where waiting would not help", () => {
    expect(isStoreFault(new HoldfastError("HF-7004", { run: "r", problem: "3 MB" }))).toBe(false);
    expect(isStoreFault(new HoldfastError("HF-1041", { run: "r" }))).toBe(false);
    expect(isStoreFault(new Error("thrown by a function"))).toBe(false);
  });
});
