import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { Values } from "../journal/values.ts";
import { silentLogger } from "../logger.ts";
import { decode, encode } from "./codec.ts";
import { Redactor } from "./redact.ts";

const trip = (error: Error): unknown => decode(encode(error));
const failure = (fields: object) => Object.assign(new Error("failed"), fields);

describe("a field of an error, nested deeper than anybody nests", () => {
  const nested = (inner: unknown): unknown => {
    let value = inner;
    for (let depth = 0; depth < 30; depth++) value = { in: [value] };
    return value;
  };

  it("is kept whole", () => {
    const error = failure({ response: nested({ status: 500 }) });
    expect(trip(error)).toHaveProperty("response", nested({ status: 500 }));
  });

  it("is not kept with a credential at its bottom", () => {
    expect(encode(failure({ response: nested({ token: "abc" }) }))).not.toContain("abc");
  });
});

describe("a field of an error that cannot be saved whole (E17)", () => {
  it("keeps its plain parts", () => {
    const response = {
      status: 429,
      headers: new Headers({ "retry-after": "7" }),
      data: { error: { type: "rate_limit", tries: [1, () => 1, 3] } },
      at: new Date(0),
      send: () => 1,
    };
    expect(trip(failure({ response }))).toMatchObject({
      response: { status: 429, data: { error: { type: "rate_limit", tries: [1, 3] } }, at: new Date(0) },
    });
  });

  it("keeps the status of an instance of a class and the headers that matter, and nothing else of it", () => {
    const headers = {
      "retry-after": "120",
      "x-request-id": "req_1",
      "anthropic-ratelimit-tokens-remaining": "0",
      "set-cookie": "session=1",
      authorization: "Bearer abc",
      server: "nginx",
    };
    const kept = {
      "retry-after": "120",
      "x-request-id": "req_1",
      "anthropic-ratelimit-tokens-remaining": "0",
    };
    const response = new Response("body", { status: 503, statusText: "busy", headers });
    expect(trip(failure({ response }))).toHaveProperty("response", {
      status: 503,
      statusText: "busy",
      headers: { ...kept, "content-type": "text/plain;charset=UTF-8" },
    });
    expect(trip(failure({ headers: new Headers(headers) }))).toHaveProperty("headers", kept);
    expect(trip(failure({ headers: new Map(Object.entries(headers)) }))).toHaveProperty("headers", kept);
  });

  it("never holds what gave access, although it could be saved whole (C4)", () => {
    const config = { url: "https://a.test", headers: { authorization: "Basic abc", accept: "*/*" } };
    const back = trip(failure({ config, apiKey: "sk-1", maxTokens: 10, author: "ada" }));
    expect(back).toMatchObject({
      config: { url: "https://a.test", headers: { accept: "*/*" } },
      maxTokens: 10,
      author: "ada",
    });
    expect(JSON.stringify(encode(failure({ config, apiKey: "sk-1" })))).not.toMatch(/Basic abc|sk-1/);
  });

  it("leaves out what gave access, wherever it stands", () => {
    const config = {
      url: "https://example.test",
      headers: { Authorization: "Basic abc", "x-api-key": "k", accept: "*/*" },
      auth: { password: "p" },
      transform: () => 1,
    };
    const back = trip(failure({ config }));
    expect(back).toHaveProperty("config", { url: "https://example.test", headers: { accept: "*/*" } });
  });

  it("is bounded in depth, count and size, and may contain itself", () => {
    const loop: Record<string, unknown> = { fn: () => 1, ok: 1 };
    loop["self"] = loop;
    expect(trip(failure({ loop }))).toHaveProperty("loop", { ok: 1 });
    let deep: object = { end: true, fn: () => 1 };
    for (let i = 0; i < 5_000; i++) deep = { deep, at: i };
    const wide = [() => 1, ...Array.from({ length: 100_000 }, (_, i) => `item ${i}`)];
    const long = { fn: () => 1, text: "x".repeat(1_000_000), short: "yes" };
    const text = encode(failure({ deep, wide, long }));
    expect(text.length).toBeLessThan(50_000);
    expect(trip(failure({ long }))).toHaveProperty("long", { short: "yes" });
  });

  it("ends although errors hold each other many times over", () => {
    let inner = failure({ level: 0 });
    for (let i = 1; i <= 30; i++) inner = failure({ both: { fn: () => 1, a: inner, b: inner } });
    expect(encode(inner).length).toBeLessThan(5_000_000);
  });

  it("is redacted like the rest", () => {
    const error = failure({ response: { fn: () => 1, note: "key hunter22" } });
    const redactor = new Redactor({ builtIn: false, values: ["hunter22"] });
    expect(encode(error, { redact: (text) => redactor.text(text) })).not.toContain("hunter22");
  });
});

describe("an error over the size limit (E17)", () => {
  const { store } = createLab();
  const limits = { valueBytes: 100, warnBytes: 100 };

  it("is recorded with its code, status and stack, however small the limit is", () => {
    const values = new Values(store, limits, silentLogger);
    const big = failure({ code: "E_BUSY", status: 503, statusCode: 503, body: "x".repeat(1_000) });
    const back = values.echo(values.encodeError("call", big));
    expect(back).toMatchObject({ message: "failed", code: "E_BUSY", status: 503, statusCode: 503 });
    expect(back).not.toHaveProperty("body");
    expect((back as Error).stack).toContain("error-parts.test");
  });

  it("is recorded when its message alone is too long, and no secret is cut in two", () => {
    const values = new Values(
      store,
      limits,
      silentLogger,
      new Redactor({ builtIn: false, values: ["hunter22"] }),
    );
    const long = new Error(`${"x".repeat(4_090)}hunter22${"y".repeat(10_000)}`);
    const { text } = values.encodeError("call", long);
    expect(text.length).toBeLessThan(10_000);
    expect(text).not.toContain("hunt");
  });
});
