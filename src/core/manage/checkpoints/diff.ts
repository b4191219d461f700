import { create, type Delta, type DiffContext, type Filter } from "jsondiffpatch";
import { format } from "jsondiffpatch/formatters/jsonpatch";
import type { RunStatus, StateView } from "../../types.ts";
import { encode } from "../../values/codec.ts";
import type { Checkpoint, CheckpointUsage, DecisionMade } from "./checkpoint-view.ts";

/**
 * The differences between two checkpoints. Values are JSON: what JSON can't express uses the journal's encoding, such
 * as `{"$":["Date",0]}`.
 */
export interface CheckpointDiff {
  readonly from: string;
  readonly to: string;
  /** True when the states are equal. */
  readonly same: boolean;
  readonly status: Change<RunStatus>;
  /** The difference of the states in the format of jsondiffpatch; `null` when there is none. */
  readonly state: StateDelta | null;
  /** The difference as a JSON Patch (RFC 6902), to apply to the state of `from` as JSON. */
  readonly patch: readonly PatchOperation[];
  readonly steps: {
    readonly added: Readonly<Record<string, unknown>>;
    readonly removed: Readonly<Record<string, unknown>>;
    readonly changed: Readonly<Record<string, Change<unknown>>>;
  };
  readonly decisions: { readonly added: readonly DecisionMade[]; readonly removed: readonly DecisionMade[] };
  /** The usage of `to` beyond that of `from`. */
  readonly usage: CheckpointUsage;
  /** Milliseconds from one to the other. */
  readonly ms: number;
}

export interface Change<T> {
  readonly from: T;
  readonly to: T;
}

export type StateDelta = Readonly<Record<string, unknown>>;

export type PatchOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string };

/** Compares two checkpoints of any runs. */
export function diffCheckpoints(a: Checkpoint, b: Checkpoint): CheckpointDiff {
  const [left, right] = [partsAsJson(a), partsAsJson(b)];
  const delta = differ.diff(joined(left), joined(right));
  return {
    from: a.id,
    to: b.id,
    same: a.digest === b.digest,
    status: { from: a.status, to: b.status },
    // Cloned, so that the parts share nothing and objects have their usual prototype again.
    state: structuredClone(delta ?? null) as StateDelta | null,
    patch: structuredClone(format(delta)) as PatchOperation[],
    steps: structuredClone(diffSteps(left.steps, right.steps)),
    decisions: {
      added: missingFrom(a.decisions, b.decisions),
      removed: missingFrom(b.decisions, a.decisions),
    },
    usage: {
      tokens: b.usage.tokens - a.usage.tokens,
      costUsd: b.usage.costUsd - a.usage.costUsd,
      turns: b.usage.turns - a.usage.turns,
      activeMs: b.usage.activeMs - a.usage.activeMs,
    },
    ms: b.at - a.at,
  };
}

type Json = Record<string, unknown>;

/** A state as JSON without loss: the document that a diff's patch applies to. The journal's codec can read it. */
export const stateAsJson = (view: StateView): Json => joined(partsAsJson(view));

type Parts = { readonly [K in keyof StateView]: K extends "input" ? unknown : Json };

function partsAsJson({ input, config, memory, loops, steps }: StateView): Parts {
  const each = (values: Readonly<Record<string, unknown>>): Json =>
    bare(Object.entries(values).map(([key, value]) => [key, asJson(value)]));
  return {
    input: asJson(input),
    config: each(config),
    memory: each(memory),
    loops: each(loops),
    steps: each(steps),
  };
}

const joined = ({ input, ...parts }: Parts): Json =>
  bare([["input", input], ...Object.entries(parts).map(([name, part]) => [name, untagged(part)] as const)]);

/** An object with a key "$" would look like a tag. */
const untagged = (values: Json): Json =>
  "$" in values ? bare([["$", ["Object", Object.entries(values)]]]) : values;

const asJson = (value: unknown): unknown => stripped(JSON.parse(encode(value, { sorted: true })));

/** Without a prototype, because a key such as `toString` would seem to exist. */
function bare(entries: readonly (readonly [string, unknown])[]): Json {
  const object = Object.create(null) as Json;
  for (const [key, value] of entries) object[key] = value;
  return object;
}

function stripped(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(stripped);
  return bare(Object.entries(value).map(([key, inner]) => [key, stripped(inner)]));
}

function diffSteps(before: Json, after: Json): CheckpointDiff["steps"] {
  const only = (these: Json, those: Json) => Object.entries(these).filter(([key]) => !(key in those));
  const changed = Object.entries(before).filter(([key, value]) => key in after && !isSame(value, after[key]));
  return {
    added: Object.fromEntries(only(after, before)),
    removed: Object.fromEntries(only(before, after)),
    changed: Object.fromEntries(changed.map(([key, from]) => [key, { from, to: after[key] }])),
  };
}

/** Keys are sorted, so equal data is equal text. */
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Compares decisions by content and place: positions and times differ from run to run. */
function missingFrom(known: readonly DecisionMade[], given: readonly DecisionMade[]): DecisionMade[] {
  const content = ({ seq: _, at: __, ...decision }: DecisionMade): string =>
    encode(decision, { sorted: true });
  const seen = new Set(known.map(content));
  return given.filter((decision) => !seen.has(content(decision)));
}

/** Messages and the like are identical when they have the same id, or else the same content. */
function identityOf(item: unknown): string {
  const id = (item as { id?: unknown } | null)?.id;
  return typeof id === "string" || typeof id === "number" ? `id ${id}` : JSON.stringify(item);
}

/** Tags with content worth comparing; any other stands for one value. */
const CONTAINERS: readonly unknown[] = ["Map", "Set", "Object"];

function tagOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { $: tag } = value as { $?: unknown };
  return Array.isArray(tag) ? tag[0] : undefined;
}

/** A Date or a BigInt changes as a whole. */
const wholeTags: Filter<DiffContext> = Object.assign(
  (context: DiffContext) => {
    const [left, right] = [tagOf(context.left), tagOf(context.right)];
    if (left === right && (left === undefined || CONTAINERS.includes(left))) return;
    const result = isSame(context.left, context.right) ? undefined : [context.left, context.right];
    context.setResult(result as Delta).exit();
  },
  { filterName: "whole-tags" },
);

/** The comparison takes time and memory proportional to the product of the lengths. */
const MOST_PAIRS = 4_000_000;

/** For lists too long to compare item by item: replaces everything between the common beginning and the common end. */
const longLists: Filter<DiffContext> = Object.assign(
  (context: DiffContext) => {
    if (!context.leftIsArray) return;
    const [left, right] = [context.left as unknown[], context.right as unknown[]];
    if (left.length * right.length <= MOST_PAIRS) return;
    const [before, after] = [left.map(textOf), right.map(textOf)];
    let head = 0;
    while (head < left.length && head < right.length && before[head] === after[head]) head++;
    let tail = 0;
    while (tail < Math.min(left.length, right.length) - head && before.at(-1 - tail) === after.at(-1 - tail))
      tail++;
    const delta: Json = { _t: "a" };
    for (let i = head; i < left.length - tail; i++) delta[`_${i}`] = [left[i], 0, 0];
    for (let i = head; i < right.length - tail; i++) delta[i] = [right[i]];
    context.setResult((Object.keys(delta).length > 1 ? delta : undefined) as Delta).exit();
  },
  { filterName: "long-lists" },
);

const textOf = (value: unknown): string => JSON.stringify(value);

/** Moves are written as a removal and an addition, which every patch reader supports. */
const differ = create({ objectHash: identityOf, arrays: { detectMove: false } });
differ.processor.pipes.diff.before("objects", wholeTags).before("arrays", longLists);
