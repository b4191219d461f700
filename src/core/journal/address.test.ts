import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HoldfastError } from "../errors.ts";
import { addressOf, checkLabel, isCheckpoint, parseAddress, phaseOf } from "./address.ts";
import type { JournalEvent } from "./events.ts";

const event = (kind: string, step: string, meta: object = {}): JournalEvent =>
  ({ kind, step, meta, seq: 1, at: 0, epoch: 0 }) as unknown as JournalEvent;

describe("an address", () => {
  it("names a run, a position of it, or a name given to one", () => {
    expect(parseAddress("hello-1")).toEqual({ runId: "hello-1" });
    expect(parseAddress("hello-1@14")).toEqual({ runId: "hello-1", seq: 14 });
    expect(parseAddress("hello-1@before pay")).toEqual({ runId: "hello-1", label: "before pay" });
    expect(parseAddress("a@b@c")).toEqual({ runId: "a", label: "b@c" });
    expect(parseAddress("a@14x")).toEqual({ runId: "a", label: "14x" });
  });

  it.each(["", "@1", "a b", "a@", "a@0", "a@007", "a@1234567890123456", "a@x\ny", `${"a".repeat(65)}@1`])(
    "is refused when it is none: %j",
    (text) => {
      expect(() => parseAddress(text)).toThrowError(expect.objectContaining({ code: "HF-1021" }));
    },
  );

  it("is refused when it is not text", () => {
    for (const value of [undefined, null, 3, {}])
      expect(() => parseAddress(value as string)).toThrowError(expect.objectContaining({ code: "HF-1021" }));
  });

  it("is read back as it was made", () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
        fc.integer({ min: 1, max: 1e14 }),
        (runId, seq) => {
          expect(parseAddress(addressOf(runId, seq))).toEqual({ runId, seq });
        },
      ),
    );
  });

  it("is an address or is refused, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        try {
          expect(parseAddress(text).runId).toMatch(/^[\w-]+$/);
        } catch (error) {
          expect(HoldfastError.is(error, "HF-1021")).toBe(true);
        }
      }),
    );
  });
});

describe("a label", () => {
  it("must be one that an address can hold and not take for a position", () => {
    for (const label of ["draft", "v2", "before pay", "ü", "1.0"])
      expect(() => checkLabel(label)).not.toThrow();
    for (const [label, code] of [
      ["14", "HF-1003"],
      ["", "HF-1050"],
      ["a\u0007", "HF-1050"],
      ["x".repeat(129), "HF-1050"],
      [7, "HF-1050"],
    ])
      expect(() => checkLabel(label as string)).toThrowError(expect.objectContaining({ code }));
  });
});

describe("a checkpoint", () => {
  it("is where something has ended or was marked", () => {
    expect(isCheckpoint(event("step_completed", "a"))).toBe(true);
    expect(isCheckpoint(event("step_failed", "a", { attempt: 3 }))).toBe(true);
    expect(isCheckpoint(event("step_failed", "a", { attempt: 1, retryAt: 5 }))).toBe(false);
    expect(isCheckpoint(event("child_finished", "a", { status: "completed" }))).toBe(true);
    expect(isCheckpoint(event("child_finished", "a", { status: "failed" }))).toBe(false);
    expect(isCheckpoint(event("step_started", "a"))).toBe(false);
  });

  it("belongs to the outermost step around it", () => {
    expect(phaseOf(event("step_completed", "turn[3]/ask#2"))).toBe("turn");
    expect(phaseOf(event("step_completed", "pay#2"))).toBe("pay");
    expect(phaseOf(event("memory_written", "research/memory:x"))).toBe("research");
    expect(phaseOf(event("memory_written", "memory:x"))).toBe("");
    expect(phaseOf(event("run_paused", ""))).toBe("");
    expect(phaseOf(event("content_checked", "a/b"))).toBe("");
  });
});
