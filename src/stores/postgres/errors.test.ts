import { describe, expect, it } from "vitest";
import { storeError } from "./errors.ts";
import type { Queryable } from "./queryable.ts";
import { checkServer } from "./settings.ts";

const failing = (code: string, message = "it failed") => Object.assign(new Error(message), { code });
const codeFor = (error: unknown): string => storeError(error, "PostgreSQL schema x", 12.3).code;

describe("an error of the server or the driver", () => {
  it("gets the code of what a person can do about it", () => {
    const expected = {
      "53100": "HF-3003",
      "53300": "HF-3002",
      "57P01": "HF-3002",
      "57014": "HF-3002",
      "08006": "HF-3002",
      "25006": "HF-3022",
      "28P01": "HF-3016",
      "42501": "HF-3004",
      "42P01": "HF-3006",
      "42P07": "HF-3006",
      "42703": "HF-3072",
      "42883": "HF-3072",
      "40001": "HF-3009",
      "55P03": "HF-3009",
      "58030": "HF-3013",
      "22P02": "HF-3013",
      XX000: "HF-3013",
      XX001: "HF-3014",
      ECONNREFUSED: "HF-3002",
      EPIPE: "HF-3002",
      ENOTFOUND: "HF-3002",
      ERR_TLS_CERT_ALTNAME_INVALID: "HF-3016",
      DEPTH_ZERO_SELF_SIGNED_CERT: "HF-3016",
      ERR_INVALID_URL: "HF-1003",
    };
    const found = Object.keys(expected).map((code) => [code, codeFor(failing(code))]);
    expect(Object.fromEntries(found)).toEqual(expected);
  });

  it("without a code counts as a connection that failed", () => {
    expect(codeFor(new Error("Connection terminated unexpectedly"))).toBe("HF-3002");
    expect(codeFor(new Error("Query read timeout"))).toBe("HF-3002");
    expect(codeFor("thrown text")).toBe("HF-3002");
    expect(codeFor(new Error("The server does not support SSL connections"))).toBe("HF-3016");
    const withoutPassword = "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string";
    expect(codeFor(new Error(withoutPassword))).toBe("HF-3016");
  });

  it("says what happened at every address that was tried", () => {
    const both = new AggregateError([
      failing("ECONNREFUSED", "refused at ::1"),
      failing("ECONNREFUSED", "refused at 127.0.0.1"),
    ]);
    expect(storeError(both, "PostgreSQL schema x", 1).message).toContain(
      "refused at ::1; refused at 127.0.0.1",
    );
  });

  it("is left as it is when it is one of ours", () => {
    const ours = storeError(failing("53100"), "x", 1);
    expect(storeError(ours, "y", 2)).toBe(ours);
  });
});

describe("the check of a server's settings", () => {
  const GOOD = ["false", "off", "UTF8", "150018", "on", "on"];
  const server = (...changes: [index: number, value: string][]): Queryable => {
    const settings = [...GOOD];
    for (const [index, value] of changes) settings[index] = value;
    return { query: async () => [settings], rows: async () => [] };
  };

  it("finds that commits survive a power loss, or says why not", async () => {
    expect(await checkServer(server(), "x")).toEqual({ durability: "power-loss" });
    expect(await checkServer(server([4, "off"], [5, "off"]), "x")).toEqual({
      durability: "process",
      doubt: "the server runs with fsync and full_page_writes off",
    });
    expect(await checkServer(server([5, "off"]), "x")).toMatchObject({ durability: "process" });
  });

  it("refuses a standby, read-only transactions, an encoding that cannot hold every text, and an old version", async () => {
    for (const change of [
      [0, "true"],
      [1, "on"],
      [2, "LATIN1"],
      [3, "110022"],
    ] as const)
      await expect(checkServer(server([...change]), "x")).rejects.toMatchObject({ code: "HF-3022" });
  });
});
