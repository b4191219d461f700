import fc from "fast-check";
import { type Context, type Effect, type Verdict, type Workflow, workflow } from "../../src/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { createLab, type Lab } from "./lab.ts";

/** The actions of a generated workflow, in order: everything a run can do and that can go wrong in it. */
export type Wild =
  | {
      readonly kind: "step";
      readonly effect: Effect;
      readonly ms: number;
      readonly tokens: number;
      /**
       * How its first call ends: well, with an error that is retried soon or late, or for good with one that proves
       * nothing or that proves it wasn't done.
       */
      readonly first: "well" | "soon" | "late" | "for good" | "refused";
      readonly verify: Verdict<unknown>["status"] | undefined;
      readonly undo: boolean;
      /** Another step handles its failure. */
      readonly caught: boolean;
    }
  | { readonly kind: "tx"; readonly tokens: number }
  | { readonly kind: "sleep"; readonly ms: number }
  | { readonly kind: "gate"; readonly timeoutMs: number | undefined }
  | { readonly kind: "mail" }
  | { readonly kind: "group" | "child"; readonly nodes: readonly Wild[] }
  | {
      readonly kind: "loop";
      readonly turns: number;
      readonly every: number;
      readonly nodes: readonly Wild[];
    };

const leaf: fc.Arbitrary<Wild> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("step" as const),
      effect: fc.constantFrom<Effect>("repeatable", "keyed", "once"),
      ms: fc.integer({ min: 1, max: 30 }),
      tokens: fc.integer({ min: 0, max: 9 }),
      first: fc.oneof(
        { weight: 4, arbitrary: fc.constant("well" as const) },
        { weight: 3, arbitrary: fc.constantFrom("soon", "late", "for good", "refused") },
      ),
      verify: fc.constantFrom<Verdict<unknown>["status"] | undefined>(
        undefined,
        "done",
        "not-done",
        "unknown",
      ),
      undo: fc.boolean(),
      caught: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("tx" as const), tokens: fc.integer({ min: 0, max: 9 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("sleep" as const), ms: fc.integer({ min: 1, max: 40 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("gate" as const),
      timeoutMs: fc.option(fc.integer({ min: 20, max: 30_000 }), { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "mail" as const }) },
);

const nested = (inner: fc.Arbitrary<Wild>): fc.Arbitrary<Wild> => {
  const nodes = fc.array(inner, { minLength: 1, maxLength: 3 });
  return fc.oneof(
    { weight: 2, arbitrary: leaf },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("group" as const, "child" as const), nodes }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("loop" as const),
        turns: fc.integer({ min: 1, max: 3 }),
        every: fc.integer({ min: 1, max: 2 }),
        nodes,
      }),
    },
  );
};

export const wild = (depth: number): fc.Arbitrary<readonly Wild[]> => {
  let node = leaf;
  for (let level = 0; level < depth; level++) node = nested(node);
  return fc.array(node, { minLength: 1, maxLength: 5 });
};

const hasTransaction = (nodes: readonly Wild[]): boolean =>
  nodes.some((node) => node.kind === "tx" || ("nodes" in node && hasTransaction(node.nodes)));

/** A lab for a program; with SQL, in a new file, if the program needs it. */
export async function labFor(nodes: readonly Wild[], newFile: () => string): Promise<Lab> {
  return hasTransaction(nodes) ? sqlLab(newFile()) : createLab();
}

/** A lab with a SQLite store that uses the lab's clock. */
export async function sqlLab(file: string): Promise<Lab> {
  const { clock } = createLab();
  let now = () => clock.now();
  const lab = createLab(await openSqliteStore({ file, clock: { now: () => now() } }));
  now = () => lab.clock.now();
  return lab;
}

/** A call as the outside world saw it. */
export interface Seen {
  readonly runId: string;
  readonly step: string;
  readonly effect: Effect;
  readonly key: string;
}

export interface WildProgram {
  readonly flow: Workflow<undefined, unknown>;
  readonly flows: readonly Workflow<never, unknown>[];
  /** Every call of every run, in order; undo calls are named by the undoing step. */
  readonly calls: Seen[];
}

const LATE_MS = 3_600_000;

/** What each kind of failure proves. */
const ERRORS = {
  soon: () => Object.assign(new Error("soon"), { status: 429 }),
  late: () => Object.assign(new Error("late"), { status: 503, retryAfterMs: LATE_MS }),
  "for good": () => Object.assign(new Error("for good"), { retryable: false }),
  refused: () => Object.assign(new Error("refused"), { status: 403 }),
};

interface Options {
  /** The run undoes its work when it fails. */
  readonly compensateOnFailure: boolean;
}

/** A workflow that executes the nodes and returns the values of its steps. */
export function tamed(lab: Lab, nodes: readonly Wild[], { compensateOnFailure }: Options): WildProgram {
  const calls: Seen[] = [];
  const tries = new Map<string, number>();
  const pass = (ms: number): Promise<void> => new Promise((resolve) => lab.clock.setTimer(resolve, ms));
  const work = async (ctx: Context, list: readonly Wild[], name: string): Promise<unknown[]> => {
    const results: unknown[] = [];
    for (const [index, node] of list.entries()) results.push(await one(ctx, node, `${name}${index}`));
    return results;
  };
  const step = async (ctx: Context, node: Wild & { kind: "step" }, name: string): Promise<unknown> => {
    const { effect, ms, tokens, first, verify, undo } = node;
    const done = ctx.step(
      name,
      async ({ runId, step: key, key: idempotency }) => {
        calls.push({ runId, step: key, effect, key: idempotency });
        ctx.usage({ tokens, costUsd: tokens / 100 });
        await pass(ms);
        const tried = tries.get(`${runId} ${key}`) ?? 0;
        tries.set(`${runId} ${key}`, tried + 1);
        if (tried === 0 && first !== "well") throw ERRORS[first]();
        return `${key} ${ms}`;
      },
      {
        effect,
        input: { name },
        retry: { attempts: 3, baseMs: 10 },
        ...(verify === undefined
          ? {}
          : {
              verify: () => (verify === "done" ? { status: verify, value: "verified" } : { status: verify }),
            }),
        ...(undo
          ? {
              compensate: (_: unknown, { runId, step: key, key: idempotency }) => {
                calls.push({ runId, step: key, effect, key: idempotency });
              },
            }
          : {}),
      },
    );
    if (!node.caught) return done;
    return done.catch((error: Error) =>
      ctx.step(
        `${name} instead`,
        ({ runId, step: key, key: idempotency }) => {
          calls.push({ runId, step: key, effect: "once", key: idempotency });
          return error.message;
        },
        { effect: "once" },
      ),
    );
  };
  const one = (ctx: Context, node: Wild, name: string): Promise<unknown> => {
    switch (node.kind) {
      case "sleep":
        return ctx.sleep(name, node.ms);
      case "gate": {
        const timeout = node.timeoutMs === undefined ? {} : { timeoutMs: node.timeoutMs };
        return ctx
          .gate(name, { choices: ["yes", "no"], ...timeout, onTimeout: { choice: "no" } })
          .then(({ choice }) => choice);
      }
      case "mail":
        return ctx.signal(name, { timeoutMs: 50 }).then(
          ({ payload }) => payload,
          () => "no mail",
        );
      case "tx":
        return ctx.transaction(name, () => `${name} written`);
      case "group":
        return ctx.each(name, node.nodes, (inner) => one(ctx, inner, "in"));
      case "child":
        return ctx.child(name, child, node.nodes);
      case "loop":
        return ctx.loop(
          name,
          { got: [] as unknown[] },
          async (draft, turn) => {
            draft.got.push(await work(ctx, node.nodes, "turn"));
            return turn.index === node.turns - 1 ? turn.done() : undefined;
          },
          { every: node.every },
        );
      case "step":
        return step(ctx, node, name);
    }
  };
  const child = workflow("child", { compensateOnFailure }, (ctx: Context, list: readonly Wild[]) =>
    work(ctx, list, "c"),
  );
  const flow = workflow("flow", { compensateOnFailure }, (ctx: Context, _: undefined) =>
    work(ctx, nodes, "n"),
  );
  return { flow, flows: [flow, child], calls };
}
