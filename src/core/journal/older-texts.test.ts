import { describe, expect, it } from "vitest";
import type { Waiting } from "../types.ts";
import { isForeign } from "./foreign.ts";
import { attemptInReason, crossedInLabel } from "./older-texts.ts";
import { reasonOf, sentenceOf } from "./wait-reason.ts";

const wait = (kind: Waiting["kind"], detail: string): Waiting => ({ kind, step: "s", since: 1, detail });

describe("what earlier versions wrote down in sentences", () => {
  it("tells why a run waits (data, not prose)", () => {
    const held = "HF-2119 Run r has reached its budget: turns 3 of 3, tokens 1,000 of 1,000.";
    expect(reasonOf(wait("budget", held))).toEqual({ code: "HF-2119", limits: ["turns", "tokens"] });
    const named = "HF-2119 Run turns-9 has reached its budget: costUsd 0.5 of 0.5.";
    expect(reasonOf(wait("budget", named)).limits).toEqual(["costUsd"]);
    expect(reasonOf(wait("child", "HF-2119"))).toEqual({ child: "HF-2119" });
    const foreign = wait("review", "HF-3060 Run r came from another store.");
    expect([isForeign(foreign), sentenceOf(foreign)]).toEqual([true, "Run r came from another store."]);
    expect(reasonOf(wait("decision", "The connection broke."))).toEqual({});
    expect(reasonOf(wait("review", "HF-9999 Nobody knows this."))).toEqual({});
  });

  it("is not asked where the data is there", () => {
    const both: Waiting = { ...wait("review", "HF-3060 Came."), code: "HF-3010" };
    expect([isForeign(both), reasonOf(both).code]).toEqual([false, "HF-3010"]);
    const limits: Waiting = {
      ...wait("budget", "HF-2119: turns 3 of 3"),
      code: "HF-2119",
      limits: ["tokens"],
    };
    expect(reasonOf(limits).limits).toEqual(["tokens"]);
  });

  it("tells for which attempt a parent resumed its child, and which way a confidence crossed", () => {
    expect(attemptInReason("turn[3]/ask a friend 2")).toBe(2);
    expect(attemptInReason("looked into it")).toBeUndefined();
    expect(crossedInLabel("a: below: above 0.5")).toEqual({ agent: "a: below", to: "above" });
    expect(crossedInLabel("a: below 0.5")).toEqual({ agent: "a", to: "below" });
    expect(crossedInLabel("my own")).toBeUndefined();
  });
});
