import { type Context, type Effect, type Migration, type Workflow, workflow } from "../../src/index.ts";
import { hangs } from "./lab.ts";

/**
 * A piece of a generated workflow. Its id, which stands for its meaning, stays the same when its name and place change.
 */
export type Piece =
  | { readonly kind: "effect"; readonly id: number; readonly name: string; readonly effect: Effect }
  | { readonly kind: Plain; readonly id: number; readonly name: string }
  | { readonly kind: "group"; readonly id: number; readonly name: string; readonly pieces: readonly Piece[] }
  | {
      readonly kind: "loop";
      readonly id: number;
      readonly name: string;
      readonly turns: number;
      readonly pieces: readonly Piece[];
    };

type Plain = "flaky" | "fatal" | "gate" | "sleep" | "signal" | "child";

export interface Code {
  readonly version: string;
  readonly schema: number;
  readonly migrations: readonly Migration[];
  readonly pieces: readonly Piece[];
}

/** Random numbers from a seed. */
export class Dice {
  #state: number;
  #made = 0;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A unique number. */
  next(): number {
    return ++this.#made;
  }

  /** A whole number below `sides`. */
  roll(sides: number): number {
    this.#state = (Math.imul(this.#state ^ (this.#state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(this.#state ^ (this.#state >>> 13), 0x297a2d39);
    return ((mixed ^ (mixed >>> 16)) >>> 0) % sides;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.roll(list.length)] as T;
  }
}

const LONG = 36_000_000;

/** The outside world. Counts what a piece did for a run, whatever its name was by then. */
export class Outside {
  /** Keys of `keyed` effects, and one entry for each call of `once` effects. */
  readonly done = new Map<string, { readonly effect: Effect; readonly keys: Set<string>; calls: number }>();
  /** While `true`, processes die in the middle of some calls. */
  dying = true;
  readonly #hung = new Set<string>();

  act(runId: string, what: string, effect: Effect, key: string): unknown {
    const at = `${runId} ${what}`;
    const known = this.done.get(at) ?? { effect, keys: new Set(), calls: 0 };
    // A piece once declared `once` counts as that for ever; one declared repeatable may be repeated.
    const one = { ...known, effect: known.effect === "once" ? known.effect : effect };
    this.done.set(at, one);
    if (effect !== "repeatable") {
      one.keys.add(key);
      one.calls++;
    }
    const dies = this.dying && new Dice(hash(at)).roll(7) === 0 && !this.#hung.has(at);
    this.#hung.add(at);
    return dies ? hangs() : what;
  }

  /** Effects that happened twice. */
  get twice(): string[] {
    return [...this.done].flatMap(([at, { effect, keys, calls }]) => {
      const isTwice = (effect === "keyed" && keys.size > 1) || (effect === "once" && calls > 1);
      return isTwice ? [`${at} (${effect}, ${calls} calls, ${keys.size} keys)`] : [];
    });
  }
}

const hash = (text: string): number =>
  Array.from(text).reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) | 0, 7);

/** The workflow that the code describes. */
export function compile(code: Code, outside: Outside): readonly Workflow<never, unknown>[] {
  const child = workflow("child", async (ctx: Context, what: string) => {
    await ctx.step("work", ({ key }) => outside.act(ctx.runId, what, "keyed", key), { effect: "keyed" });
    await ctx.gate("agree", { choices: ["yes"] });
  });
  const go = async (ctx: Context, pieces: readonly Piece[], turn: string): Promise<void> => {
    for (const piece of pieces) await one(ctx, piece, turn);
  };
  const one = async (ctx: Context, piece: Piece, turn: string): Promise<void> => {
    const { name, id } = piece;
    const what = `${id}${turn}`;
    if (piece.kind === "effect") {
      const { effect } = piece;
      await ctx.step(name, ({ key }) => outside.act(ctx.runId, what, effect, key), { effect, input: what });
    } else if (piece.kind === "flaky") {
      const retry = { attempts: 4, baseMs: LONG, maxMs: LONG };
      await ctx.step(name, () => brokenFor(outside, ctx.runId, what), { retry });
    } else if (piece.kind === "fatal") {
      await ctx.step(name, () => brokenFor(outside, ctx.runId, what), { retry: false });
    } else if (piece.kind === "gate") await ctx.gate(name, { choices: ["yes"] });
    else if (piece.kind === "sleep") await ctx.sleep(name, LONG);
    else if (piece.kind === "signal") await ctx.signal(name);
    else if (piece.kind === "child") await ctx.child(name, child, what);
    else if (piece.kind === "group") {
      const branches = piece.pieces.map((inner) => [`b${inner.id}`, () => one(ctx, inner, turn)] as const);
      await ctx.all(name, Object.fromEntries(branches));
    } else if (piece.kind === "loop") {
      await ctx.loop(name, { n: 0 }, async (state, at) => {
        await go(ctx, piece.pieces, `${turn}@${at.index}`);
        state.n++;
        return at.index + 1 >= piece.turns ? at.done() : undefined;
      });
    }
  };
  const { version, schema, migrations } = code;
  const main = workflow("main", { version, schema, migrations }, (ctx) => go(ctx, code.pieces, ""));
  return [main, child];
}

/** While processes die, some runs find it broken. */
function brokenFor({ dying }: Outside, runId: string, what: string): void {
  if (dying && new Dice(hash(`${what} ${runId}`)).roll(4) === 0) throw new Error("broken");
}

function piece(dice: Dice, depth: number): Piece {
  const id = dice.next();
  const name = `${dice.pick(["pay", "mail", "ship", "read", "book"])}${id}`;
  const kinds = [
    "effect",
    "effect",
    "effect",
    "flaky",
    "fatal",
    "gate",
    "gate",
    "sleep",
    "signal",
    "child",
  ] as const;
  const nested = depth > 0 ? (["group", "loop"] as const) : [];
  const kind = dice.pick([...kinds, ...nested, ...nested]);
  if (kind === "effect") return { kind, id, name, effect: dice.pick(["keyed", "once", "repeatable"]) };
  const pieces = () => Array.from({ length: 1 + dice.roll(3) }, () => piece(dice, depth - 1));
  if (kind === "group") return { kind, id, name, pieces: pieces() };
  if (kind === "loop") return { kind, id, name, turns: 1 + dice.roll(3), pieces: pieces() };
  return { kind, id, name };
}

export const firstCode = (dice: Dice): Code => ({
  version: "1",
  schema: 1,
  migrations: [],
  pieces: Array.from({ length: 4 + dice.roll(4) }, () => piece(dice, 2)),
});

type Said = Pick<Migration, "rename" | "drop" | "add">;
interface Change {
  readonly pieces: readonly Piece[];
  /** What a migration can state about it. */
  readonly said: Said;
}

const insert = (list: readonly Piece[], at: number, ...more: Piece[]): Piece[] => [
  ...list.slice(0, at),
  ...more,
  ...list.slice(at),
];
const put = (list: readonly Piece[], at: number, ...other: Piece[]): Piece[] => [
  ...list.slice(0, at),
  ...other,
  ...list.slice(at + 1),
];

/** The same name with its own content. */
const again = (dice: Dice, one: Piece): Piece => {
  const id = dice.next();
  return "pieces" in one
    ? { ...one, id, pieces: one.pieces.map((inner) => again(dice, inner)) }
    : { ...one, id };
};

/** Every way to change a list of pieces at one position. */
export const changes: Readonly<Record<string, (dice: Dice, list: readonly Piece[], at: number) => Change>> = {
  add: (dice, list, at) => {
    const more = piece(dice, 1);
    return { pieces: insert(list, at, more), said: { add: [more.name] } };
  },
  remove: (_, list, at) => ({ pieces: put(list, at), said: { drop: [(list[at] as Piece).name] } }),
  rename: (_, list, at) => {
    const { name } = list[at] as Piece;
    return {
      pieces: put(list, at, { ...(list[at] as Piece), name: `${name}x` }),
      said: { rename: { [name]: `${name}x` } },
    };
  },
  reorder: (_, list, at) => {
    const [moved] = list.slice(at, at + 1) as [Piece];
    return { pieces: [moved, ...put(list, at)], said: {} };
  },
  duplicate: (dice, list, at) => {
    const twin = again(dice, list[at] as Piece);
    return { pieces: insert(list, at + 1, twin), said: {} };
  },
  effect: (dice, list, at) => {
    const one = list[at] as Piece;
    if (one.kind !== "effect") return { pieces: list, said: {} };
    return {
      pieces: put(list, at, { ...one, effect: dice.pick(["keyed", "once", "repeatable"]) }),
      said: {},
    };
  },
  kind: (dice, list, at) => {
    const { id, name } = list[at] as Piece;
    return { pieces: put(list, at, { kind: dice.pick(["gate", "sleep", "child"]), id, name }), said: {} };
  },
  "into a group": (dice, list, at) => {
    const one = list[at] as Piece;
    const id = dice.next();
    return { pieces: put(list, at, { kind: "group", id, name: `all${id}`, pieces: [one] }), said: {} };
  },
  "into a loop": (dice, list, at) => {
    const one = list[at] as Piece;
    const id = dice.next();
    return {
      pieces: put(list, at, { kind: "loop", id, name: `turn${id}`, turns: 1, pieces: [one] }),
      said: {},
    };
  },
  "out of it": (_, list, at) => {
    const one = list[at] as Piece;
    return { pieces: "pieces" in one ? put(list, at, ...one.pieces) : list, said: {} };
  },
  "inside it": (dice, list, at) => {
    const one = list[at] as Piece;
    if (!("pieces" in one) || one.pieces.length === 0) return { pieces: list, said: {} };
    const change = changes[dice.pick(["add", "remove", "rename", "reorder"])] as (typeof changes)[string];
    const { pieces } = change(dice, one.pieces, dice.roll(one.pieces.length));
    return { pieces: put(list, at, { ...one, pieces }), said: {} };
  },
  turns: (dice, list, at) => {
    const one = list[at] as Piece;
    if (one.kind !== "loop") return { pieces: list, said: {} };
    return { pieces: put(list, at, { ...one, turns: 1 + dice.roll(4) }), said: {} };
  },
};

/** How the author of the next code describes it. */
export const manners = [
  ...Array.from({ length: 4 }, () => "with a migration" as const),
  ...Array.from({ length: 3 }, () => "without a word" as const),
  "another version",
  "another schema",
] as const;

/** One change or two, and how they are declared. */
export function nextCode(dice: Dice, code: Code): Code & { readonly manner: string; readonly what: string } {
  let { pieces } = code;
  const said: { rename: Record<string, string>; drop: string[]; add: string[] } = {
    rename: {},
    drop: [],
    add: [],
  };
  const names: string[] = [];
  for (let count = 1 + dice.roll(2); count > 0 && pieces.length > 0; count--) {
    const name = dice.pick(Object.keys(changes));
    names.push(name);
    const change = (changes[name] as (typeof changes)[string])(dice, pieces, dice.roll(pieces.length));
    pieces = change.pieces;
    // A step that is new or just renamed has no name that a run could know.
    for (const one of change.said.drop ?? [])
      if (!Object.values(said.rename).includes(one)) said.drop.push(one);
    for (const [from, to] of Object.entries(change.said.rename ?? {})) {
      const before = Object.keys(said.rename).find((key) => said.rename[key] === from);
      said.rename[before ?? from] = to;
    }
    said.add.push(...(change.said.add ?? []));
  }
  for (const one of said.drop) delete said.rename[one];
  const manner = dice.pick(manners);
  const what = names.join(", ");
  if (manner === "without a word") return { ...code, pieces, manner, what };
  const version = String(Number(code.version) + 1);
  if (manner === "another version") return { ...code, version, pieces, manner, what };
  const migrations = [...code.migrations, { from: code.version, to: version, ...said }];
  const schema = manner === "another schema" ? code.schema + 1 : code.schema;
  return { version, schema, migrations, pieces, manner, what };
}
