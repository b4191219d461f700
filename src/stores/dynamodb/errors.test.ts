import { describe, expect, it } from "vitest";
import { isTransient, storeError } from "./errors.ts";

const failing = (name: string, more: object = {}) => Object.assign(new Error("it failed"), { name, ...more });
const codeFor = (error: unknown): string => storeError(error, "DynamoDB table x", 12.3).code;
const cancelled = (...codes: string[]) =>
  failing("TransactionCanceledException", { CancellationReasons: codes.map((Code) => ({ Code })) });

describe("an error of the service or the SDK", () => {
  it("gets the code of what a person can do about it", () => {
    const expected = {
      AccessDeniedException: "HF-3004",
      UnrecognizedClientException: "HF-3016",
      InvalidSignatureException: "HF-3016",
      MissingAuthenticationTokenException: "HF-3016",
      ExpiredTokenException: "HF-3016",
      CredentialsProviderError: "HF-3016",
      ResourceNotFoundException: "HF-3006",
      ValidationException: "HF-3013",
      ProvisionedThroughputExceededException: "HF-3002",
      ThrottlingException: "HF-3002",
      InternalServerError: "HF-3002",
      TimeoutError: "HF-3002",
      AbortError: "HF-3002",
      Error: "HF-3002",
    };
    const found = Object.keys(expected).map((name) => [name, codeFor(failing(name))]);
    expect(Object.fromEntries(found)).toEqual(expected);
  });

  it("is told from a connection that failed, and that from one that was not let in", () => {
    expect(codeFor(failing("Error", { code: "ECONNREFUSED" }))).toBe("HF-3002");
    expect(codeFor(failing("Error", { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }))).toBe("HF-3016");
    expect(codeFor("thrown text")).toBe("HF-3002");
    expect(codeFor(new Error("Region is missing"))).toBe("HF-1003");
  });

  it("says what happened at every address that was tried", () => {
    const both = new AggregateError([new Error("refused at ::1"), new Error("refused at 127.0.0.1")]);
    expect(storeError(both, "x", 1).message).toContain("refused at ::1; refused at 127.0.0.1");
  });

  it("is left as it is when it is one of ours", () => {
    const ours = storeError(failing("AccessDeniedException"), "x", 1);
    expect(storeError(ours, "y", 2)).toBe(ours);
  });
});

describe("a call that did nothing", () => {
  it("is repeated when it met another one, or there was no room for it", () => {
    const names = ["ThrottlingException", "TransactionConflictException", "TransactionInProgressException"];
    for (const name of names) expect(isTransient(failing(name))).toBe(true);
    expect(isTransient(cancelled("None", "TransactionConflict"))).toBe(true);
    expect(isTransient(cancelled("ThrottlingError", "ProvisionedThroughputExceeded"))).toBe(true);
  });

  it("is not repeated when a condition failed, or it can never be done", () => {
    expect(isTransient(cancelled("ConditionalCheckFailed", "TransactionConflict"))).toBe(false);
    expect(isTransient(cancelled("ValidationError"))).toBe(false);
    expect(isTransient(cancelled())).toBe(false);
    expect(isTransient(failing("InternalServerError"))).toBe(false);
    expect(codeFor(cancelled("None", "ValidationError"))).toBe("HF-3013");
  });
});
