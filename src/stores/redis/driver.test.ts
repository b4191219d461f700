import { describe, expect, it, vi } from "vitest";
import { openStore } from "../open.ts";
import { storeError } from "./errors.ts";
import { openRedisStore } from "./index.ts";

vi.mock("redis", () => {
  throw new Error("Cannot find package 'redis'");
});

describe("a URL without the package redis", () => {
  it("is answered with how to install it", async () => {
    const failure = await openRedisStore({ url: "redis://localhost" }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "HF-3015", fix: "npm install redis" });
  });

  it("is answered in the same way when Redis is only to be the cache of a tiered store", async () => {
    const url = `tiered:memory:?cache=${encodeURIComponent("redis://localhost")}`;
    const failure = await openStore(url).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "HF-3015", fix: "npm install redis" });
  });
});

describe("an error of the server or the client", () => {
  const codeFor = (error: unknown): string => storeError(error, "Redis store x", 12.3).code;

  it("gets the code of what a person can do about it", () => {
    const expected = {
      "WRONGPASS invalid username-password pair or user is disabled.": "HF-3016",
      "NOAUTH Authentication required.": "HF-3016",
      "ERR AUTH <password> called without any password configured": "HF-3016",
      "NOPERM this user has no permissions to run the 'evalsha' command": "HF-3004",
      "READONLY You can't write against a read only replica.": "HF-3022",
      "WRONGTYPE Operation against a key holding the wrong kind of value": "HF-3006",
      "LOST what this store held is gone": "HF-3021",
      "OOM command not allowed when used memory > 'maxmemory'.": "HF-3024",
      "LOADING Redis is loading the dataset in memory": "HF-3002",
      "CLUSTERDOWN The cluster is down": "HF-3002",
      "Socket closed unexpectedly": "HF-3002",
      "The client is closed": "HF-3002",
    };
    const found = Object.keys(expected).map((message) => [message, codeFor(new Error(message))]);
    expect(Object.fromEntries(found)).toEqual(expected);
    expect(codeFor(Object.assign(new Error("bad"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" }))).toBe("HF-3016");
    expect(codeFor(Object.assign(new Error("bad"), { code: "ECONNREFUSED" }))).toBe("HF-3002");
    expect(codeFor("thrown text")).toBe("HF-3002");
  });

  it("is left as it is when it is one of ours", () => {
    const ours = storeError(new Error("OOM"), "x", 1);
    expect(storeError(ours, "y", 2)).toBe(ours);
  });
});
