import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../test/support/lab.ts";
import { createEngine, type Engine, type StepCall, type StepOptions, workflow } from "../../index.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import { keyAnswer } from "./key-answer.ts";

const failed = (fields: object): Error => Object.assign(new Error("no"), fields);

describe("keyAnswer", () => {
  it("tells what an error says about the key", () => {
    const cases: readonly (readonly [string | undefined, unknown])[] = [
      ["in-flight", failed({ status: 409 })],
      ["in-flight", failed({ response: { status: 409 } })],
      ["refused", failed({ statusCode: 422 })],
      ["refused", failed({ status: 400, type: "StripeIdempotencyError" })],
      ["refused", failed({ status: 400, code: "IDEMPOTENCY_KEY_REUSED" })],
      ["refused", failed({ name: "IdempotentParameterMismatchException" })],
      ["refused", failed({ keyRejected: true })],
      [undefined, failed({ status: 422, keyRejected: false })],
      ["replayed", failed({ status: 500, headers: new Headers({ "Idempotent-Replayed": "true" }) })],
      [undefined, failed({ status: 402, headers: new Headers({ "Idempotent-Replayed": "true" }) })],
      [undefined, failed({ status: 500 })],
      [undefined, failed({ status: 400 })],
      [undefined, undefined],
    ];
    for (const [answer, error] of cases) expect([answer, error]).toEqual([keyAnswer(error), error]);
  });
});

interface Given {
  readonly options?: StepOptions;
  /** What each call does; the last one is repeated. */
  readonly answers: readonly unknown[];
}

/** A run with one keyed step whose receiver answers as given. */
async function paying({ answers, options = {} }: Given) {
  const lab = createLab();
  const calls: StepCall[] = [];
  const handled: string[] = [];
  const flow = workflow("flow", async (ctx) => {
    try {
      return await ctx.step(
        "pay",
        (call) => {
          calls.push(call);
          const answer = answers[Math.min(calls.length, answers.length) - 1];
          if (answer instanceof Error) throw answer;
          return typeof answer === "function" ? answer() : answer;
        },
        { effect: "keyed", input: { amount: 5 }, ...options },
      );
    } catch (error) {
      handled.push((error as Error).message);
      throw error;
    }
  });
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, undefined, { id: "r" }));
  const run = await lab.drive(engine.settled("r"));
  return { lab, engine, flow, run, calls, handled };
}

const kinds = async (lab: Lab): Promise<string[]> =>
  (await lab.store.entries("r", { from: 1, limit: 500 })).flatMap(({ head }) =>
    [...head.matchAll(/"(step_\w+|run_failed)"/g)].map(([, kind]) => kind as string),
  );

describe("a keyed step whose receiver is still at an earlier call (409)", () => {
  it("waits as long as it is told and is called again under the same key", async () => {
    const inFlight = failed({ status: 409, headers: { "Retry-After": "60" } });
    const { lab, engine, calls } = await paying({ answers: [inFlight, "paid"] });
    const [first] = calls;
    expect(calls).toHaveLength(1);
    expect(await lab.drive(engine.result("r"))).toBe("paid");
    expect(calls.map(({ key }) => key)).toEqual([first?.key, first?.key]);
  });

  it("is in doubt when that does not end, never failed, and cannot be given a new key", async () => {
    const { lab, engine, calls, handled, run } = await paying({
      answers: [failed({ status: 409 })],
      options: { onKeyRejected: "new-key", retry: { attempts: 3, baseMs: 10 } },
    });
    expect(run.waiting).toMatchObject([
      { kind: "decision", step: "pay", detail: expect.stringContaining("still busy") },
    ]);
    expect([calls.length, handled]).toEqual([3, []]);
    await expect(
      lab.drive(engine.resolve("r", "pay", { action: "rerun", newKey: true })),
    ).rejects.toMatchObject({ code: "HF-2173" });
    // Told to try again, it has all its attempts again.
    await lab.drive(engine.resolve("r", "pay", { action: "rerun" }));
    await lab.drive(engine.settled("r"));
    await lab.clock.advance(5_000);
    expect(calls).toHaveLength(6);
    expect(new Set(calls.map(({ key }) => key)).size).toBe(1);
    expect(await kinds(lab)).not.toContain("run_failed");
  });
});

describe("a keyed step whose receiver refuses its key (422)", () => {
  const refused = failed({ status: 422 });

  it("is in doubt at once: nothing of the workflow sees it, and nobody calls it again by itself (S1-43)", async () => {
    const { lab, engine, flow, calls, handled, run } = await paying({ answers: [refused] });
    expect(run.waiting).toMatchObject([
      {
        kind: "decision",
        step: "pay",
        detail: expect.stringContaining("does not accept its idempotency key"),
      },
    ]);
    const { run: later, engine: next } = await lab.afterCrash(engine, [flow], "r");
    expect(later.waiting).toMatchObject(run.waiting);
    await expect(lab.drive(next.resume("r"))).rejects.toMatchObject({ code: "HF-1007" });
    expect([calls.length, handled]).toEqual([1, []]);
    expect(await kinds(lab)).toEqual(["step_started", "step_in_doubt"]);
  });

  it("is decided by a person at once: nobody can be at it still", async () => {
    const { lab, engine, calls } = await paying({ answers: [refused, "paid"] });
    await lab.drive(engine.resolve("r", "pay", { action: "rerun", actor: "ada" }));
    expect(await lab.drive(engine.result("r"))).toBe("paid");
    expect(new Set(calls.map(({ key }) => key)).size).toBe(1);
  });

  it("gets a new key only where it allows that and a person says so, by name and with the reason (S1-43)", async () => {
    const plain = await paying({ answers: [refused] });
    const asked = { action: "rerun", newKey: true, actor: "ada", reason: "the old key is burnt" } as const;
    await expect(plain.lab.drive(plain.engine.resolve("r", "pay", asked))).rejects.toMatchObject({
      code: "HF-2173",
    });
    const options = { onKeyRejected: "new-key" } as const;
    const { lab, engine, flow, calls } = await paying({ answers: [refused, hangs, "paid"], options });
    await lab.drive(engine.resolve("r", "pay", asked));
    await lab.clock.advance(1_000);
    const { run } = await lab.afterCrash(engine, [flow], "r");
    expect(run.status).toBe("completed");
    const [first, second, third] = calls.map(({ key }) => key);
    expect(second).not.toBe(first);
    expect(third).toBe(second);
    const entries = await lab.store.entries("r", { from: 1, limit: 100 });
    const resolved = entries.find(({ head }) => head.includes("step_resolved"));
    expect(resolved?.head).toContain('"a":"ada"');
    expect(resolved?.head).toContain("the old key is burnt");
  });

  it("counts the age of its new key from its first use, not from that of the old one", async () => {
    const options = { onKeyRejected: "new-key", keyWindowMs: 3_600_000 } as const;
    const { lab, engine, flow, calls } = await paying({ answers: [refused, hangs, "paid"], options });
    await lab.clock.advance(7_200_000);
    await lab.drive(engine.resolve("r", "pay", { action: "rerun", newKey: true }));
    await lab.clock.advance(1_000);
    const { run } = await lab.afterCrash(engine, [flow], "r");
    expect([run.status, calls.length]).toEqual(["completed", 3]);
  });

  it("fails like any other where it says so, and then a resume calls it under the same key", async () => {
    const options = { onKeyRejected: "fail" } as const;
    const { lab, engine, calls, handled, run } = await paying({ answers: [refused, "paid"], options });
    expect([run.status, handled]).toEqual(["failed", ["no"]]);
    await lab.drive(engine.resume("r"));
    expect(await lab.drive(engine.result("r"))).toBe("paid");
    expect(new Set(calls.map(({ key }) => key)).size).toBe(1);
  });

  it("refuses an option that it does not know before it is called", async () => {
    const options = { onKeyRejected: "retry" as never };
    const { run, calls } = await paying({ answers: ["paid"], options });
    expect([run.error, calls]).toEqual([expect.stringContaining("onKeyRejected"), []]);
  });
});

describe("a keyed step whose receiver repeats a failure for its key", () => {
  it("is in doubt without further calls, which could not be answered differently", async () => {
    const stored = failed({ status: 500, headers: { "idempotent-replayed": "true" } });
    const { calls, run } = await paying({ answers: [failed({ status: 500 }), stored] });
    expect(run.waiting).toMatchObject([
      { kind: "decision", detail: expect.stringContaining("repeats its failure") },
    ]);
    expect(calls).toHaveLength(2);
  });
});

describe("a once step that was tried before", () => {
  it("is not called again because of an answer about its key, which tells of the earlier attempt", async () => {
    const { lab, engine, calls } = await paying({
      answers: [failed({ status: 429 }), failed({ status: 409 }), "twice"],
      options: { effect: "once", retry: { attempts: 2, baseMs: 10 } },
    });
    const run = await lab.drive(engine.settled("r"));
    expect([run.waiting[0]?.kind, calls.length]).toEqual(["decision", 2]);
  });
});

describe("a receiver that keeps keys, over HTTP", () => {
  let server: Server;
  let engine: Engine;

  afterEach(async () => {
    await engine.close({ drainMs: 0 });
    server.close();
  });

  /** Answers 409 while a first call is under way, 422 for other arguments, and else what it answered first. */
  async function receiver() {
    const seen = new Map<string, { body: string; answer?: string }>();
    let done = 0;
    let finish = (): void => undefined;
    const held = new Promise<void>((resolve) => (finish = resolve));
    const refused: number[] = [];
    const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const key = String(request.headers["idempotency-key"]);
      let body = "";
      for await (const chunk of request) body += String(chunk);
      const known = seen.get(key);
      const status = known && known.body !== body ? 422 : known && known.answer === undefined ? 409 : 200;
      if (status !== 200) {
        refused.push(status);
        if (status === 409) finish();
        response.writeHead(status).end();
        return;
      }
      if (!known) {
        const one: { body: string; answer?: string } = { body };
        seen.set(key, one);
        done++;
        await held;
        one.answer = `payment ${done}`;
      }
      response.end(seen.get(key)?.answer);
    };
    server = createServer((request, response) => void handle(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return { url, refused, done: () => done };
  }

  it("is waited for while it is at it, and acts once", async () => {
    const { url, refused, done } = await receiver();
    let calls = 0;
    const flow = workflow("flow", (ctx) =>
      ctx.step(
        "pay",
        async ({ key, signal }) => {
          const body = JSON.stringify({ amount: 5 });
          const headers = { "idempotency-key": key };
          const sent = fetch(url, { method: "POST", headers, body, signal });
          // The first answer is lost on the way.
          if (++calls === 1) {
            void sent.catch(() => undefined);
            throw failed({ code: "ECONNRESET" });
          }
          const response = await sent;
          if (!response.ok) throw failed({ status: response.status });
          return response.text();
        },
        { effect: "keyed", retry: { attempts: 10, baseMs: 20, factor: 1 } },
      ),
    );
    engine = createEngine({ store: createMemoryStore(), workflows: [flow] });
    await engine.start(flow, undefined, { id: "r" });
    expect(await engine.result("r")).toBe("payment 1");
    expect(done()).toBe(1);
    expect(refused.every((status) => status === 409)).toBe(true);
  });
});
