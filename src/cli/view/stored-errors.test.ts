import { describe, expect, it } from "vitest";
import { fieldsOf } from "./stored-errors.ts";

describe("a stored error", () => {
  it("is shown with its status, its code and its causes (S0-10)", () => {
    const cause = Object.assign(new Error("socket closed"), { code: "ECONNRESET" });
    const error = Object.assign(new Error("Too many requests", { cause }), {
      status: 429,
      retryable: true,
      headers: { authorization: "secret", "retry-after": "7" },
    });
    expect(fieldsOf(error)).toBe(
      "status 429, retryable true, retry-after 7; caused by Error: socket closed (code ECONNRESET)",
    );
    expect(fieldsOf(new Error("plain"))).toBe("");
    expect(fieldsOf("no error")).toBe("");
    expect(fieldsOf(undefined)).toBe("");
  });
});
