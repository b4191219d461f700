import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HoldfastError } from "../errors.ts";
import type { RetryOption, RetryPolicy } from "../options.ts";
import { decode, encode } from "../values/codec.ts";
import { defaultRetry, nextRetry, retryAfterMs, retryable, retryPolicy } from "./retry.ts";

const NOW = Date.UTC(2026, 0, 1);
const busy = new Error("busy");
const next = (policy: Partial<RetryPolicy>, failed: object = {}): ReturnType<typeof nextRetry> =>
  nextRetry(retryPolicy(policy, defaultRetry), {
    attempt: 1,
    waitedMs: 0,
    error: busy,
    random: () => 0.5,
    now: NOW,
    ...failed,
  });

describe("retryPolicy", () => {
  it("fills gaps from the fallback, reads a number as attempts and false as one attempt", () => {
    expect(retryPolicy(undefined, defaultRetry)).toBe(defaultRetry);
    expect(retryPolicy(5, defaultRetry)).toEqual({ ...defaultRetry, attempts: 5 });
    expect(retryPolicy(false, defaultRetry)).toEqual({ ...defaultRetry, attempts: 1 });
    expect(retryPolicy({ baseMs: 1 }, { ...defaultRetry, attempts: 9 })).toEqual({
      ...defaultRetry,
      attempts: 9,
      baseMs: 1,
    });
  });

  it("refuses what makes no sense with HF-1003, naming the option", () => {
    const refused: [unknown, string][] = [
      [0, "retry.attempts"],
      [-1, "retry.attempts"],
      [1.5, "retry.attempts"],
      [Number.NaN, "retry.attempts"],
      [{ attempts: Number.POSITIVE_INFINITY }, "retry.attempts"],
      [{ factor: 0.5 }, "retry.factor"],
      [{ baseMs: -1 }, "retry.baseMs"],
      [{ maxMs: "1" }, "retry.maxMs"],
      [{ maxWaitMs: Number.NaN }, "retry.maxWaitMs"],
      [{ attempt: 3 }, "retry.attempt"],
      [true, "retry"],
      [null, "retry"],
      ["3", "retry"],
    ];
    for (const [options, option] of refused) {
      let caught: unknown;
      try {
        retryPolicy(options as RetryOption, defaultRetry);
      } catch (error) {
        caught = error;
      }
      expect(HoldfastError.is(caught, "HF-1003") && caught.detail["option"]).toBe(option);
    }
  });
});

describe("nextRetry", () => {
  it("backs off exponentially with full jitter, up to the longest delay (S1-30)", () => {
    expect(next({ attempts: 9 })).toEqual({ retry: true, delayMs: 250 });
    expect(next({ attempts: 9 }, { attempt: 4 })).toEqual({ retry: true, delayMs: 2000 });
    expect(next({ attempts: 99 }, { attempt: 50 })).toEqual({ retry: true, delayMs: 15_000 });
    expect(next({}, { random: () => 0 })).toEqual({ retry: true, delayMs: 0 });
  });

  it("stops when the attempts are used up (S1-30)", () => {
    expect(next({}, { attempt: 3 })).toEqual({ retry: false, why: "All 3 attempts are used up." });
    expect(next({ attempts: 1 })).toEqual({ retry: false, why: "The retry policy allows one attempt." });
  });

  it("stops at once for an error that will not pass", () => {
    expect(next({}, { error: new RangeError("x") })).toMatchObject({ retry: false });
  });

  it("waits at least as long as the receiver asks, and at most a tenth more", () => {
    const error = { retryAfterMs: 20_000 };
    expect(next({}, { error, random: () => 0 })).toEqual({ retry: true, delayMs: 20_000 });
    expect(next({}, { error, random: () => 0.5 })).toEqual({ retry: true, delayMs: 21_000 });
    expect(next({}, { error: { retryAfterMs: 120_000 } })).toEqual({ retry: true, delayMs: 120_000 });
    expect(next({ baseMs: 8000 }, { error: { retryAfterMs: 10 } })).toEqual({ retry: true, delayMs: 4000 });
  });

  it("does not wait longer than the policy allows in total, and says so", () => {
    expect(next({}, { error: { retryAfter: 600 } })).toEqual({
      retry: false,
      why: "The receiver asks to wait 600 s; the retry policy allows 120 s in total.",
      askedMs: 600_000,
      isTooLong: true,
    });
    expect(next({}, { error: { retryAfter: 60 }, waitedMs: 61_000, attempt: 2 })).toEqual({
      retry: false,
      why: "The receiver asks to wait 60 s; the retry policy allows 120 s in total, 61 s of it are used.",
      askedMs: 60_000,
      isTooLong: true,
    });
    expect(next({ maxWaitMs: 100 })).toEqual({
      retry: false,
      why: "The next attempt is due in 0.3 s; the retry policy allows 0.1 s in total.",
    });
  });

  it("always gives a delay within the policy, whatever the numbers", () => {
    const amount = fc.double({ min: 0, max: 1e12, noNaN: true });
    const policies = fc.record({
      attempts: fc.integer({ min: 1, max: 2000 }),
      baseMs: amount,
      factor: fc.double({ min: 1, max: 1e6, noNaN: true }),
      maxMs: amount,
      maxWaitMs: amount,
    });
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(
        policies,
        fc.integer({ min: 1, max: 2000 }),
        amount,
        random,
        fc.option(amount),
        (policy, attempt, waitedMs, drawn, asked) => {
          const error = asked === null ? busy : { retryAfterMs: asked };
          const decision = nextRetry(policy, { attempt, waitedMs, error, random: () => drawn, now: NOW });
          if (!decision.retry) return;
          expect(attempt).toBeLessThan(policy.attempts);
          expect(decision.delayMs).toBeGreaterThanOrEqual(asked ?? 0);
          expect(waitedMs + decision.delayMs).toBeLessThanOrEqual(policy.maxWaitMs * (1 + 1e-12));
          if (asked === null) expect(decision.delayMs).toBeLessThanOrEqual(Math.ceil(policy.maxMs));
        },
      ),
    );
  });
});

const fetchFailed = new TypeError("fetch failed", {
  cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }),
});
const terminated = new TypeError("terminated", {
  cause: Object.assign(new Error("x"), { code: "UND_ERR_SOCKET" }),
});
const status = (code: number): Error => Object.assign(new Error("http"), { status: code });

describe("retryable", () => {
  const cases: [boolean, unknown][] = [
    [true, new Error("x")],
    [true, fetchFailed],
    [true, terminated],
    [true, new TypeError("fetch failed")],
    [true, status(500)],
    [true, status(408)],
    [true, status(409)],
    [true, status(425)],
    [true, status(429)],
    [true, Object.assign(status(400), { retryable: true })],
    [true, new AggregateError([], "all failed")],
    [false, new HoldfastError("HF-2001", { path: "$", problem: "x" })],
    [false, Object.assign(new Error("x"), { retryable: false })],
    [false, new SyntaxError("x")],
    [false, new ReferenceError("x")],
    [false, new RangeError("x")],
    [false, new EvalError("x")],
    [false, new URIError("x")],
    [false, new TypeError("x is not a function")],
    [false, new TypeError("x", { cause: new Error("y") })],
    [false, status(400)],
    [false, status(404)],
    [false, Object.assign(new Error("x"), { statusCode: 422 })],
    [false, Object.assign(new Error("x"), { response: { status: 401 } })],
  ];

  it("tells what may pass by itself from what will not", () => {
    for (const [expected, error] of cases) expect(retryable(error), String(error)).toBe(expected);
  });

  it("gives the same answer for an error read back from the store", () => {
    for (const [expected, error] of cases)
      expect(retryable(decode(encode(error))), String(error)).toBe(expected);
  });
});

describe("retryAfterMs", () => {
  const date = "Thu, 01 Jan 2026 00:00:30 GMT";

  it("reads the error's own fields and the headers of every common client", () => {
    const errors: [number | undefined, unknown][] = [
      [1500, { retryAfterMs: 1500 }],
      [2000, { retryAfter: 2 }],
      [2500, { retryAfter: "2.5" }],
      [30_000, { retryAfter: new Date(NOW + 30_000) }],
      [0, { retryAfter: new Date(NOW - 30_000) }],
      [7000, { headers: new Headers({ "Retry-After": "7" }) }],
      [70, { headers: new Headers({ "Retry-After-Ms": "70", "Retry-After": "7" }) }],
      [7000, { response: { headers: { "RETRY-AFTER": "7" } } }],
      [7000, { responseHeaders: { "retry-after": "7" } }],
      [7000, { response: { headers: new Map([["retry-after", "7"]]) } }],
      [7000, { headers: { "retry-after": ["7", "8"] } }],
      [30_000, { headers: { "retry-after": date } }],
      [30_000, { headers: { "retry-after": "Thursday, 01-Jan-26 00:00:30 GMT" } }],
      [30_000, { headers: { "retry-after": "Thu Jan  1 00:00:30 2026" } }],
      [0, { headers: { "retry-after": "Thu, 01 Jan 1970 00:00:30 GMT" } }],
      [undefined, { headers: { "retry-after": "soon" } }],
      [undefined, { headers: { "retry-after": "-5" } }],
      [undefined, { retryAfterMs: -1 }],
      [undefined, { retryAfterMs: Number.POSITIVE_INFINITY }],
      [undefined, { retryAfter: new Date(Number.NaN) }],
      [undefined, new Error("x")],
    ];
    for (const [expected, error] of errors)
      expect(retryAfterMs(error, NOW), JSON.stringify(error)).toBe(expected);
  });

  it("finds it again on an error read back from the store", () => {
    const error = Object.assign(new Error("busy"), { status: 429, responseHeaders: { "Retry-After": "9" } });
    expect(retryAfterMs(decode(encode(error)), NOW)).toBe(9000);
  });
});

describe("hostile errors", () => {
  it("never make a decision throw", () => {
    const fail = (): never => {
      throw new Error("trap");
    };
    const traps = new Proxy(
      {},
      { get: fail, has: fail, ownKeys: fail, getOwnPropertyDescriptor: fail, getPrototypeOf: fail },
    );
    const { proxy, revoke } = Proxy.revocable(() => 1, {});
    revoke();
    const things = [
      traps,
      proxy,
      { headers: traps },
      { headers: { get: fail } },
      { response: traps },
      { cause: traps, name: "TypeError" },
    ];
    const withGetter = Object.defineProperty(new Error("x"), "retryAfter", { get: fail });
    for (const error of [
      ...things,
      withGetter,
      { retryAfter: traps },
      null,
      undefined,
      1,
      "x",
      Symbol("s"),
      1n,
      () => 1,
    ]) {
      expect(typeof retryable(error)).toBe("boolean");
      expect(retryAfterMs(error, NOW)).toBeUndefined();
      expect(next({}, { error })).toBeDefined();
    }
    fc.assert(
      fc.property(fc.anything({ withDate: true, withMap: true, withNullPrototype: true }), (error) => {
        expect(typeof retryable(error)).toBe("boolean");
        expect(["number", "undefined"]).toContain(
          typeof retryAfterMs({ headers: error, retryAfter: error }, NOW),
        );
      }),
    );
  });
});
