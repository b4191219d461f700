import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { createEngine, type Logger, secret, workflow } from "../../index.ts";
import type { Redaction } from "../../manage.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { encode } from "./codec.ts";
import { decode, forbidden } from "./decode.ts";
import { Redactor } from "./redact.ts";

/** Put together here, so that no scanner takes this file for a leak. */
const fake = (...parts: string[]): string => parts.join("");
const PEM = fake(
  "-----BEGIN RSA PRIVATE",
  " KEY-----\n",
  "MIIEpAIB\n".repeat(20),
  "-----END RSA PRIVATE",
  " KEY-----",
);
const SECRETS: Readonly<Record<string, string>> = {
  "api-key": fake("sk", "-proj-", "a1B2".repeat(8)),
  "aws-key": fake("AK", "IA", "ABCDEFGH12345678"),
  "github-token": fake("gh", "p_", "a1B2".repeat(9)),
  "slack-token": fake("xo", "xb-", "1234567890-abcdef"),
  "stripe-key": fake("sk", "_live_", "a1B2c3D4e5F6"),
  "google-key": fake("AI", "za", "a1B2c".repeat(7)),
  jwt: fake("ey", "JhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjM0In0.", "dozjgNryP4J3jVmN"),
  bearer: fake("Bear", "er ", "abcdefghijklmnop0123"),
  "basic-auth": fake("Bas", "ic ", "dXNlcjpwYXNzd29yZA=="),
  "private-key": PEM,
};

describe("the detectors", () => {
  const redactor = new Redactor({});

  it.each(Object.entries(SECRETS))("find a %s in running text", (kind, text) => {
    expect(redactor.text(`before ${text} after`)).toBe(`before [redacted:${kind}] after`);
  });

  it("find a private key that is cut off or stands in JSON", () => {
    for (const text of [PEM.slice(0, 120), JSON.stringify({ key: PEM })]) {
      const clean = redactor.text(text);
      expect(clean).toContain("[redacted:private-key]");
      expect(clean).not.toContain("MIIE");
    }
  });

  it("leave ordinary text alone", () => {
    const text = "ask-me, sketch, risk-free; AKIAN; bearer of news; basic idea: eyJ. A key-value, 2 of 3.";
    expect(redactor.text(text)).toBe(text);
  });

  it("take time in proportion to the text, whatever it is made of", () => {
    for (const part of [
      "eyJ-",
      "-----BEGIN PRIVATE KEY-----",
      "Bearer ",
      "sk-a",
      "a-b_c.d",
      "eyJaaaaaaaaa.",
      "\\n",
    ]) {
      const text = part.repeat(200_000 / part.length);
      expect(redactor.text(text).length).toBeLessThanOrEqual(text.length + 1_000_000);
    }
  });
});

describe("known secrets", () => {
  it("are found in every form in which they are sent about", () => {
    const redactor = new Redactor({ builtIn: false });
    const value = 'p@ss "word"/ä+';
    redactor.know("DB", value);
    for (const form of [
      value,
      encodeURIComponent(value),
      Buffer.from(value).toString("base64"),
      JSON.stringify(value),
    ])
      expect(redactor.text(`<${form}>`)).toContain("[redacted:DB]");
  });

  it("are found whole where one is part of another", () => {
    const redactor = new Redactor({ builtIn: false, values: ["secret-1", "secret-1-and-more"] });
    expect(redactor.text("secret-1-and-more secret-1")).toBe("[redacted:value] [redacted:value]");
  });

  it("are not taken when they are too short to be told from other text", () => {
    expect(() => new Redactor({ values: ["abc"] })).toThrow(expect.objectContaining({ code: "HF-1031" }));
  });
});

describe("patterns of one's own", () => {
  const clean = (pattern: RegExp, text: string) =>
    new Redactor({ builtIn: false, patterns: [{ kind: "own", pattern }] }).text(text);

  it("are found everywhere in a text, however long it is", () => {
    const text = `${"x".repeat(3_900)} C-12345678 ${"y".repeat(4_000)} C-87654321${"z".repeat(9_000)}`;
    expect(clean(/C-\d{8}/, text)).toBe(text.replace(/C-\d{8}/g, "[redacted:own]"));
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("C-12345678", "padding ".repeat(60), "-"), { maxLength: 40 }),
        (parts) => {
          const long = parts.join("");
          expect(clean(/C-\d{8}/, long)).toBe(long.replace(/C-\d{8}/g, "[redacted:own]"));
        },
      ),
      { numRuns: 50 },
    );
  });

  it.each([
    ["a repeated group", /(a+)+b/],
    ["a repeated choice", /(?:a|b)*c/],
    ["two repetitions without a limit", /a*a*b/],
    ["a look ahead", /a(?=b)/],
    ["a look behind", /(?<!a)b/],
    ["a reference back", /(a)\1/],
    ["too many ways", /a{0,99}b{0,99}c/],
    ["nothing to find", /x?/],
  ])("are refused with %s", (_, pattern) => {
    expect(() => clean(pattern, "")).toThrow(expect.objectContaining({ code: "HF-1032" }));
  });

  it.each([
    /\bC-\d{8}\b/,
    /[\w.]{1,64}@example\.org/i,
    /(?:AB|CD)-\d+/,
    /(?<year>\d{4})-\d\d/,
    /\u{1F600}x/u,
  ])("are taken: %s", (pattern) => {
    expect(() => clean(pattern, "text")).not.toThrow();
  });
});

describe("the codec", () => {
  const redact = (text: string) => text.replaceAll("hush", "[redacted]");

  it("redacts texts, keys, and everything of an error", () => {
    const cause = new Error("hush cause");
    const error = Object.assign(new Error("hush message", { cause }), { code: "hush code", hush: ["hush"] });
    const value = {
      hush: 1,
      "[redacted]": 2,
      deep: [new Map([["hush", new Set(["hush"])]]), error, "hush".repeat(400)],
    };
    const text = encode(value, { redact });
    expect(text).not.toContain("hush");
    const back = decode(text) as { deep: [unknown, Error] };
    expect(Object.keys(back)).toEqual(["[redacted]#2", "[redacted]", "deep"]);
    expect([back.deep[1].message, (back.deep[1].cause as Error).message]).toEqual([
      "[redacted] message",
      "[redacted] cause",
    ]);
  });

  it("changes nothing where there is nothing to redact", () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 0 }))), (value) => {
        fc.pre(!value.some((one) => Object.keys(one).some(forbidden)));
        expect(decode(encode(value, { redact }))).toEqual(decode(encode(value)));
      }),
    );
  });
});

describe("an engine that redacts", () => {
  const token = SECRETS["api-key"] as string;
  const redact: Redaction = { values: ["open sesame"] };

  it("lets a run see the same while it runs and after a resume", async () => {
    const lab = createLab();
    const seen: unknown[][] = [];
    const leaky = workflow("leaky", async (ctx, input: { token: string }) => {
      const made = await ctx.step("make", () => ({ key: token, word: "open sesame" }));
      const failed = await ctx
        .step("fail", () => Promise.reject(new Error(`no ${token}`)), { retry: false })
        .catch((error: unknown) => error);
      ctx.memory.set("token", token);
      const state = await ctx.loop("turns", { notes: [] as string[], last: "" }, (draft, turn) => {
        draft.notes.push(`${draft.last} ${turn.index}`);
        draft.last = token;
        return turn.index === 2 ? turn.done() : undefined;
      });
      const { payload } = await ctx.signal("more");
      seen.push([input, made, (failed as Error).message, ctx.memory.get("token"), state, payload]);
      await ctx.sleep("rest", 60_000);
      seen.push([input, made, (failed as Error).message, ctx.memory.get("token"), state, payload]);
      return token;
    });
    const engine = lab.engine([leaky], { redact });
    await lab.drive(engine.start(leaky, { token }, { id: "run-1" }));
    await lab.drive(engine.signal("run-1", "more", token));
    await lab.drive(engine.settled("run-1"));
    await lab.crash(engine);
    await lab.clock.advance(70_000);
    const next = lab.engine([leaky], { redact });
    await lab.drive(next.recover());
    expect(await lab.drive(next.result("run-1"))).toBe("[redacted:api-key]");
    expect(new Set(seen.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(seen[0]?.[4]).toMatchObject({ last: "[redacted:api-key]" });
    expect(JSON.stringify(seen)).not.toContain(token);
    await lab.drive(next.close());
  });

  it("redacts what stands in heads, rows and logs", async () => {
    const lines: string[] = [];
    const log = (message: string, fields?: unknown) => void lines.push(JSON.stringify([message, fields]));
    const logger: Logger = { debug: log, info: log, warn: log, error: log };
    const store = createMemoryStore();
    const failing = workflow("failing", async (ctx) =>
      ctx.step("call", () => Promise.reject(new Error(`refused ${token}`)), { retry: false }),
    );
    const engine = createEngine({ store, workflows: [failing], redact, logger });
    await engine.start(failing, undefined, { id: "run-1" });
    const run = await engine.settled("run-1");
    expect(run.error).toBe("refused [redacted:api-key]");
    await expect(engine.result("run-1")).rejects.toMatchObject({
      message: expect.not.stringContaining(token),
    });
    await engine.start(
      workflow("other", async (ctx) => ctx.sleep("rest", 1e9)),
      undefined,
      { id: "run-2" },
    );
    const paused = await engine.pause("run-2", { reason: `because of ${token}` });
    await engine.settled("run-2");
    expect((await engine.get(paused.id))?.error).toBe("because of [redacted:api-key]");
    engine.on("run_resumed", () => {
      throw new Error(`listener met ${token}`);
    });
    await engine.resume("run-2");
    expect(lines.join("\n")).toContain("listener met [redacted:api-key]");
    const entries = [
      await store.entries("run-1", { from: 1, limit: 99 }),
      await store.entries("run-2", { from: 1, limit: 99 }),
    ];
    expect(JSON.stringify(entries) + lines.join("\n")).not.toContain(token);
    await engine.close({ drainMs: 0 });
  });
});

describe("secrets that a run asks for", () => {
  const asks = workflow("asks", async (ctx, input: { token: ReturnType<typeof secret> }) =>
    ctx.step("call", async () => {
      const token = await ctx.secret(input.token);
      return { token, url: `https://x/?t=${encodeURIComponent(token)}`, length: token.length };
    }),
  );

  it("are given to the call and kept out of everything stored", async () => {
    const store = createMemoryStore();
    const value = "a b&c-of-the-vault";
    const engine = createEngine({ store, workflows: [asks], secrets: { get: async () => value } });
    const run = await engine.start(asks, { token: secret("VAULT") });
    const result = { token: "[redacted:VAULT]", url: "https://x/?t=[redacted:VAULT]", length: value.length };
    expect(await engine.result(run.id)).toEqual(result);
    const text = JSON.stringify(await store.entries(run.id, { from: 1, limit: 99 }));
    expect(text).toContain("$secret");
    expect(text).not.toContain(value);
    await engine.close();
  });

  it.each([
    ["HF-1030", {}],
    ["HF-1030", { secrets: { get: () => undefined } }],
    ["HF-1031", { secrets: { get: () => "short" } }],
  ])("fail with %s when they cannot be had (%#)", async (code, options) => {
    const store = createMemoryStore();
    const engine = createEngine({ store, workflows: [asks], ...options });
    const run = await engine.start(asks, { token: secret("VAULT") });
    await expect(engine.result(run.id)).rejects.toMatchObject({ cause: { code } });
    await engine.close();
  });

  it("have plain names", () => {
    for (const name of ["", "a b", "x".repeat(201)])
      expect(() => secret(name)).toThrow(expect.objectContaining({ code: "HF-1003" }));
  });

  it("finds a known secret in hexadecimal, and in the base64 of something longer (X9)", () => {
    const redactor = new Redactor({ values: ["hunter2-hunter2"] });
    const hidden = ["hunter2-hunter2", "user:hunter2-hunter2", "a:hunter2-hunter2:b", "ab:hunter2-hunter2!"];
    for (const text of hidden) {
      expect(redactor.text(btoa(text))).toContain("[redacted:value]");
      expect(redactor.text(Buffer.from(text).toString("base64url"))).toContain("[redacted:value]");
      expect(redactor.text(Buffer.from(text).toString("hex").toUpperCase())).toContain("[redacted:value]");
    }
  });

  it("finds passwords in URLs, and leaves the rest of them (X9)", () => {
    const redactor = new Redactor({});
    expect(redactor.text("postgres://ada:s3cret!pass@db.internal/runs")).toBe(
      "postgres://ada:[redacted:url-password]@db.internal/runs",
    );
    expect(redactor.text("see https://example.org:8080/a@b and mailto:a@b.c")).toBe(
      "see https://example.org:8080/a@b and mailto:a@b.c",
    );
  });

  it("looks at the model that usage names (X9)", () => {
    const redactor = new Redactor({ values: ["hunter2-hunter2"] });
    const usage = { tokens: 1, costUsd: 0, model: "m hunter2-hunter2" };
    const recorded = redactor.event({ kind: "usage_recorded", step: "", meta: usage });
    const completed = redactor.event({ kind: "step_completed", step: "a", meta: { usage } });
    expect(JSON.stringify([recorded, completed])).not.toContain("hunter2");
  });
});
