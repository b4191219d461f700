import { describe, expect, it } from "vitest";
import { describeWrite } from "./labels.ts";
import { type Place, placeId, placesFor, type Strike, select } from "./places.ts";

const place = (strike: Strike, ...steps: string[]): Place => ({
  id: placeId(strike),
  label: "",
  steps,
  strike,
});

const writes = Array.from({ length: 20 }, (_, index) =>
  place({ write: index + 1, side: "before" }, index < 10 ? "load" : "team[3]/pay#2"),
);

const idsOf = ({ places }: { readonly places: readonly Place[] }): string[] => places.map(({ id }) => id);

describe("the names of cases", () => {
  it("say what is struck, and are different for different places", () => {
    expect(placeId({ write: 12, side: "after" })).toBe("write-12-after");
    expect(placeId({ point: "C05:before-call", nth: 3 })).toBe("C05-3");
    expect(placeId({ effect: 2 })).toBe("effect-2");
    expect(placeId({ call: 4, side: "before" })).toBe("call-4-before");
  });
});

describe("what a fault can strike", () => {
  it("is everything but calls for a kill, calls for an error, and writes for a store", () => {
    const all = [
      place({ write: 1, side: "before" }),
      place({ point: "C07:after-call", nth: 1 }),
      place({ effect: 1 }),
      place({ call: 1, side: "after" }),
    ];
    expect(idsOf({ places: placesFor("sigkill", all) })).toEqual(["write-1-before", "C07-1", "effect-1"]);
    expect(idsOf({ places: placesFor("throw", all) })).toEqual(["call-1-after"]);
    for (const fault of ["store-down", "slow-store", "clock-skew"] as const)
      expect(idsOf({ places: placesFor(fault, all) })).toEqual(["write-1-before"]);
  });
});

describe("the selection of boundaries", () => {
  it("takes all of them when they are few enough or when asked to", () => {
    const few = select(writes, { at: "every", seed: 1, limit: 20 });
    expect(few.places).toHaveLength(20);
    expect(few.text).toBe("all 20 boundaries");
    expect(select(writes, { at: "every", seed: 1, limit: 0 }).places).toHaveLength(20);
  });

  it("spreads a limited number evenly from the first to the last, and says so", () => {
    const some = select(writes, { at: "every", seed: 1, limit: 4 });
    expect(idsOf(some)).toEqual(["write-1-before", "write-7-before", "write-14-before", "write-20-before"]);
    expect(some.text).toBe("4 of 20 boundaries, every 6th");
    expect(some.possible).toBe(20);
  });

  it("draws the same ones for the same seed, in the order of the run", () => {
    const draw = (seed: number) => select(writes, { at: "random", seed, limit: 5 });
    expect(idsOf(draw(7))).toEqual(idsOf(draw(7)));
    expect(idsOf(draw(7))).not.toEqual(idsOf(draw(8)));
    const numbers = idsOf(draw(7)).map((id) => Number(id.split("-")[1]));
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(draw(7).text).toBe("5 of 20 boundaries, drawn with seed 7");
  });

  it("finds the boundaries of a step by its name, wherever the step is", () => {
    expect(select(writes, { at: "pay", seed: 1, limit: 0 }).text).toBe("all 10 boundaries of step pay");
    expect(select(writes, { at: "team", seed: 1, limit: 0 }).possible).toBe(10);
    expect(select(writes, { at: "team[3]/pay#2", seed: 1, limit: 0 }).possible).toBe(10);
    expect(select(writes, { at: "pa", seed: 1, limit: 0 }).possible).toBe(0);
  });
});

describe("the label of a write", () => {
  it("names what is done and what begins", () => {
    const events = [
      { kind: "step_completed", step: "load" },
      { kind: "step_started", step: "pay" },
    ] as const;
    expect(describeWrite(events)).toEqual({ label: "load done, pay begins", steps: ["load", "pay"] });
  });

  it("stays short when a write says many things", () => {
    const events = ["a", "b", "c", "d", "e"].map((step) => ({ kind: "step_started", step }) as const);
    expect(describeWrite(events).label).toBe("a begins, b begins, c begins and 2 more");
    expect(describeWrite([{ kind: "budget_set", step: "" }]).label).toBe("budget set");
    expect(describeWrite([]).label).toBe("a transaction");
  });
});
