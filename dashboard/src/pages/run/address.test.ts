import { describe, expect, it } from "vitest";
import { type RunPlace, readPlace, writePlace } from "./address.ts";

const PLAIN: RunPlace = {
  run: "order-7",
  view: "outline",
  below: "events",
  step: null,
  attempt: null,
  at: null,
};

describe("the address of a run", () => {
  it("names a run, a step or a checkpoint as the command line does (S1-32)", () => {
    expect(readPlace("/r/order-7", "")).toEqual(PLAIN);
    expect(readPlace("/r/order-7:pay", "")).toEqual({ ...PLAIN, step: "pay" });
    expect(readPlace("/r/order-7/match[3]/compare%232", "")).toEqual({
      ...PLAIN,
      step: "match[3]/compare#2",
    });
    expect(readPlace("/r/order-7@12", "")).toEqual({ ...PLAIN, at: "12" });
  });

  it("leads back to the same place, whatever a step is called", () => {
    for (const step of ["a b", "100%", "tool:x#2", "x[a&b=c]/y?z", "ä/ö", "%zz"]) {
      const place: RunPlace = {
        ...PLAIN,
        view: "timeline",
        below: "cost",
        step,
        attempt: 2,
        at: "before pay",
      };
      const [path = "", search = ""] = writePlace(place).split("?");
      expect(readPlace(path, search)).toEqual(place);
    }
  });

  it("takes what it doesn't know for the usual", () => {
    expect(readPlace("/r/order-7", "view=<b>&below=x&attempt=-1")).toEqual(PLAIN);
  });
});
