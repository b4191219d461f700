import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLab, hangs, type Lab } from "../../../test/support/lab.ts";
import { type Context, type Engine, type Workflow, workflow } from "../../index.ts";
import type { Checkpoint } from "../../manage.ts";
import type { Store } from "../store/contract.ts";
import type { RunRow, Waiting } from "../types.ts";
import { encode } from "../values/codec.ts";

/** A program that a workflow function goes through. */
type Op =
  | { readonly op: "step"; readonly name: string; readonly value: unknown; readonly failures: number }
  | {
      readonly op: "nested" | "loop";
      readonly name: string;
      readonly turns: number;
      readonly ops: readonly Op[];
    }
  | {
      readonly op: "group";
      readonly name: string;
      readonly values: readonly unknown[];
      readonly ops: readonly Op[];
    }
  | { readonly op: "gate" | "signal" | "recall" | "forget" | "mark"; readonly name: string }
  | { readonly op: "remember" | "decide"; readonly name: string; readonly value: unknown }
  | { readonly op: "nap"; readonly name: string; readonly ms: number };

/** One way to die: with the so many-th append of a process, before it was applied or before that was known. */
interface Crash {
  readonly append: number;
  readonly applied: boolean;
}

const text = (value: unknown): string => encode(value, { sorted: true });

// ---- programs

const scalar = fc.oneof(
  fc.constantFrom(undefined, null, Number.NaN, -0, Infinity, -Infinity, true, "", "\u0000\ud800", "$"),
  fc.integer(),
  fc.double(),
  fc.bigInt(),
  fc.string({ unit: "binary" }),
  fc.date({ noInvalidDate: true }),
  fc.uint8Array({ maxLength: 12 }),
  fc.string().map((message) => Object.assign(new TypeError(message), { code: "E1", stack: "at x" })),
  // From 1 KiB on a string inside a loop is shared, from 8 KiB on a value is a blob.
  fc.nat(2).map((n) => "long ".repeat([150, 400, 2_000][n] as number)),
);
const key = fc.string().filter((name) => !["__proto__", "constructor", "prototype"].includes(name));
const { value: anything } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom("$", 'a"b', "id"), key), tie("value"), { maxKeys: 3 }),
    fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 2 }).map((pairs) => new Map(pairs)),
    fc.array(tie("value"), { maxLength: 2 }).map((items) => new Set(items)),
  ),
}));

const name = fc.constantFrom("a", "b", "pay", "größe", "x.y", "two words");
const step = fc.record({
  op: fc.constant("step" as const),
  name,
  value: anything,
  failures: fc.oneof(
    { weight: 5, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 }) },
  ),
});
const waits = fc.record({ op: fc.constantFrom("gate" as const, "signal" as const), name });
const notes = fc.oneof(
  fc.record({ op: fc.constantFrom("recall" as const, "forget" as const, "mark" as const), name }),
  fc.record({ op: fc.constantFrom("remember" as const, "decide" as const), name, value: anything }),
  fc.record({ op: fc.constant("nap" as const), name, ms: fc.constantFrom(0, 50, 60_000) }),
);
const { ops } = fc.letrec<{ ops: Op[]; block: Op }>((tie) => ({
  ops: fc.array(
    fc.oneof(
      { depthSize: "small", maxDepth: 3 },
      { weight: 4, arbitrary: step },
      { weight: 2, arbitrary: notes },
      { weight: 1, arbitrary: waits },
      { weight: 2, arbitrary: tie("block") },
    ),
    { minLength: 1, maxLength: 4 },
  ) as fc.Arbitrary<Op[]>,
  block: fc.oneof(
    fc.record({
      op: fc.constantFrom("nested" as const, "loop" as const),
      name,
      turns: fc.integer({ min: 1, max: 3 }),
      ops: tie("ops"),
    }),
    fc.record({
      op: fc.constant("group" as const),
      name,
      values: fc.array(anything, { minLength: 1, maxLength: 4 }),
      // Side by side: what one branch remembers or is sent, another might see.
      ops: fc.array(fc.oneof(step, fc.record({ op: fc.constant("gate" as const), name })), { maxLength: 2 }),
    }),
  ) as fc.Arbitrary<Op>,
}));

/** A loop long enough for several snapshots, around whatever else. */
const long: fc.Arbitrary<Op[]> = fc
  .tuple(ops, fc.integer({ min: 25, max: 45 }), ops)
  .map(([before, turns, after]) => [
    ...before,
    {
      op: "loop",
      name: "turn",
      turns,
      ops: [
        { op: "step", name: "ask", value: "answer ".repeat(130), failures: 0 },
        { op: "remember", name: "last", value: [turns] },
      ],
    },
    ...after,
  ]);

// ---- running them

/** Goes through a program. Everything it comes to know ends up in `log`. */
async function go(
  ctx: Context,
  program: readonly Op[],
  log: unknown[],
  calls: Map<string, number>,
): Promise<void> {
  for (const one of program) {
    switch (one.op) {
      case "step":
        log.push(
          await ctx.step(
            one.name,
            ({ step: at }) => {
              const call = (calls.get(at) ?? 0) + 1;
              calls.set(at, call);
              if (call <= one.failures) throw Object.assign(new Error(`busy ${call}`), { retryable: true });
              return one.value;
            },
            { retry: 5 },
          ),
        );
        break;
      case "nested":
        log.push(
          await ctx.step(one.name, async () => {
            const inner: unknown[] = [];
            await go(ctx, one.ops, inner, calls);
            return inner;
          }),
        );
        break;
      case "loop":
        log.push(
          await ctx.loop(one.name, { log: [] as unknown[] }, async (state, turn) => {
            const inner: unknown[] = [];
            await go(ctx, one.ops, inner, calls);
            state.log.push(inner);
            return turn.index === one.turns - 1 ? turn.done() : undefined;
          }),
        );
        break;
      case "group":
        log.push(
          await ctx.each(one.name, one.values, async (value) => {
            const inner: unknown[] = [value];
            await go(ctx, one.ops, inner, calls);
            return inner;
          }),
        );
        break;
      default:
        log.push(await note(ctx, one));
    }
  }
}

async function note(
  ctx: Context,
  one: Exclude<Op, { op: "step" | "nested" | "loop" | "group" }>,
): Promise<unknown> {
  switch (one.op) {
    case "gate":
      return (await ctx.gate(one.name, { show: { n: 1n }, choices: ["yes", "no"] })).choice;
    case "signal":
      return (await ctx.signal(one.name)).payload;
    case "nap":
      return ctx.sleep(one.name, one.ms);
    case "recall":
      return ctx.memory.get(one.name);
    case "forget":
      return ctx.memory.delete(one.name);
    case "remember":
      return ctx.memory.set(one.name, one.value);
    case "decide":
      ctx.agent(one.name, { status: "deciding", state: one.value });
      return ctx.decide({ description: one.name, confidence: 0.5 });
    case "mark":
      await ctx.checkpoint(one.name);
      return one.name;
  }
}

const programme = (program: readonly Op[]): Workflow<unknown, unknown> => {
  const calls = new Map<string, number>();
  return workflow("program", async (ctx, input) => {
    const log: unknown[] = [input];
    await go(ctx, program, log, calls);
    return log;
  });
};

/** A store that dies with an append, and from then on answers nothing. */
function mortal(store: Store, crash: Crash | undefined): { store: Store; isDead: () => boolean } {
  let appends = 0;
  let dead = false;
  const whileAlive =
    <A extends unknown[], R>(call: (...given: A) => Promise<R>) =>
    (...given: A): Promise<R> =>
      dead ? hangs() : call(...given).then((answer) => (dead ? hangs() : answer));
  const append = async (batch: Parameters<Store["append"]>[0]) => {
    if (++appends !== crash?.append) return store.append(batch);
    if (crash.applied) await store.append(batch);
    dead = true;
    return hangs();
  };
  return {
    isDead: () => dead,
    store: {
      ...store,
      append: whileAlive(append),
      renew: whileAlive(store.renew),
      read: whileAlive(store.read),
      entries: whileAlive(store.entries),
      blobs: whileAlive(store.blobs),
      due: whileAlive(store.due),
      now: whileAlive(store.now),
    },
  };
}

/** Lets time pass and does what a run waits for, until it has ended or its process has died. */
async function accompany(lab: Lab, engine: Engine, isDead: () => boolean): Promise<RunRow> {
  const outside = lab.engine([], { execute: false });
  for (let turn = 0; turn < 3_000; turn++) {
    await lab.clock.advance(turn < 300 ? 50 : 20_000);
    const row = await lab.store.read("r");
    if (row && (isDead() || row.status === "completed" || row.status === "failed")) return row;
    if (row?.status === "waiting") await serve(lab, outside, row.waiting);
  }
  throw new Error(`the run does not end: ${text(await engine.status("r"))}`);
}

/** The first thing that somebody must do. */
async function serve(lab: Lab, outside: Engine, waiting: readonly Waiting[]): Promise<void> {
  const wait = waiting.find(({ kind }) => kind === "gate" || kind === "signal" || kind === "review");
  if (wait?.kind === "gate")
    await lab.drive(outside.answer("r", wait.step, { choice: "yes", actor: "test" }));
  if (wait?.kind === "signal")
    await lab.drive(outside.signal("r", wait.names?.[0] ?? "", { for: wait.step }, { id: wait.step }));
  if (wait?.kind === "review") await lab.drive(outside.resume("r"));
}

async function uninterrupted(program: readonly Op[]): Promise<string> {
  const lab = createLab();
  const flow = programme(program);
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, 7n, { id: "r" }));
  await accompany(lab, engine, () => false);
  return text(await lab.drive(engine.result("r")));
}

// ---- looking at them

/** What cannot change once the position is written: everything but names and pins. */
const lasting = ({ labels: _, pinned: __, ...rest }: Checkpoint): string => text(rest);

const reader = (lab: Lab): Engine => lab.engine([], { execute: false });

/** An engine that does not know of any snapshot. */
const foldingAll = (lab: Lab): Engine =>
  lab.engine([], {
    execute: false,
    store: {
      ...lab.store,
      read: async (runId) => {
        const row = await lab.store.read(runId);
        return row && { ...row, snapshotSeq: 0 };
      },
    },
  });

const LASTING = /^(?:step_completed|gate_answered|loop_advanced|checkpoint_marked|run_completed)$/;

/** Every checkpoint, or about twenty of a long run. The newest position may be one only for as long as it is the newest. */
async function addresses(engine: Engine): Promise<string[]> {
  const items = await engine.checkpoints.list("r", { limit: 1_000 });
  const lasts = items.filter(({ kind }, index) => index > 0 || LASTING.test(kind));
  return lasts.filter((_, index) => index % Math.ceil(lasts.length / 20) === 0).map(({ id }) => id);
}

async function compare(engine: Engine, seen: Map<string, string>, ids: Iterable<string>): Promise<void> {
  for (const id of ids) {
    const shown = lasting(await engine.checkpoints.show(id));
    expect(shown, id).toBe(seen.get(id) ?? shown);
    seen.set(id, shown);
  }
}

async function roundTrip(program: readonly Op[], crashes: readonly Crash[]): Promise<{ snapshots: boolean }> {
  const lab = createLab();
  const flow = programme(program);
  const seen = new Map<string, string>();
  let row: RunRow | null = null;
  for (const crash of [...crashes, undefined]) {
    const { store, isDead } = mortal(lab.store, crash);
    const engine = lab.engine([flow], { store });
    if (row) void engine.recover();
    else void engine.start(flow, 7n, { id: "r" });
    await lab.clock.advance(10);
    row = await lab.store.read("r");
    // It may have died before there was a run.
    if (!row && isDead()) continue;
    row = await accompany(lab, engine, isDead);
    // Read where it was written, in a new process, and from the whole journal.
    if (!isDead()) await compare(engine, seen, await addresses(engine));
    await compare(reader(lab), seen, await addresses(reader(lab)));
    await compare(reader(lab), seen, seen.keys());
    expect(await reader(lab).checkpoints.validate("r")).toMatchObject({ ok: true, problems: [] });
    if (!isDead()) await lab.crash(engine);
    await lab.clock.advance(20_000);
  }
  await compare(foldingAll(lab), seen, seen.keys());
  await compareForks(lab, [...seen.keys()]);
  expect(text(await lab.drive(reader(lab).result("r")))).toBe(await uninterrupted(program));
  return { snapshots: ((await lab.store.read("r"))?.snapshotSeq ?? 0) > 0 };
}

/** A fork stands where its source stood, and so does a fork of it. */
async function compareForks(lab: Lab, ids: readonly string[]): Promise<void> {
  const engine = reader(lab);
  const id = ids[Math.floor(ids.length / 2)] as string;
  const state = text(await engine.checkpoints.state(id));
  const digest = await engine.checkpoints.digest(id);
  await lab.drive(engine.fork(id, { id: "f" }));
  await lab.drive(engine.fork("f", { id: "g" }));
  for (const fork of ["f", "g"]) {
    expect(await engine.checkpoints.digest(fork)).toBe(digest);
    expect(text(await engine.checkpoints.state(fork))).toBe(state);
    expect(await engine.checkpoints.validate(fork)).toMatchObject({ ok: true, problems: [] });
  }
}

const crash = fc.record({ append: fc.integer({ min: 1, max: 25 }), applied: fc.boolean() });
const crashes = fc.array(crash, { maxLength: 3 });

describe("every checkpoint of every program", () => {
  it("is the same live, after crashes, in a new process, from the whole journal and in a fork (120 programs) (S0-43, S2-24)", {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(ops, crashes, async (program, deaths) => {
        await roundTrip(program, deaths);
      }),
      { numRuns: 120 },
    );
  });

  it("is the same with snapshots as without (20 programs)", { timeout: 120_000 }, async () => {
    const taken: boolean[] = [];
    await fc.assert(
      fc.asyncProperty(long, crashes, async (program, deaths) => {
        taken.push((await roundTrip(program, deaths)).snapshots);
      }),
      { numRuns: 20 },
    );
    expect(taken.filter(Boolean).length).toBeGreaterThan(taken.length / 2);
  });
});
