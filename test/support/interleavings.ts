import { partsLoaded } from "../../src/core/on-demand.ts";

/**
 * Tries every order in which the parts of a program can take turns, one after another, depth first and
 * deterministically. Orders that differ only in independent turns are tried once (sleep sets, after Godefroid).
 */

/** The shared state that a turn touches. Turns that share nothing, or only read, may be taken in any order. */
export interface Touch {
  readonly store?: "reads" | "writes";
  readonly time?: "reads" | "writes";
}

interface Turn {
  readonly id: string;
  readonly actor: string;
  readonly touch: Touch;
  readonly go: () => void;
}

/** A turn that an actor takes only when it has no other; among several, the earliest due. */
interface Timer extends Turn {
  readonly due: number;
  /** Taken only when no actor has another turn. */
  readonly isLast: boolean;
}

/** A moment with more than one possible turn, or only one. */
interface Moment {
  readonly turns: readonly Turn[];
  /** Turns already chosen here, and those whose orders were tried elsewhere. */
  readonly asleep: Map<string, Turn>;
  chosen: Turn;
}

/** Schedules the actors' turns. */
export interface Schedule {
  turn(actor: string, touch: Touch): Promise<void>;
  /**
   * Adds a turn that the actor takes when it has no other, and with `isLast` only when no actor has one: the earliest
   * first. Returns a function that cancels it.
   */
  timer(actor: string, due: number, isLast: boolean, go: () => void): () => void;
  /** Resolves when no actor has a turn, except for timers that come last. */
  idle(): Promise<void>;
  /** From here on every order counts; before that, and after `calm`, turns are taken as they come. */
  explore(): void;
  calm(): void;
}

export interface Explored {
  /** The number of distinct orders played to the end. */
  readonly orders: number;
  /** The number of orders abandoned as equivalent to one already played. */
  readonly same: number;
  /** The number of turns in the longest one. */
  readonly longest: number;
}

const meet = (one: "reads" | "writes" | undefined, other: "reads" | "writes" | undefined): boolean =>
  one !== undefined && other !== undefined && (one === "writes" || other === "writes");

const independent = (one: Turn, other: Turn): boolean =>
  one.actor !== other.actor &&
  !meet(one.touch.store, other.touch.store) &&
  !meet(one.touch.time, other.touch.time);

/** Lets everything happen that follows from the last turn. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

class Play implements Schedule {
  readonly #path: Moment[];
  readonly #counts = new Map<string, number>();
  #turns: Turn[] = [];
  #timers: Timer[] = [];
  #idlers: (() => void)[] = [];
  #isExploring = false;
  #depth = 0;

  constructor(path: Moment[]) {
    this.#path = path;
  }

  #named(actor: string): string {
    const count = (this.#counts.get(actor) ?? 0) + 1;
    this.#counts.set(actor, count);
    return `${actor} ${count}`;
  }

  turn(actor: string, touch: Touch): Promise<void> {
    return new Promise((go) => void this.#turns.push({ id: this.#named(actor), actor, touch, go }));
  }

  timer(actor: string, due: number, isLast: boolean, go: () => void): () => void {
    const timer: Timer = { id: this.#named(actor), actor, touch: { time: "reads" }, go, due, isLast };
    this.#timers.push(timer);
    this.#timers.sort((a, b) => a.due - b.due);
    return () => void (this.#timers = this.#timers.filter((one) => one !== timer));
  }

  idle(): Promise<void> {
    return new Promise((resolve) => void this.#idlers.push(resolve));
  }

  explore(): void {
    this.#isExploring = true;
  }

  calm(): void {
    this.#isExploring = false;
  }

  /** Plays one order. Returns whether it reached its end, or an equivalent order was tried before. */
  async run(program: (schedule: Schedule) => Promise<void>): Promise<boolean> {
    const end: { how?: "done" | { readonly thrown: unknown } } = {};
    program(this).then(
      () => (end.how = "done"),
      (thrown: unknown) => (end.how = { thrown }),
    );
    for (;;) {
      // A part of the code that is loaded on demand is no actor's turn.
      do await settle();
      while (await partsLoaded());
      if (typeof end.how === "object") throw end.how.thrown;
      if (end.how === "done") return true;
      const next = this.#next();
      if (next === "tried before") return false;
      next?.go();
    }
  }

  /** The turn to take now; `undefined` when no actor has one and an actor waits for that. */
  #next(): Turn | "tried before" | undefined {
    const turns = this.#enabled();
    const next = turns.length === 0 ? this.#timers[0] : this.#isExploring ? this.#choose(turns) : turns[0];
    if (turns.length === 0 && this.#idlers.length > 0) {
      for (const resolve of this.#idlers.splice(0)) resolve();
      return undefined;
    }
    if (!next) throw new Error("nobody has a turn, and the program has not ended");
    if (next === "tried before") return next;
    this.#turns = this.#turns.filter((one) => one !== next);
    this.#timers = this.#timers.filter((one) => one !== next);
    return next;
  }

  #enabled(): readonly Turn[] {
    const turns = [...this.#turns];
    for (const timer of this.#timers)
      if (!timer.isLast && !turns.some(({ actor }) => actor === timer.actor)) turns.push(timer);
    return turns;
  }

  #choose(turns: readonly Turn[]): Turn | "tried before" {
    const known = this.#path[this.#depth++];
    if (known) return turns.find(({ id }) => id === known.chosen.id) as Turn;
    const before = this.#path.at(-1);
    const asleep = new Map(
      [...(before?.asleep ?? [])].filter(([, one]) => before && independent(one, before.chosen)),
    );
    const chosen = turns.find(({ id }) => !asleep.has(id));
    if (!chosen) return "tried before";
    this.#path.push({ turns, asleep, chosen });
    return chosen;
  }
}

/** Goes back to the last moment with an untried turn; returns whether there was one. */
function another(path: Moment[]): boolean {
  for (let moment = path.at(-1); moment; moment = path.at(-1)) {
    moment.asleep.set(moment.chosen.id, moment.chosen);
    const next = moment.turns.find(({ id }) => !moment.asleep.has(id));
    if (next) {
      moment.chosen = next;
      return true;
    }
    path.pop();
  }
  return false;
}

/**
 * Plays the program in every order. Throws the first error of any order, and when there are more than `most` orders.
 */
export async function everyOrder(
  program: (schedule: Schedule) => Promise<void>,
  most = 100_000,
): Promise<Explored> {
  const path: Moment[] = [];
  let [orders, same, longest] = [0, 0, 0];
  do {
    const play = new Play(path);
    if (await play.run(program)) orders++;
    else same++;
    longest = Math.max(longest, path.length);
    if (orders + same > most) throw new Error(`there are more than ${most} orders`);
  } while (another(path));
  return { orders, same, longest };
}
