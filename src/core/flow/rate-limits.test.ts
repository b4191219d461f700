import { describe, expect, it } from "vitest";
import { createLab } from "../../../test/support/lab.ts";
import { workflow } from "../../index.ts";
import { createFakeClock } from "../../testing/fake-clock.ts";
import { seededIds } from "../ids.ts";
import { Lead, lookAt } from "./grants.ts";
import { Kept } from "./kept.ts";
import { ask, askNow, type LimitRecord, redated } from "./window.ts";

const MINUTE = 60_000;

/** The most calls within any period. */
function most(times: readonly number[], periodMs: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.max(0, ...sorted.map((at, i) => sorted.slice(i).filter((one) => one < at + periodMs).length));
}

const record = (calls: number, periodMs: number): LimitRecord => ({
  definition: { calls, periodMs },
  used: [],
  line: [],
  heldUntil: 0,
  heldWhy: null,
});

describe("a look at a limit", () => {
  it("asks for the time and for the limit at once, because a call waits for both", async () => {
    const asked: string[] = [];
    let answerBoth: () => void = () => undefined;
    const bothAsked = new Promise<void>((resolve) => (answerBoth = resolve));
    const ask = async <T>(what: string, answer: T): Promise<T> => {
      if (asked.push(what) === 2) answerBoth();
      await bothAsked;
      return answer;
    };
    const kept = new Kept<LimitRecord>({
      documents: () => ({
        read: () => ask("limit", null),
        list: () => Promise.resolve([]),
        write: () => Promise.resolve([]),
      }),
      kind: "limit",
      newVersion: () => "1",
      isValid: (_): _ is LimitRecord => true,
    });
    const look = await lookAt({ kept, clock: createFakeClock(), now: () => ask("time", 7) }, "carrier");
    expect(look).toMatchObject({ held: null, moment: { now: 7 } });
    expect(asked.sort()).toEqual(["limit", "time"]);
  });
});

describe("the window", () => {
  it("slides: no period ever holds more than the limit, and the line moves on at full speed", () => {
    const { random } = seededIds(1);
    let limit = record(10, 1_000);
    const waiting = new Map(Array.from({ length: 200 }, (_, n) => [`run-${n}`, 0]));
    const granted: number[] = [];
    for (let now = 0; waiting.size > 0 && now < 100_000; now += Math.ceil(random() * 7)) {
      for (const [who, until] of waiting) {
        if (until > now) continue;
        const answer = ask(limit, { who, calls: 1, tokens: 0 }, now);
        limit = answer.record;
        if (answer.until === null) granted.push(now);
        if (answer.until === null) waiting.delete(who);
        else waiting.set(who, answer.until);
      }
    }
    expect(most(granted, 1_000)).toBe(10);
    expect(granted).toHaveLength(200);
    // 20 lots of ten, the first at once.
    expect(granted.at(-1)).toBeLessThan(19_000 * 1.1);
    expect(limit.used.length).toBeLessThanOrEqual(401);
  });

  it("holds at the receiver, however late calls begin after they were granted", () => {
    const { random } = seededIds(2);
    const lead = new Lead();
    let limit = record(10, 1_000);
    const begun: number[] = [];
    const late: { readonly dated: number; readonly at: number; readonly since: number }[] = [];
    for (let now = 0; begun.length < 300 && now < 200_000; now++) {
      const asked = askNow(limit, { calls: 1, tokens: 0 }, now, lead.ms);
      limit = asked.record;
      const delay = () => Math.floor(random() ** 8 * 700);
      if (asked.until === null) late.push({ dated: asked.dated, at: now + delay(), since: now });
      for (const one of late.filter(({ at }) => at === now)) {
        late.splice(late.indexOf(one), 1);
        lead.saw(now - one.since);
        if (now <= one.dated) begun.push(now);
        else {
          const again = redated(limit, { calls: 1, tokens: 0 }, one.dated, { now, leadMs: lead.ms });
          expect(again).not.toBeNull();
          limit = again?.record ?? limit;
          late.push({ dated: again?.dated ?? 0, at: now + 1 + delay(), since: now });
        }
      }
    }
    expect(begun).toHaveLength(300);
    expect(most(begun, 1_000)).toBe(10);
  });

  it("gives way to nobody who comes later", () => {
    let limit = record(1, 1_000);
    const order: string[] = [];
    const at = (who: string, now: number) => {
      const answer = ask(limit, { who, calls: 1, tokens: 0 }, now);
      limit = answer.record;
      if (answer.until === null) order.push(who);
      return answer.until;
    };
    at("a", 0);
    const b = at("b", 10) ?? 0;
    const c = at("c", 20) ?? 0;
    expect(at("d", b) ?? 0).toBeGreaterThan(c);
    at("b", b);
    at("c", c);
    expect(order).toEqual(["a", "b", "c"]);
  });

  it("is neither opened nor closed for good by a clock that jumps", () => {
    let limit = record(2, MINUTE);
    for (const now of [0, 1, 5]) limit = ask(limit, { who: `${now}`, calls: 1, tokens: 0 }, now).record;
    expect(ask(limit, { who: "x", calls: 1, tokens: 0 }, 100).until).not.toBeNull();
    const ahead = ask(limit, { who: "y", calls: 1, tokens: 0 }, 10 * 365 * 86_400_000).record;
    expect(ask(ahead, { who: "z", calls: 1, tokens: 0 }, 200).until).toBeNull();
  });
});

describe("a rate limit", () => {
  const stage = (calls: number, periodMs: number, options = {}) => {
    const lab = createLab();
    const times: number[] = [];
    const flow = workflow("flow", async (ctx) => {
      await ctx.step("call", () => times.push(lab.clock.now()), { limit: "api" });
      return "done";
    });
    const engines = [1, 2, 3].map(() =>
      lab.engine([flow], { rateLimits: { api: { calls, periodMs } }, ...options }),
    );
    return { lab, times, flow, engines };
  };

  it("is never exceeded by runs of several engines, and all of them get through", async () => {
    const { lab, times, flow, engines } = stage(10, 1_000);
    const runs = await lab.drive(
      Promise.all(
        engines.flatMap((engine) => Array.from({ length: 40 }, () => engine.start(flow, undefined))),
      ),
    );
    await lab.drive(Promise.all(runs.map((run) => run.result())));
    expect(times).toHaveLength(120);
    expect(most(times, 1_000)).toBeLessThanOrEqual(10);
    await lab.drive(Promise.all(engines.map((one) => one.close())));
  });

  it("lets a run wait outside the worker, and says for what and until when", async () => {
    const { lab, times, flow, engines } = stage(1, 10 * MINUTE);
    const [engine] = engines;
    if (!engine) return;
    const first = await lab.drive(engine.start(flow, undefined));
    await lab.drive(engine.result(first.id));
    const second = await lab.drive(engine.start(flow, undefined));
    const row = await lab.drive(engine.settled(second.id));
    expect(row).toMatchObject({ status: "waiting", claim: { owner: null } });
    expect(row.waiting).toMatchObject([{ kind: "limit", step: "call", code: "HF-5122" }]);
    expect(row.waiting[0]?.until).toBeGreaterThan(lab.clock.now() + 9 * MINUTE);
    expect((await engine.status(second.id)).headline).toContain("rate limit api");
    expect(await engine.rateLimits.get("api")).toMatchObject({ used: { calls: 1 }, waiting: 1 });
    // Another process takes it up.
    await lab.crash(engine);
    await lab.drive((engines[1] as typeof engine).work());
    await lab.drive((engines[1] as typeof engine).result(second.id));
    expect(times).toHaveLength(2);
    await lab.drive(Promise.all(engines.slice(1).map((one) => one.close())));
  });

  it("is held back for all runs when one of them is told to wait", async () => {
    const lab = createLab();
    const times: number[] = [];
    let isBusy = true;
    const flow = workflow("flow", async (ctx) => {
      await ctx.step(
        "call",
        () => {
          if (isBusy) {
            isBusy = false;
            throw Object.assign(new Error("too many requests"), { status: 429, retryAfterMs: 90_000 });
          }
          times.push(lab.clock.now());
        },
        { limit: "api" },
      );
    });
    const rateLimits = { api: { calls: 100, periodMs: MINUTE } };
    const [one, other] = [lab.engine([flow], { rateLimits }), lab.engine([flow], { rateLimits })];
    const begun = lab.clock.now();
    const first = await lab.drive(one.start(flow, undefined));
    await lab.drive(one.settled(first.id));
    const second = await lab.drive(other.start(flow, undefined));
    expect(await lab.drive(other.settled(second.id))).toMatchObject({ status: "waiting" });
    expect(await other.rateLimits.get("api")).toMatchObject({ heldWhy: "The receiver asked to wait." });
    await lab.drive(Promise.all([one.result(first.id), other.result(second.id)]));
    expect(Math.min(...times) - begun).toBeGreaterThanOrEqual(90_000);
    await lab.drive(Promise.all([one.close(), other.close()]));
  });

  it("counts tokens, and refuses what it can never grant or what isn't defined", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx, use: { name: string; tokens: number; isOptional?: boolean }) =>
      ctx.step("call", () => "called", { limit: use, retry: false }),
    );
    const engine = lab.engine([flow], { rateLimits: { tokens: { tokens: 1_000 } } });
    const run = async (use: { name: string; tokens: number; isOptional?: boolean }) => {
      const { id } = await lab.drive(engine.start(flow, use));
      return lab.drive(engine.settled(id));
    };
    expect(await run({ name: "tokens", tokens: 600 })).toMatchObject({ status: "completed" });
    expect(await run({ name: "tokens", tokens: 400 })).toMatchObject({ status: "completed" });
    expect(await run({ name: "tokens", tokens: 1 })).toMatchObject({ status: "waiting" });
    expect(await run({ name: "tokens", tokens: 1_001 })).toMatchObject({ status: "failed" });
    expect(await run({ name: "none", tokens: 1 })).toMatchObject({ status: "failed" });
    expect(await run({ name: "none", tokens: 1, isOptional: true })).toMatchObject({ status: "completed" });
    await lab.crash(engine);
  });

  it("is set, listed, held and deleted by operators", async () => {
    const lab = createLab();
    const engine = lab.engine([]);
    await engine.rateLimits.set("api", { calls: 5 }, { actor: "ops", reason: "new plan" });
    await engine.rateLimits.hold("api", MINUTE, { reason: "the receiver is down" });
    expect(await engine.rateLimits.list()).toMatchObject([
      { name: "api", calls: 5, periodMs: MINUTE, heldWhy: "the receiver is down", waiting: 0 },
    ]);
    expect(await engine.rateLimits.hold("api", 0)).toMatchObject({ heldUntil: null });
    await engine.rateLimits.delete("api");
    expect(await engine.rateLimits.get("api")).toBeNull();
    for (const bad of [{}, { calls: 0 }, { calls: 1, periodMs: 99 }, { call: 1 }])
      await expect(engine.rateLimits.set("api", bad)).rejects.toMatchObject({ code: "HF-1003" });
    await lab.crash(engine);
  });
});
