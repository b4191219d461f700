import { describe, expect, it } from "vitest";
import * as keys from "./keys.ts";

describe("the grammar of step keys", () => {
  it("names the nth step of a name, the members of a group and what is inside them", () => {
    const key = keys.prefixOf(keys.memberName(keys.countedName("match", 2), 3)) + "pay";
    expect(key).toBe("match#2[3]/pay");
    expect(keys.segmentsOf(key)).toEqual(["match#2[3]", "pay"]);
    expect([keys.scopeOf(key), keys.outerOf(key), keys.lastSegment(key)]).toEqual([
      "match#2[3]/",
      "match#2[3]",
      "pay",
    ]);
    expect([keys.scopeOf("pay"), keys.outerOf("pay"), keys.isAtTop("pay")]).toEqual(["", "", true]);
    expect([keys.groupOf("match#2[3]"), keys.unplaced("match#2[3]"), keys.baseName("match#2[3]")]).toEqual([
      "match#2",
      "match#2",
      "match",
    ]);
    expect([keys.countOf("match#2[3]"), keys.countOf("match")]).toEqual([2, 1]);
    expect(keys.plainPath("turn[4]/ask#2")).toBe("turn/ask");
    expect(keys.around("a/b[1]/c")).toEqual(["a", "a/b[1]"]);
  });

  it("tells what lies where", () => {
    expect([keys.isInside("a/b", "a"), keys.isInside("ab/c", "a"), keys.isInside("a", "a")]).toEqual([
      true,
      false,
      false,
    ]);
    expect([keys.isWithin("turn[1]/ask", "turn"), keys.isWithin("turns[1]", "turn")]).toEqual([true, false]);
    const seen: string[] = [];
    expect(keys.descend("a/b[1]/c", (segment) => seen.push(segment))).toBe("c");
    expect(seen).toEqual(["a", "b[1]"]);
  });

  it("reads back the gate before a call: its step, and whether a fork asks", () => {
    for (const step of ["pay", "pay#2", "turn[3]/tool:pay", "match[a]"])
      for (const attempt of [1, 2]) {
        const name = keys.lastSegment(step);
        const gate = keys.scopeOf(step) + keys.approvalName(name, attempt);
        expect(keys.approvalOf(gate)).toEqual({ step, isFork: false });
        const asked = keys.scopeOf(step) + keys.approvalName(keys.forkName(name), attempt);
        expect(keys.approvalOf(asked)).toEqual({ step, isFork: true });
      }
    expect(keys.approvalOf("approved")).toBeUndefined();
    expect(keys.isApproval("approve:pay/inside")).toBe(false);
  });

  it("reads back undos and plans", () => {
    const key = keys.undoKey("turn[3]/pay");
    expect([key, keys.isUndo(key), keys.isUndo("compensated")]).toEqual([
      "compensate/turn[3]>pay",
      true,
      false,
    ]);
    expect(keys.undoneBy(keys.undoName("turn[3]/pay"))).toBe("turn[3]/pay");
    expect(keys.plannedBy(`a/${keys.planNote("match")}`)).toBe("a/match");
    expect([keys.plannedBy("a/plan"), keys.plannedBy("plan#2")]).toEqual(["a/", ""]);
  });
});
