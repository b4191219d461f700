import vm from "node:vm";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type ErrorCode, HoldfastError } from "../errors.ts";
import { dataDigest, decode, encode } from "./codec.ts";

const trip = (value: unknown): unknown => decode(encode(value));

function caught(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

function refusal(act: () => unknown, code: ErrorCode): HoldfastError {
  const error = caught(act);
  if (HoldfastError.is(error, code)) return error;
  throw new Error(`expected ${code}, got ${String(error)}`);
}

/** The path and problem with which a value is refused. */
function refused(value: unknown): string {
  const { path, problem } = refusal(() => encode(value), "HF-2001").detail;
  return `${path}: ${problem}`;
}

/** Equality that tells -0 from 0, undefined from missing, one order from another, and looks into errors. */
function same(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return Object.is(a, b);
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Date) return a.getTime() === (b as Date).getTime();
  if (a instanceof Uint8Array) return Buffer.compare(a, b as Uint8Array) === 0;
  if (a instanceof Map || a instanceof Set) return same([...a], [...(b as typeof a)]);
  const keys = (value: object): string[] =>
    value instanceof Error ? Object.getOwnPropertyNames(value).sort() : Object.keys(value);
  const [left, right] = [keys(a), keys(b)];
  if (a instanceof Error && Object.keys(a).join() !== Object.keys(b).join()) return false;
  return (
    left.length === right.length &&
    left.every((key, i) => key === right[i] && same(Reflect.get(a, key), Reflect.get(b, key)))
  );
}

const text = fc
  .array(fc.oneof(fc.nat(0xffff), fc.constantFrom(0, 0x24, 0x22, 0x5c, 0xd800, 0xdc00, 0x2028)), {
    maxLength: 12,
  })
  .map((units) => String.fromCharCode(...units));
const FORBIDDEN = ["__proto__", "constructor", "prototype"];
const key = fc
  .oneof(text, fc.constantFrom("$", "toJSON", "length", "then", "0", "-1"))
  .filter((name) => !FORBIDDEN.includes(name));

interface Parts {
  name: string;
  message: string;
  stack: string;
  cause: unknown;
  errors: unknown[] | undefined;
  data: [string, unknown][];
}

function makeError(parts: Parts): Error {
  const error = new Error(parts.message, parts.cause === undefined ? undefined : { cause: parts.cause });
  error.stack = parts.stack;
  const hidden = { writable: true, configurable: true, enumerable: false };
  if (parts.name !== "Error") Object.defineProperty(error, "name", { value: parts.name, ...hidden });
  if (parts.errors !== undefined) Object.defineProperty(error, "errors", { value: parts.errors, ...hidden });
  const fixed = ["code", "retryable", "retryAfterMs", "status"];
  const data = parts.data.filter(([name]) => !["name", "message", "stack", "cause", "errors"].includes(name));
  const first = fixed.flatMap((name) => data.filter(([other]) => other === name));
  for (const [name, value] of [...first, ...data]) Reflect.set(error, name, value);
  return error;
}

const { value: anyValue } = fc.letrec((tie) => ({
  leaf: fc.oneof(
    text,
    fc.double(),
    fc.integer(),
    fc.constantFrom(null, undefined, true, false, 0, -0, Number.NaN, Number.POSITIVE_INFINITY, -1e-7, 1e21),
    fc.bigInt(),
    fc.date({ noInvalidDate: true }),
    fc.uint8Array({ maxLength: 20 }),
    fc.nat(700).map((length) => "x".repeat(length)),
  ),
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("leaf"),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.array(fc.tuple(key, tie("value")), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
    fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 4 }).map((entries) => new Map(entries)),
    fc.array(tie("value"), { maxLength: 4 }).map((items) => new Set(items)),
    tie("error"),
    tie("tag"),
  ),
  error: fc
    .record({
      name: fc.oneof(fc.constantFrom("Error", "TypeError", "AggregateError"), text),
      message: text,
      stack: fc.oneof(
        fc.constant("Error: x\n  at y"),
        text.map((line) => line.replaceAll("\n", "")),
      ),
      cause: tie("value"),
      errors: fc.option(fc.array(tie("value"), { maxLength: 3 }), { nil: undefined }),
      data: fc.array(fc.tuple(fc.oneof(key, fc.constantFrom("status", "retryable")), tie("value")), {
        maxLength: 3,
      }),
    })
    .map((parts) => makeError(parts as Parts)),
  tag: fc
    .tuple(
      fc.constantFrom("Date", "Map", "Object", "Blob", "Error", "undefined", "x"),
      fc.array(tie("value"), { maxLength: 3 }),
    )
    .map(([name, rest]) => ({ $: [name, ...rest] })),
}));

describe("round trip", () => {
  it("gives back exactly what was saved, whatever it was (S4-05)", () => {
    fc.assert(
      fc.property(anyValue, (value) => same(trip(value), value)),
      { numRuns: 1500 },
    );
  });

  it("gives back the same with sorted keys and with spilled texts, apart from the order of keys", () => {
    const bySortedText = (value: unknown): string => encode(value, { sorted: true });
    fc.assert(
      fc.property(anyValue, (value) => {
        const blobs = new Map<string, string>();
        const spill = (part: string): string => {
          blobs.set(`h${blobs.size}`, part);
          return `h${blobs.size - 1}`;
        };
        const encoded = encode(value, { sorted: true, spill, spillAt: 3 });
        const back = decode(encoded, { blob: (hash) => blobs.get(hash) });
        expect(bySortedText(back)).toBe(bySortedText(value));
      }),
    );
  });

  it("writes well-formed text without NUL", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const encoded = encode(value);
        expect(encoded).not.toContain("\0");
        expect(Buffer.from(encoded, "utf8").toString("utf8")).toBe(encoded);
      }),
    );
  });

  it("keeps NUL, lone surrogates and control characters exactly, also in long texts", () => {
    for (const odd of ["\0", "\ud800", "\udc00\ud800", "\u001b[31m", "\u2028", "\ufffe", '"\\$']) {
      const long = odd + "x".repeat(3000) + odd;
      const spill = vi.fn(() => undefined);
      expect(decode(encode([odd, long, { [odd]: odd }], { spill }))).toEqual([odd, long, { [odd]: odd }]);
    }
  });

  it("keeps keys that need an escape, also after another parse of such a key", () => {
    expect(Object.keys(JSON.parse('{"x":1,"\\\\":1}'))).toEqual(["x", "\\"]);
    for (const odd of ['"', "\n", "\0", "\ud800", "\\", "a\\", "a\n", "😀"]) {
      expect(Object.keys(trip({ x: 1, [odd]: 2 }) as object)).toEqual(["x", odd]);
      expect(encode({ [odd]: 1 })).toMatch(/^\{"\$":\["Object",/);
    }
  });

  it("leaves plain JSON as JSON.stringify writes it", () => {
    const free = (json: string): boolean => !['"$"', "\\", ...FORBIDDEN].some((word) => json.includes(word));
    fc.assert(
      fc.property(fc.json({ stringUnit: "grapheme-ascii" }).filter(free), (json) => {
        const plain = JSON.stringify(JSON.parse(json));
        expect(encode(JSON.parse(plain))).toBe(plain);
      }),
    );
    expect(encode({ b: 1, a: ["x".repeat(500), null, true, 1.5] })).toBe(
      JSON.stringify({ b: 1, a: ["x".repeat(500), null, true, 1.5] }),
    );
  });

  it("tells undefined from missing, in objects and arrays", () => {
    expect(Object.keys(trip({ a: undefined }) as object)).toEqual(["a"]);
    expect(trip([undefined, 1, undefined])).toStrictEqual([undefined, 1, undefined]);
    expect(trip(undefined)).toBeUndefined();
  });

  it("reads a Buffer back as a Uint8Array of its own", () => {
    const back = trip(Buffer.from("héllo").subarray(1)) as Uint8Array;
    expect(Object.getPrototypeOf(back)).toBe(Uint8Array.prototype);
    expect(Buffer.from(back).toString("latin1")).toBe(Buffer.from("héllo").subarray(1).toString("latin1"));
    expect(back.buffer.byteLength).toBe(back.length);
  });

  it("takes objects without a prototype", () => {
    expect(trip(Object.assign(Object.create(null), { a: 1 }))).toStrictEqual({ a: 1 });
  });

  it("takes the same object in several places", () => {
    const shared = { n: 1 };
    expect(trip({ a: shared, b: [shared, shared] })).toEqual({ a: { n: 1 }, b: [{ n: 1 }, { n: 1 }] });
  });
});

describe("marker-shaped user data", () => {
  it("comes back as the data it was, never as what it imitates", () => {
    const shapes = [
      { $: ["Date", 0] },
      { $: ["Error", "Error", "m", null, []] },
      { $: { $: ["undefined"] } },
      { $: 1, other: 2 },
      { other: { $: null } },
      { lc: 1, type: "constructor_", id: ["x"], kwargs: {} },
      { $: ["Object", [["$", 1]]] },
      new Map([[{ $: ["Set", []] }, { $: ["Blob", "h"] }]]),
    ];
    for (const shape of shapes) {
      expect(same(trip(shape), shape), JSON.stringify(shape)).toBe(true);
      expect(same(trip(decode(encode({ in: shape }))), { in: shape })).toBe(true);
      const asText = JSON.stringify(shape);
      expect(trip(asText)).toBe(asText);
    }
  });
});

describe("refusals", () => {
  class Account {
    id = 1;
  }

  it("name the path and the problem", () => {
    expect(refused({ docs: [0, 1, 2, { fn: () => 1 }] })).toBe("$.docs[3].fn: it is a function");
    expect(refused(() => 1)).toBe("$: it is a function");
    expect(refused([Symbol("s")])).toBe("$[0]: it is a symbol");
    expect(refused({ "a b": { x: new Account() } })).toBe('$["a b"].x: it is an instance of class Account');
    expect(refused(new Map([["k", [new Account()]]]))).toBe(
      "$.values[0][0]: it is an instance of class Account",
    );
    expect(refused(new Map([[new Account(), 1]]))).toBe("$.keys[0]: it is an instance of class Account");
    expect(refused({ s: new Set([1, Symbol("s")]) })).toBe("$.s.values[1]: it is a symbol");
  });

  it("meet every built-in that is not plain data", () => {
    const things = [
      /x/,
      new WeakMap(),
      Promise.resolve(),
      new Number(1),
      new URL("http://x"),
      new Float64Array(1),
    ];
    for (const thing of things) {
      expect(refused({ thing })).toBe(`$.thing: it is an instance of class ${thing.constructor.name}`);
    }
    expect(refused(new (class extends Array {})())).toContain("instance of class");
    expect(refused(new (class extends Map {})())).toContain("instance of class");
    expect(refused(Object.create(Object.create(null)))).toBe("$: it is an instance of class (anonymous)");
    expect(refused(Object.create(Date.prototype))).toContain("reading it failed");
    const raw: unknown = "rawJSON" in JSON ? (JSON.rawJSON as (text: string) => unknown)("1") : /x/;
    expect(refused({ raw })).toContain("$.raw: it is an instance of class");
  });

  it("meet an invalid Date", () => {
    expect(refused({ at: new Date(Number.NaN) })).toBe("$.at: it is an invalid Date");
  });

  it("meet cycles, through every kind of container", () => {
    const object: Record<string, unknown> = {};
    object["self"] = { deeper: [object] };
    expect(refused(object)).toBe("$.self.deeper[0]: it contains itself");
    const map = new Map<string, unknown>();
    map.set("m", map);
    expect(refused(map)).toBe("$.values[0]: it contains itself");
    const set = new Set<unknown>();
    set.add([set]);
    expect(refused(set)).toBe("$.values[0][0]: it contains itself");
  });

  it("meet accessors, without calling them", () => {
    const getter = vi.fn(() => 1);
    expect(refused({ a: Object.defineProperty({}, "x", { get: getter, enumerable: true }) })).toBe(
      "$.a.x: it is computed by an accessor",
    );
    expect(refused(Object.defineProperty({}, "x", { set: vi.fn(), enumerable: true }))).toContain("accessor");
    const array = Object.defineProperty([1, 2], 1, { get: getter, enumerable: true });
    expect(refused(array)).toBe("$[1]: it is computed by an accessor");
    expect(getter).not.toHaveBeenCalled();
  });

  it("meet what JSON would drop in silence", () => {
    expect(refused({ [Symbol("s")]: 1 })).toBe("$: it has a symbol as a key");
    expect(refused(Object.defineProperty({}, "x", { value: 1 }))).toBe("$: it has a hidden property");
    const sparse: unknown[] = [1];
    sparse[2] = 3;
    expect(refused({ sparse })).toBe("$.sparse: it is an array with holes");
    const balanced: unknown[] = Object.assign([1], { extra: 1 });
    balanced.length = 2;
    expect(refused(balanced)).toBe("$[1]: it is a hole in an array");
    expect(refused({ found: /b/.exec("abc") })).toBe("$.found: it is an array with extra properties");
    expect(refused(Object.assign([], { [Symbol("s")]: 1 }))).toContain("extra properties");
    expect(refused(Object.assign(new Map(), { extra: 1 }))).toBe("$: it is a Map with extra properties");
  });

  it("meet keys that could reach a prototype, at any depth, but not as Map keys", () => {
    expect(refused({ a: [JSON.parse('{"__proto__":{"x":1}}')] })).toBe('$.a[0]: it has a key "__proto__"');
    expect(refused({ constructor: 1 })).toBe('$: it has a key "constructor"');
    refusal(() => encode({ d: 1, constructor: 1 }, { sorted: true }), "HF-2001");
    expect(refused({ $: 1, prototype: 1 })).toBe('$: it has a key "prototype"');
    expect(trip(new Map([["__proto__", "constructor"]]))).toEqual(new Map([["__proto__", "constructor"]]));
  });

  it("turn what a Proxy throws into a refusal", () => {
    const throwing = new Proxy({}, { ownKeys: () => { throw new Error("trap"); } }); // biome-ignore format: one line
    expect(refused({ p: throwing })).toBe("$.p: reading it failed (trap)");
    const { proxy, revoke } = Proxy.revocable([1], {});
    revoke();
    expect(refused([proxy])).toContain("$[0]: reading it failed");
    let reads = 0;
    const fickle = new Proxy({ x: 1 }, { get: () => (reads++ > -1 ? 1n : 1) });
    expect(caught(() => encode({ fickle }))).toSatisfy((error) => HoldfastError.is(error, "HF-2001"));
    expect(trip(new Proxy({ a: [1] }, {}))).toEqual({ a: [1] });
  });

  it("meet nesting beyond 1,000 levels, and nothing up to it", () => {
    const wraps: ((inner: unknown) => unknown)[] = [
      (inner) => [inner],
      (inner) => ({ a: inner }),
      (inner) => ({ $: inner }),
      (inner) => new Map([[1, inner]]),
      (inner) => new Set([inner]),
    ];
    for (const wrap of wraps) {
      let deep: unknown = undefined;
      for (let i = 0; i < 1000; i++) deep = wrap(deep);
      expect(encode(trip(deep))).toBe(encode(deep));
      expect(refused(wrap(deep))).toContain("it is nested more than 1,000 levels deep");
    }
    let endless: unknown = 1;
    for (let i = 0; i < 100_000; i++) endless = [endless];
    expect(refused(endless)).toContain("…");
  });
});

describe("toJSON", () => {
  afterEach(() => {
    Reflect.deleteProperty(Object.prototype, "toJSON");
    Reflect.deleteProperty(Array.prototype, "toJSON");
  });

  it("is never called", () => {
    expect(trip({ toJSON: "data" })).toEqual({ toJSON: "data" });
    expect(refused({ toJSON: () => 1 })).toBe("$.toJSON: it is a function");
    const toJSON = vi.fn();
    for (const proto of [Object.prototype, Array.prototype]) {
      Object.defineProperty(proto, "toJSON", { value: toJSON, configurable: true });
      expect(encode({ a: [1] })).toBe('{"a":[1]}');
    }
    expect(toJSON).not.toHaveBeenCalled();
  });
});

describe("errors", () => {
  it("come back as plain Error instances with their fields", () => {
    class RateLimit extends TypeError {
      override name = "RateLimit";
      code = "E_RATE";
      retryable = true;
      retryAfterMs = 1500;
      status = 429;
      extra = { when: new Date(0) };
    }
    const cause = Object.assign(new Error("socket"), { code: "ECONNRESET" });
    const back = trip(new RateLimit("slow down", { cause })) as RateLimit;
    expect(Object.getPrototypeOf(back)).toBe(Error.prototype);
    expect(Object.prototype.toString.call(back)).toBe("[object Error]");
    expect(back).toMatchObject({ name: "RateLimit", message: "slow down", code: "E_RATE", retryable: true });
    expect(back).toMatchObject({ retryAfterMs: 1500, status: 429, extra: { when: new Date(0) } });
    expect(back.cause).toMatchObject({ message: "socket", code: "ECONNRESET" });
    expect(Object.keys(back)).not.toContain("cause");
  });

  it("are a fixed point after one trip, however odd they were", () => {
    const odd = Object.assign(new Error("a"), { name: 5, fn: () => 1, list: [() => 1], ok: [1], 7: "seven" });
    const first = trip(new AggregateError([odd, "text", () => 1], "many", { cause: odd })) as AggregateError;
    expect(first.name).toBe("AggregateError");
    expect(first.errors).toHaveLength(2);
    expect(Object.keys(first.errors[0])).toEqual(["7", "ok"]);
    expect(encode(trip(first))).toBe(encode(first));
    expect(same(trip(first), first)).toBe(true);
  });

  it("keep the first ten lines of the stack, and none where there was none", () => {
    const error = new Error("deep");
    error.stack = Array.from({ length: 30 }, (_, i) => `line ${i}`).join("\n");
    expect((trip(error) as Error).stack?.split("\n")).toEqual(
      Array.from({ length: 10 }, (_, i) => `line ${i}`),
    );
    Reflect.deleteProperty(error, "stack");
    expect(Object.hasOwn(trip(error) as Error, "stack")).toBe(false);
  });

  it("can always be saved: what cannot be kept is left out", () => {
    const hostile = new Error("hostile");
    Object.defineProperty(hostile, "code", { get: () => { throw new Error("no"); }, enumerable: true }); // biome-ignore format: one line
    Object.defineProperty(hostile, "lazy", { get: () => 1, enumerable: true });
    Object.assign(hostile, { request: { socket: new (class Socket {})() }, self: hostile, kept: "yes" });
    Object.defineProperty(hostile, "__proto__", { value: 1, enumerable: true });
    hostile.cause = new Error("outer", { cause: hostile });
    const back = trip(hostile) as Error;
    expect(Object.keys(back)).toEqual(["kept"]);
    expect((back.cause as Error).message).toBe("outer");
    expect((back.cause as Error).cause).toBeUndefined();
    let chain = new Error("end");
    for (let i = 0; i < 3000; i++) chain = new Error("link", { cause: chain });
    expect((trip(chain) as Error).message).toBe("link");
  });

  it("keep the identity of platform errors and of errors from another realm", () => {
    expect(trip(new DOMException("stopped", "AbortError"))).toMatchObject({
      name: "AbortError",
      message: "stopped",
    });
    expect(trip(vm.runInNewContext("new RangeError('far')"))).toMatchObject({
      name: "RangeError",
      message: "far",
    });
    const own = trip(new HoldfastError("HF-1001", { run: "r" }));
    expect(HoldfastError.is(own, "HF-1001")).toBe(true);
    expect(own).toMatchObject({ message: "There is no run r.", detail: { run: "r" }, retryable: false });
  });
});

describe("sorted", () => {
  it("gives equal text and digest for equal data in any order of keys", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(key, fc.integer()), { selector: ([name]) => name }), (entries) => {
        const [one, two] = [Object.fromEntries(entries), Object.fromEntries([...entries].reverse())];
        expect(encode({ in: [one] }, { sorted: true })).toBe(encode({ in: [two] }, { sorted: true }));
        expect(dataDigest(one)).toBe(dataDigest(two));
      }),
    );
  });

  it("puts keys in code-unit order, numbers included, and leaves Map and Set as they are", () => {
    expect(encode({ b: 1, 9: 1, 10: 1, a: 1 }, { sorted: true })).toBe('{"10":1,"9":1,"a":1,"b":1}');
    expect(dataDigest(new Set([1, 2]))).not.toBe(dataDigest(new Set([2, 1])));
  });

  it("tells different data apart", () => {
    const values = [
      0,
      -0,
      "0",
      0n,
      null,
      undefined,
      [],
      {},
      new Set(),
      new Map(),
      new Date(0),
      { a: undefined },
    ];
    expect(new Set(values.map(dataDigest)).size).toBe(values.length);
  });
});

describe("spill", () => {
  it("is offered long texts and bytes, and its hash stands in their place", () => {
    const spill = vi.fn((part: string) => (part.startsWith("y") ? undefined : `h${part.length}`));
    const value = { a: "x".repeat(1024), b: "y".repeat(1024), c: "z".repeat(1023), d: new Uint8Array(768) };
    const encoded = encode(value, { spill });
    expect(spill).toHaveBeenCalledTimes(3);
    expect(encoded).toContain('"a":{"$":["Blob","h1024"]}');
    expect(encoded).toContain('"d":{"$":["Bytes",{"$":["Blob","h1024"]}]}');
    expect(encoded).toContain(`"b":"${value.b}"`);
  });

  it("is not offered text that a store may not keep exactly", () => {
    const spill = vi.fn(() => "h");
    const odd = ["\0".repeat(10), "x\ud800".repeat(5)];
    expect(decode(encode(odd, { spill, spillAt: 4 }))).toEqual(odd);
    expect(spill).not.toHaveBeenCalled();
  });

  it("passes on what the caller's function throws", () => {
    const broken = new TypeError("disk");
    const spill = (): string => {
      throw broken;
    };
    expect(caught(() => encode("long", { spill, spillAt: 1 }))).toBe(broken);
  });

  it("cannot be read without the text", () => {
    const encoded = encode("long", { spill: () => "abc", spillAt: 1 });
    expect(refusal(() => decode(encoded), "HF-3011").message).toContain("its part abc is missing");
    expect(refusal(() => decode(encoded, { blob: () => undefined }), "HF-3011").message).toContain("missing");
    expect(decode(encoded, { blob: () => "long" })).toBe("long");
  });
});

describe("damaged text", () => {
  it("is read as plain data or refused, and never touches a prototype", () => {
    const before = Object.getOwnPropertyNames(Object.prototype).length;
    const scraps = [
      '"$"',
      '"__proto__"',
      '["Error"',
      "null",
      "{",
      "]",
      '"',
      "\\",
      "\\u0024",
      "1e999",
      ",",
      ":",
      "-0",
    ];
    const damage = fc.tuple(fc.nat(), fc.nat(6), fc.oneof(fc.constantFrom(...scraps), fc.constant(""), text));
    fc.assert(
      fc.property(anyValue, fc.array(damage, { minLength: 1, maxLength: 4 }), (value, damages) => {
        let encoded = encode(value);
        for (const [at, cut, scrap] of damages) {
          const start = at % (encoded.length + 1);
          encoded = encoded.slice(0, start) + scrap + encoded.slice(start + cut);
        }
        const error = caught(() => {
          const read = trip(decode(encoded, { blob: () => "blob" }));
          expect(same(trip(read), read)).toBe(true);
        });
        if (error !== undefined && !HoldfastError.is(error, "HF-3011")) throw error as Error;
        expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(before);
      }),
      { numRuns: 3000 },
    );
  });
});
