import type { Effect } from "../../core/types.ts";
import { valueOf } from "./outside.ts";
import type { Random } from "./random.ts";

/** What a simulated run does, as data: the same sections always lead to the same result. */
export type Section =
  | { readonly kind: "call"; readonly id: string; readonly effect: Effect; readonly bad: readonly number[]; readonly slow: boolean }
  | { readonly kind: "book" | "gate" | "signal" | "notes" | "transaction" | "stumble"; readonly id: string }
  | { readonly kind: "memory"; readonly id: string; readonly key: string; readonly size: number }
  | { readonly kind: "sleep"; readonly id: string; readonly ms: number }
  | { readonly kind: "each"; readonly id: string; readonly count: number; readonly concurrency: number; readonly item: Section }
  | { readonly kind: "all"; readonly id: string; readonly branches: readonly (readonly Section[])[] }
  | { readonly kind: "nest"; readonly id: string; readonly bad: readonly number[]; readonly body: readonly Section[] }
  | { readonly kind: "loop"; readonly id: string; readonly turns: number; readonly pad: number; readonly body: readonly Section[] }
  | { readonly kind: "child"; readonly id: string; readonly body: readonly Section[] };

export interface ProgramInput {
  readonly body: readonly Section[];
  readonly pad: string;
}

/** What a simulation can do without, to narrow a finding down. */
export type SimulatedFeature =
  | "cancels"
  | "clock-jumps"
  | "nested-retries"
  | "parallel-transactions"
  | "stumbles"
  | "timeouts"
  | "transactions";

export interface SectionOptions {
  /** Long loops and large values, so that snapshots and blobs are used. */
  readonly heavy: boolean;
  readonly without: ReadonlySet<SimulatedFeature>;
}

/** Where a section stands: what is allowed there. */
interface Place {
  readonly depth: number;
  readonly parallel: boolean;
  readonly children: number;
  /** In the run's own sequence, where a failure ends the run. */
  readonly top: boolean;
}

const LEAVES = ["call", "call", "call", "book", "memory", "sleep", "gate", "signal", "notes", "transaction"] as const;
const GROUPS = ["each", "all", "nest", "loop", "child", "stumble"] as const;

const lacksTransactions = ({ parallel }: Place, { without }: SectionOptions): boolean =>
  without.has("transactions") || (parallel && without.has("parallel-transactions"));

/** Makes up a program. */
export function makeProgram(random: Random, options: SectionOptions): ProgramInput {
  let count = 0;
  const id = (letter: string): string => `${letter}${++count}`;
  const bad = (): number[] => (random.chance(0.25) ? random.pick([[1], [2], [1, 2], [1, 3]]) : []);
  const call = (effect: Effect): Section => ({
    kind: "call",
    id: id("c"),
    effect,
    bad: effect === "once" ? [] : bad(),
    slow: random.chance(0.08) && !options.without.has("timeouts"),
  });
  const leaf = (place: Place): Section => {
    const kind = random.pick(LEAVES);
    switch (kind) {
      case "call":
        return call(random.pick(["repeatable", "keyed", "once"]));
      case "memory": {
        const size = options.heavy && random.chance(0.5) ? 9_000 : 4;
        const own = id("m");
        return { kind, id: own, key: place.parallel ? own : "k", size };
      }
      case "sleep":
        return { kind, id: id("z"), ms: random.pick([0, 200, 900, 2_500, 7_000]) };
      case "transaction":
        return lacksTransactions(place, options) ? call("keyed") : { kind, id: id("t") };
      default:
        return { kind, id: id(kind.charAt(0)) };
    }
  };
  const list = (place: Place, most: number): Section[] =>
    Array.from({ length: random.int(1, most) }, () => section(place));
  const section = (place: Place): Section => {
    if (place.depth >= 3 || random.chance(0.55)) return leaf(place);
    const inner = { ...place, depth: place.depth + 1, top: false };
    const kind = random.pick(GROUPS);
    switch (kind) {
      case "each":
        return { kind, id: id("e"), count: random.int(2, 4), concurrency: random.int(1, 3), item: leaf({ ...inner, parallel: true }) };
      case "all":
        return { kind, id: id("a"), branches: [list({ ...inner, parallel: true }, 2), list({ ...inner, parallel: true }, 2)] };
      case "nest":
        return { kind, id: id("n"), bad: options.without.has("nested-retries") ? [] : bad(), body: list(inner, 3) };
      case "loop":
        return { kind, id: id("l"), turns: options.heavy ? 18 : random.int(2, 3), pad: options.heavy ? 2_400 : 0, body: list({ ...inner, depth: 3 }, options.heavy ? 1 : 2) };
      case "child":
        if (place.children === 0) return leaf(place);
        return { kind, id: id("h"), body: list({ depth: 1, parallel: false, children: place.children - 1, top: true }, 3) };
      case "stumble":
        return place.top && !options.without.has("stumbles") ? { kind, id: id("x") } : leaf(place);
    }
  };
  const body = list({ depth: 0, parallel: false, children: 2, top: true }, 6);
  return { body, pad: options.heavy ? "p".repeat(9_000) : "" };
}

/** What the program answers when nothing goes wrong: what it must answer whatever goes wrong. */
export function expected(body: readonly Section[]): unknown[] {
  return body.map((section) => {
    switch (section.kind) {
      case "call":
      case "book":
      case "stumble":
      case "transaction":
        return valueOf(section.id);
      case "memory":
        return section.id.padEnd(section.size, ".");
      case "each":
        return Array.from({ length: section.count }, () => expected([section.item])[0]);
      case "all":
        return section.branches.map(expected);
      case "nest":
      case "child":
        return expected(section.body);
      case "loop":
        return { turns: section.turns, log: Array.from({ length: section.turns }, () => expected(section.body)), pads: section.pad * section.turns };
      default:
        return section.id;
    }
  });
}
