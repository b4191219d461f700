import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLab } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";
import { diffToText } from "../../../manage.ts";
import type { StateView } from "../../types.ts";
import { decode, encode } from "../../values/codec.ts";
import type { Checkpoint } from "./checkpoint-view.ts";
import { type CheckpointDiff, diffCheckpoints, type PatchOperation, stateAsJson } from "./diff.ts";

const empty: StateView = { input: null, config: {}, memory: {}, loops: {}, steps: {} };

const checkpoint = (view: Partial<StateView>, rest: Partial<Checkpoint> = {}): Checkpoint =>
  ({
    ...empty,
    ...view,
    id: "r@1",
    digest: encode({ ...empty, ...view }, { sorted: true }),
    status: "running",
    at: 0,
    usage: { tokens: 0, costUsd: 0, turns: 0, activeMs: 0 },
    decisions: [],
    ...rest,
  }) as Checkpoint;

const between = (a: Partial<StateView>, b: Partial<StateView>): CheckpointDiff =>
  diffCheckpoints(checkpoint(a), checkpoint(b));

/** RFC 6902 to the letter: a path must exist, an index must be in range. */
function applied(target: unknown, operations: readonly PatchOperation[]): unknown {
  const document = { root: structuredClone(target) };
  for (const operation of operations) {
    const path = operation.path.split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    path[0] = "root";
    const last = path.pop() as string;
    let parent: unknown = document;
    for (const part of path) {
      expect(Object.hasOwn(parent as object, part), operation.path).toBe(true);
      parent = (parent as Record<string, unknown>)[part];
    }
    const exists = Object.hasOwn(parent as object, last);
    if (operation.op !== "add") expect(exists, operation.path).toBe(true);
    if (Array.isArray(parent)) {
      const index = Number(last);
      expect(index >= 0 && index <= parent.length, operation.path).toBe(true);
      if (operation.op === "remove") parent.splice(index, 1);
      else parent.splice(index, operation.op === "add" ? 0 : 1, structuredClone(operation.value));
    } else if (operation.op === "remove") Reflect.deleteProperty(parent as object, last);
    else (parent as Record<string, unknown>)[last] = structuredClone(operation.value);
  }
  return document.root;
}

const text = (value: unknown): string => encode(decode(JSON.stringify(value)), { sorted: true });

const scalar = fc.oneof(
  fc.constantFrom(undefined, null, Number.NaN, -0, Infinity, true),
  fc.integer(),
  fc.double(),
  fc.bigInt(),
  fc.string(),
  fc.date({ noInvalidDate: true }),
  fc.uint8Array({ maxLength: 8 }),
);
const key = fc.oneof(
  fc.constantFrom("id", "_t", "$", "a/b", "x~y", "toString", "valueOf", "_0", "0", ""),
  fc.string().filter((one) => !["__proto__", "constructor", "prototype"].includes(one)),
);
const { value: anything } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 5 }),
    fc.array(fc.record({ id: fc.nat(5), text: tie("value") }), { maxLength: 6 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4 }),
    fc.array(fc.tuple(fc.string(), tie("value")), { maxLength: 3 }).map((pairs) => new Map(pairs)),
    fc.array(scalar, { maxLength: 3 }).map((items) => new Set(items)),
  ),
}));
const values = fc.dictionary(key, anything, { maxKeys: 4 });
const view: fc.Arbitrary<StateView> = fc.record({
  input: anything,
  config: values,
  memory: values,
  loops: values,
  steps: values,
});

describe("the difference of two states", () => {
  it("comes with a patch that makes one into the other, whatever is in them", { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(view, view, (a, b) => {
        const { patch, state } = between(a, b);
        const result = applied(stateAsJson(a), patch);
        expect(text(result)).toBe(text(stateAsJson(b)));
        expect(state === null).toBe(patch.length === 0);
        expect(text(stateAsJson(a)) === text(stateAsJson(b))).toBe(patch.length === 0);
      }),
      { numRuns: 300 },
    );
  });

  it("is readable, whatever is in them", { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(view, view, (a, b) => {
        const lines = diffToText(between(a, b)).split("\n");
        expect(lines.length).toBeLessThan(600);
        for (const line of lines) {
          expect(line.length).toBeLessThan(1_500);
          expect(line).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        }
      }),
      { numRuns: 150 },
    );
  });

  it("does not mind the order of keys", () => {
    expect(
      between({ input: { a: 1, b: { c: 2, d: 3 } } }, { input: { b: { d: 3, c: 2 }, a: 1 } }),
    ).toMatchObject({
      state: null,
      patch: [],
    });
  });

  it("takes list items for the same by their id, or by their content", () => {
    const message = (id: number, content: string) => ({ id, role: "user", content });
    const before = [message(1, "a"), message(2, "b")];
    const after = [message(0, "z"), message(1, "a"), message(2, "b!")];
    expect(between({ loops: { turn: { before } } }, { loops: { turn: { before: after } } }).patch).toEqual([
      { op: "add", path: "/loops/turn/before/0", value: message(0, "z") },
      { op: "replace", path: "/loops/turn/before/2/content", value: "b!" },
    ]);
    const [x, y, z] = [{ t: "x" }, { t: "y" }, { t: "z" }];
    expect(between({ input: [x, y] }, { input: [x, z, y] }).patch).toEqual([
      { op: "add", path: "/input/1", value: z },
    ]);
  });

  it("tells a date or a number as a whole", () => {
    const diff = between({ memory: { at: new Date(0), n: 1n } }, { memory: { at: new Date(1), n: 2n } });
    expect(diff.patch).toEqual([
      { op: "replace", path: "/memory/at", value: { $: ["Date", 1] } },
      { op: "replace", path: "/memory/n", value: { $: ["BigInt", "2"] } },
    ]);
    expect(diffToText(diff)).toContain("~ memory.at: 1970-01-01T00:00:00.000Z → 1970-01-01T00:00:00.001Z");
    expect(diffToText(diff)).toContain("~ memory.n: 1n → 2n");
  });

  it("copes with long lists that have nothing in common, and with such that have nearly everything", () => {
    const list = (from: number, length: number) => Array.from({ length }, (_, n) => ({ n: from + n }));
    const [a, b] = [list(0, 20_000), list(50_000, 20_000)];
    const other = between({ input: a }, { input: b });
    expect(other.patch).toHaveLength(40_000);
    const longer = between({ input: a }, { input: [...a, { n: -1 }] });
    expect(longer.patch).toEqual([{ op: "add", path: "/input/20000", value: { n: -1 } }]);
    const middle = between({ input: a }, { input: [...a.slice(0, 10_000), { n: -1 }, ...a.slice(10_001)] });
    expect(middle.patch).toHaveLength(2);
    expect(between({ input: a }, { input: a.slice() }).patch).toEqual([]);
    expect(diffToText(other).split("\n")).toHaveLength(103);
    expect(diffToText(other)).toContain("… and 39,900 more");
  });

  it("looks into the deepest value that can be stored", () => {
    let [a, b]: [unknown, unknown] = [1, 2];
    for (let depth = 0; depth < 999; depth++) [a, b] = [{ in: a }, { in: b }];
    const [from, to] = [checkpoint({}, { steps: { deep: a } }), checkpoint({}, { steps: { deep: b } })];
    expect(diffCheckpoints(from, to).patch).toHaveLength(1);
  });
});

describe("the difference of two checkpoints", () => {
  it("tells steps, decisions, usage and time", () => {
    const made = { seq: 3, at: 5, step: "decision", description: "go" };
    const a = checkpoint({ steps: { x: 1, y: 2 } }, { decisions: [made] });
    const b = checkpoint(
      { steps: { y: 3, z: 4 } },
      {
        id: "s@9",
        at: 1_500,
        status: "waiting",
        decisions: [
          { ...made, seq: 7 },
          { ...made, step: "decision#2", description: "stop", agent: "critic" },
        ],
        usage: { tokens: 1_200, costUsd: 0.25, turns: 2, activeMs: 30 },
      },
    );
    const diff = diffCheckpoints(a, b);
    expect(diff).toMatchObject({
      from: "r@1",
      to: "s@9",
      same: false,
      status: { from: "running", to: "waiting" },
      steps: { added: { z: 4 }, removed: { x: 1 }, changed: { y: { from: 2, to: 3 } } },
      decisions: { added: [{ description: "stop" }], removed: [] },
      usage: { tokens: 1_200, costUsd: 0.25, turns: 2, activeMs: 30 },
      ms: 1_500,
    });
    expect(diffToText(diff).split("\n")).toEqual([
      "r@1 → s@9",
      "status",
      "  ~ running → waiting",
      "steps",
      "  + z: 4",
      "  - x: 1",
      "  ~ y: 2 → 3",
      "decisions",
      "  + critic: stop",
      "used",
      "  +1,200 tokens",
      "  +$0.25",
      "  +2 turns",
      "  +30 ms of work",
      "  1,500 ms later",
    ]);
  });

  it("is nothing between a checkpoint and itself", () => {
    const diff = between({ steps: { a: 1 } }, { steps: { a: 1 } });
    expect(diff).toMatchObject({ same: true, state: null, patch: [] });
    expect(diffToText(diff)).toBe("r@1 → r@1: no difference");
  });

  it("shortens long texts and shows what would move a cursor", () => {
    const shown = diffToText(
      between({}, { memory: { long: "x".repeat(500), evil: "a\u001b[2Jb\u202ec", "k\n": 1 } }),
    );
    expect(shown).toContain("… (502 characters)");
    expect(shown).toContain("a\\u001b[2Jb\\u{202e}c");
    expect(shown).toContain('"k\\n"');
  });

  it("can be taken between runs of one store, and gives back what it was taken from", async () => {
    const lab = createLab();
    const flow = workflow("flow", async (ctx, n: number) => {
      ctx.memory.set("n", new Map([[n, new Date(n)]]));
      await ctx.step("double", () => ({ n: 2 * n, bytes: new Uint8Array([n]) }));
      return ctx.loop("turn", { log: [] as object[] }, (state, turn) => {
        state.log.push({ id: turn.index, at: new Date(turn.index) });
        return turn.index === n ? turn.done() : undefined;
      });
    });
    const engine = lab.engine([flow]);
    for (const n of [2, 4]) {
      await lab.drive(engine.start(flow, n, { id: `r${n}` }));
      await lab.drive(engine.result(`r${n}`));
    }
    const diff = await engine.checkpoints.diff("r2", "r4");
    const [from, to] = [await engine.checkpoints.state("r2"), await engine.checkpoints.state("r4")];
    const result = applied(stateAsJson(from), diff.patch);
    expect(decode(JSON.stringify(result))).toEqual(to);
    expect(JSON.parse(JSON.stringify(diff))).toEqual(diff);
    expect(Object.keys(diff.steps.changed)).toEqual(["double"]);
  });
});
