import { describe, expect, it } from "vitest";
import { WAIT_KINDS, type WaitKind } from "../types.ts";
import { actOf, isExpected, isGuarded, isHeld, isPassing, needsPerson } from "./going-on.ts";

const kinds = (rule: (kind: WaitKind) => boolean): string[] => WAIT_KINDS.filter(rule).toSorted();

describe("the kinds of waits", () => {
  it("end by a person, by a message, by another run or by time", () => {
    expect(kinds((kind) => !needsPerson(kind))).toEqual([
      "child",
      "limit",
      "retry",
      "signal",
      "start",
      "timer",
    ]);
    expect(kinds(isPassing)).toEqual(["child", "limit", "retry", "start", "timer"]);
    expect(kinds(isExpected)).toEqual(["child", "gate", "limit", "retry", "signal", "start", "timer"]);
    // A resume ends the wait for a start; the other passing waits end only by themselves.
    expect(kinds((kind) => actOf(kind) === undefined)).toEqual(
      kinds(isPassing).filter((kind) => kind !== "start"),
    );
  });

  it("tell which of them a resume ends, and which hold a step back", () => {
    const held = (kind: WaitKind): boolean =>
      isHeld({ status: "waiting", waiting: [{ kind, step: "s", since: 1 }] });
    expect(kinds(held)).toEqual(["budget", "content", "key", "migration", "policy", "review", "start"]);
    expect(kinds(isGuarded)).toEqual(["budget", "content", "limit", "migration", "policy", "retry"]);
    // A run that was woken by something else goes on already, whatever it has waited for besides.
    expect(isHeld({ status: "queued", waiting: [{ kind: "budget", step: "s", since: 1 }] })).toBe(false);
  });
});
