import fc from "fast-check";
import { type Context, type Effect, type Workflow, workflow } from "../../src/index.ts";
import type { Lab } from "./lab.ts";

/** The actions of a generated workflow, in order. */
export type Node =
  | { readonly kind: "step"; readonly effect: Effect; readonly ms: number; readonly fails: number }
  | { readonly kind: "sleep"; readonly ms: number }
  | { readonly kind: "group" | "child"; readonly nodes: readonly Node[] }
  | { readonly kind: "loop"; readonly turns: number; readonly nodes: readonly Node[] };

const leaf: fc.Arbitrary<Node> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("step" as const),
      effect: fc.constantFrom<Effect>("repeatable", "keyed", "once"),
      ms: fc.integer({ min: 1, max: 30 }),
      fails: fc.integer({ min: 0, max: 1 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("sleep" as const), ms: fc.integer({ min: 1, max: 40 }) }),
  },
);

const nested = (inner: fc.Arbitrary<Node>): fc.Arbitrary<Node> => {
  const nodes = fc.array(inner, { minLength: 1, maxLength: 3 });
  return fc.oneof(
    leaf,
    fc.record({ kind: fc.constantFrom("group" as const, "child" as const), nodes }),
    fc.record({ kind: fc.constant("loop" as const), turns: fc.integer({ min: 1, max: 3 }), nodes }),
  );
};

export const program = (depth: number): fc.Arbitrary<readonly Node[]> => {
  let node = leaf;
  for (let level = 0; level < depth; level++) node = nested(node);
  return fc.array(node, { minLength: 1, maxLength: 5 });
};

export interface Program {
  readonly flow: Workflow<undefined, unknown>;
  /** The workflow and that of its children. */
  readonly flows: readonly Workflow<never, unknown>[];
  /** The calls so far, by run and step; `effects` only those with effects. */
  readonly calls: string[];
  readonly effects: string[];
}

/** A workflow that executes the nodes and returns the values of its steps. */
export function made(lab: Lab, nodes: readonly Node[]): Program {
  const calls: string[] = [];
  const effects: string[] = [];
  const tries = new Map<string, number>();
  const work = async (ctx: Context, list: readonly Node[], name: string): Promise<unknown[]> => {
    const results: unknown[] = [];
    for (const [index, node] of list.entries()) results.push(await one(ctx, node, `${name}${index}`));
    return results;
  };
  const one = (ctx: Context, node: Node, name: string): Promise<unknown> => {
    switch (node.kind) {
      case "sleep":
        return ctx.sleep(name, node.ms);
      case "group":
        return ctx.each(name, node.nodes, (inner) => one(ctx, inner, "in"));
      case "child":
        return ctx.child(name, child, node.nodes);
      case "loop":
        return ctx.loop(name, { got: [] as unknown[] }, async (draft, turn) => {
          draft.got.push(await work(ctx, node.nodes, "turn"));
          return turn.index === node.turns - 1 ? turn.done() : undefined;
        });
      case "step": {
        const call = async ({ step, runId }: { step: string; runId: string }) => {
          calls.push(`${runId} ${step}`);
          if (node.effect !== "repeatable") effects.push(`${runId} ${step}`);
          await new Promise<void>((resolve) => lab.clock.setTimer(resolve, node.ms));
          const tried = tries.get(`${runId} ${step}`) ?? 0;
          tries.set(`${runId} ${step}`, tried + 1);
          if (tried < node.fails) throw Object.assign(new Error("no"), { status: 429 });
          return `${step} ${node.ms}`;
        };
        return ctx.step(name, call, { effect: node.effect, retry: { attempts: 3, baseMs: 10 } });
      }
    }
  };
  const child = workflow("child", (ctx, list: readonly Node[]) => work(ctx, list, "c"));
  const flow = workflow("flow", (ctx: Context, _: undefined) => work(ctx, nodes, "n"));
  return { flow, flows: [flow, child], calls, effects };
}
