import { describe, expect, it } from "vitest";
import { ParseBudget } from "./parse-budget.ts";

describe("a parse budget", () => {
  it("refuses the first thing over a limit, and names the text and the limit", () => {
    const budget = new ParseBudget("flow.yaml", { keys: 2 });
    budget.spend("keys", 2);
    expect(() => budget.spend("keys")).toThrow(
      expect.objectContaining({
        code: "HF-1040",
        detail: { source: "flow.yaml", kind: "keys", limit: 2 },
      }),
    );
  });

  it("counts depth by nesting, so that siblings do not add up", () => {
    const budget = new ParseBudget("flow.yaml", { depth: 1 });
    budget.deeper(() => undefined);
    budget.deeper(() => undefined);
    expect(() => budget.deeper(() => budget.deeper(() => undefined))).toThrow(
      expect.objectContaining({ code: "HF-1040" }),
    );
  });
});
