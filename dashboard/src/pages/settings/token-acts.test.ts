import { describe, expect, it } from "vitest";
import { newToken, wordsOf } from "./token-acts.ts";

const form = {
  name: " ci ",
  roles: ["operator" as const],
  workflows: "pay, ship,",
  expires: "month" as const,
};

describe("the form of a token", () => {
  it("gives name, roles, scope and end, and the same as a command", () => {
    expect(newToken(form, 0)).toEqual({
      name: "ci",
      roles: ["operator"],
      expiresAt: 2_592_000_000,
      scope: { workflows: ["pay", "ship"] },
    });
    expect(wordsOf(form).join(" ")).toBe(
      "token create ci --role operator --workflow pay --workflow ship --expires 30d",
    );
  });

  it("has no scope when none is named, and no end when it never expires", () => {
    const wide = { ...form, workflows: " ", expires: "never" as const };
    expect(newToken(wide, 0)).toEqual({ name: "ci", roles: ["operator"], expiresAt: null });
    expect(wordsOf(wide).at(-1)).toBe("--never-expires");
  });
});
