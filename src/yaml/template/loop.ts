import { NamedFunction } from "./functions.ts";
import { TemplateProblem } from "./problem.ts";
import { Callable, Missing, same } from "./value.ts";

/** State shared by all iterations of one loop. */
export interface LoopState {
  readonly items: readonly unknown[];
  /** The number of enclosing recursive loops. */
  readonly depth: number;
  /** Renders the body of a recursive loop over other items. */
  readonly again: ((items: unknown) => string) | undefined;
  /** The last arguments of `loop.changed()`. */
  changed?: readonly unknown[];
}

/** The `loop` variable of one iteration. */
export class Loop extends Callable {
  readonly name = "loop";
  readonly #state: LoopState;
  readonly #index: number;

  constructor(state: LoopState, index: number) {
    super();
    [this.#state, this.#index] = [state, index];
  }

  call([items]: readonly unknown[]): unknown {
    if (this.#state.again) return this.#state.again(items);
    throw new TemplateProblem("a loop is called only when it is marked as recursive");
  }

  override attribute(name: string): unknown {
    const index = this.#index;
    const { items, depth } = this.#state;
    switch (name) {
      case "index":
        return index + 1;
      case "index0":
        return index;
      case "revindex":
        return items.length - index;
      case "revindex0":
        return items.length - index - 1;
      case "first":
        return index === 0;
      case "last":
        return index === items.length - 1;
      case "length":
        return items.length;
      case "depth":
        return depth + 1;
      case "depth0":
        return depth;
      case "previtem":
        return index === 0 ? new Missing("the item before the first", []) : items[index - 1];
      case "nextitem":
        return index === items.length - 1 ? new Missing("the item after the last", []) : items[index + 1];
      case "cycle":
        return new NamedFunction("cycle", (args) => this.#cycle(args));
      case "changed":
        return new NamedFunction("changed", (args) => this.#changed(args));
      default:
        return undefined;
    }
  }

  #cycle(args: readonly unknown[]): unknown {
    if (args.length === 0) throw new TemplateProblem("cycle() needs something to cycle through");
    return args[this.#index % args.length];
  }

  #changed(args: readonly unknown[]): boolean {
    if (this.#state.changed && same(this.#state.changed, args)) return false;
    this.#state.changed = args;
    return true;
  }
}
