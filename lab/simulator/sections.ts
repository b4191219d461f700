import type { Effect } from "../../src/core/types.ts";
import { valueOf } from "./outside.ts";
import type { Random } from "./random.ts";

/** The actions of a simulated run, as data: the same sections always give the same result. */
export type Section =
  | {
      readonly kind: "call";
      readonly id: string;
      readonly effect: Effect;
      readonly bad: readonly number[];
      readonly slow: boolean;
    }
  | { readonly kind: "book" | "gate" | "signal" | "notes" | "transaction" | "stumble"; readonly id: string }
  | { readonly kind: "memory"; readonly id: string; readonly key: string; readonly size: number }
  | { readonly kind: "sleep"; readonly id: string; readonly ms: number }
  | {
      readonly kind: "each";
      readonly id: string;
      readonly count: number;
      readonly concurrency: number;
      readonly item: Section;
    }
  | { readonly kind: "all"; readonly id: string; readonly branches: readonly (readonly Section[])[] }
  | {
      readonly kind: "nest";
      readonly id: string;
      readonly bad: readonly number[];
      readonly body: readonly Section[];
    }
  | {
      readonly kind: "loop";
      readonly id: string;
      readonly turns: number;
      readonly pad: number;
      readonly body: readonly Section[];
    }
  | { readonly kind: "child"; readonly id: string; readonly body: readonly Section[] };

export interface ProgramInput {
  readonly body: readonly Section[];
  readonly pad: string;
}

/** Features that a simulation can leave out, to narrow down a finding. */
export type SimulatedFeature =
  | "cancels"
  | "clock-jumps"
  | "forks"
  | "injections"
  | "late-writes"
  | "memory-shortage"
  | "nested-retries"
  | "parallel-transactions"
  | "prunes"
  | "stumbles"
  | "timeouts"
  | "transactions"
  | "versions";

export interface SectionOptions {
  /** Long loops and large values, so that snapshots and blobs are used. */
  readonly heavy: boolean;
  readonly without: ReadonlySet<SimulatedFeature>;
}

/** The context of a section, which decides what is allowed. */
interface Place {
  readonly depth: number;
  readonly parallel: boolean;
  readonly children: number;
  /** True in the run's own sequence, where a failure ends the run. */
  readonly top: boolean;
}

const LEAVES = [
  "call",
  "call",
  "call",
  "book",
  "memory",
  "sleep",
  "gate",
  "signal",
  "notes",
  "transaction",
] as const;
const GROUPS = ["each", "all", "nest", "loop", "loop", "child", "stumble"] as const;

const lacksTransactions = ({ parallel }: Place, { without }: SectionOptions): boolean =>
  without.has("transactions") || (parallel && without.has("parallel-transactions"));

/** Generates a program. */
export function makeProgram(random: Random, options: SectionOptions): ProgramInput {
  const body = new Author(random, options).list({ depth: 0, parallel: false, children: 2, top: true }, 6);
  return { body, pad: options.heavy ? "p".repeat(9_000) : "" };
}

class Author {
  readonly #random: Random;
  readonly #options: SectionOptions;
  #count = 0;

  constructor(random: Random, options: SectionOptions) {
    this.#random = random;
    this.#options = options;
  }

  list(place: Place, most: number): Section[] {
    return Array.from({ length: this.#random.int(1, most) }, () => this.#section(place));
  }

  #id(letter: string): string {
    return `${letter}${++this.#count}`;
  }

  /** Attempts that fail: never enough to fail the step. */
  #bad(): number[] {
    return this.#random.chance(0.25) ? this.#random.pick([[1], [2], [1, 2], [1, 3]]) : [];
  }

  #call(effect: Effect): Section {
    const bad = effect === "once" ? [] : this.#bad();
    const slow = this.#random.chance(0.08) && !this.#options.without.has("timeouts");
    return { kind: "call", id: this.#id("c"), effect, bad, slow };
  }

  #leaf(place: Place): Section {
    const random = this.#random;
    const kind = random.pick(LEAVES);
    switch (kind) {
      case "call":
        return this.#call(random.pick(["repeatable", "keyed", "once"]));
      case "memory": {
        const id = this.#id("m");
        const size = this.#options.heavy && random.chance(0.5) ? 9_000 : 4;
        return { kind, id, key: place.parallel ? id : "k", size };
      }
      case "sleep":
        return { kind, id: this.#id("z"), ms: random.pick([0, 200, 900, 2_500, 7_000]) };
      case "transaction":
        return lacksTransactions(place, this.#options) ? this.#call("keyed") : { kind, id: this.#id("t") };
      default:
        return { kind, id: this.#id(kind.charAt(0)) };
    }
  }

  #section(place: Place): Section {
    if (place.depth >= 3 || this.#random.chance(0.55)) return this.#leaf(place);
    const kind = this.#random.pick(GROUPS);
    if (kind === "stumble") {
      const fits = place.top && !this.#options.without.has("stumbles");
      return fits ? { kind, id: this.#id("x") } : this.#leaf(place);
    }
    if (kind !== "child") return this.#group(kind, { ...place, depth: place.depth + 1, top: false });
    if (place.children === 0) return this.#leaf(place);
    const inner = { depth: 1, parallel: false, children: place.children - 1, top: true };
    return { kind, id: this.#id("h"), body: this.list(inner, 3) };
  }

  #group(kind: "each" | "all" | "nest" | "loop", place: Place): Section {
    const random = this.#random;
    const { heavy, without } = this.#options;
    const branch = { ...place, parallel: true };
    switch (kind) {
      case "each": {
        const [count, concurrency] = [random.int(2, 4), random.int(1, 3)];
        return { kind, id: this.#id("e"), count, concurrency, item: this.#leaf(branch) };
      }
      case "all":
        return { kind, id: this.#id("a"), branches: [this.list(branch, 2), this.list(branch, 2)] };
      case "nest":
        return {
          kind,
          id: this.#id("n"),
          bad: without.has("nested-retries") ? [] : this.#bad(),
          body: this.list(place, 3),
        };
      case "loop": {
        const body = this.list({ ...place, depth: 3 }, heavy ? 1 : 2);
        // Long states trigger snapshots, and snapshots leave values that can be dropped.
        const [turns, pad] = heavy ? [18, 2_400] : random.chance(0.6) ? [6, 12_000] : [random.int(2, 3), 0];
        return { kind, id: this.#id("l"), turns, pad, body };
      }
    }
  }
}

/** The program's result without faults, which it must also return with them. */
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
        return {
          turns: section.turns,
          log: Array.from({ length: section.turns }, () => expected(section.body)),
          pads: section.pad * section.turns,
        };
      default:
        return section.id;
    }
  });
}
