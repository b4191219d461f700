import { describe, expect, it } from "vitest";
import { fieldsOf } from "./stored-errors.ts";

describe("a stored error", () => {
  it("is shown with its status, its code and its causes (S0-10)", () => {
    const cause = Object.assign(new Error("socket closed"), { code: "ECONNRESET" });
    const error = Object.assign(new Error("Too many requests", { cause }), {
      status: 429,
      retryable: true,
      headers: { authorization: "secret" },
    });
    expect(fieldsOf({ value: error })).toBe(
      "status 429, retryable true; caused by Error: socket closed (code ECONNRESET)",
    );
    expect(fieldsOf({ value: new Error("plain") })).toBe("");
    expect(fieldsOf({ value: "no error" })).toBe("");
    expect(fieldsOf(undefined)).toBe("");
  });
});
