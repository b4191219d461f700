import { HoldfastError } from "../../core/errors.ts";
import { isPlain, type Plain } from "../template/value.ts";

/** The workflow's state so far: rebuilt from the journal on every replay, never stored on its own. */
export class FlowState {
  readonly inputs: Plain;
  readonly meta: Plain;
  readonly outputs = new Map<string, unknown>();
  readonly history: string[] = [];
  /** The number of executions so far. Each member of a group counts. */
  executions = 0;
  /** When the run began, once somebody wanted to know. */
  startedAt: string | undefined;

  constructor(inputs: Plain, meta: Plain) {
    this.inputs = inputs;
    this.meta = meta;
  }

  store(name: string, output: unknown, executions = 1): void {
    this.outputs.set(name, output);
    this.history.push(name);
    this.executions += executions;
  }

  /** The whole state, as routes, gates and outputs see it. */
  all(): Record<string, unknown> {
    const data = this.#base(this.inputs);
    for (const [name, output] of this.outputs) data[name] = wrapped(output);
    return data;
  }

  /** The values that an agent's templates see, according to the workflow's context mode. */
  seenBy(inputs: readonly string[], mode: "accumulate" | "last_only" | "explicit", isLocal: boolean): Plain {
    if (mode === "accumulate") return this.all();
    if (mode === "explicit") return this.#declared(inputs, isLocal);
    const data = this.#base(this.inputs);
    const last = this.history.at(-1);
    if (last !== undefined && this.outputs.has(last)) data[last] = wrapped(this.outputs.get(last));
    return data;
  }

  #base(input: Plain): Record<string, unknown> {
    return {
      workflow: { input, ...this.meta },
      context: { iteration: this.history.length, history: [...this.history] },
    };
  }

  /** Only the listed values. Steps that involve no model may use every input. */
  #declared(references: readonly string[], isLocal: boolean): Plain {
    const input: Record<string, unknown> = isLocal ? { ...this.inputs } : {};
    const data = this.#base(input);
    for (const reference of references) {
      const isOptional = reference.endsWith("?");
      const [root = "", ...path] = reference.replace(/\?$/, "").split(".");
      if (root === "workflow") {
        const name = path[1] ?? "";
        if (Object.hasOwn(this.inputs, name)) input[name] = this.inputs[name];
        else if (isOptional) input[name] = null;
        else throw missing(reference);
      } else this.#declare(data, root, path, reference, isOptional);
    }
    return data;
  }

  #declare(
    data: Record<string, unknown>,
    root: string,
    path: readonly string[],
    reference: string,
    isOptional: boolean,
  ): void {
    if (!this.outputs.has(root)) {
      if (isOptional) return;
      throw missing(reference);
    }
    const whole = wrapped(this.outputs.get(root)) as Plain;
    const isGroup = !Object.hasOwn(whole, "output");
    const full = isGroup || path[0] === "output" ? path : ["output", ...path];
    const found = follow(whole, full);
    if (found === undefined && !isOptional) throw missing(reference);
    data[root] ??= isGroup ? {} : { output: isPlain(whole["output"]) ? {} : null };
    if (found !== undefined) plant(data[root] as Record<string, unknown>, full, found);
  }
}

const missing = (reference: string): HoldfastError =>
  new HoldfastError("HF-4002", {
    place: `input ${reference}`,
    problem: "it is not there yet; a ? behind it makes it optional",
  });

const isGroupOutput = (output: unknown): boolean =>
  isPlain(output) && Object.hasOwn(output, "outputs") && Object.hasOwn(output, "errors");

/** Groups appear as they are, agents as `{ output }`. */
const wrapped = (output: unknown): unknown => (isGroupOutput(output) ? output : { output });

/** The value at a dotted path, or `undefined`. */
export function follow(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const key of path) {
    if (!isPlain(found) || !Object.hasOwn(found, key)) return undefined;
    found = found[key];
  }
  return found;
}

function plant(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let holder = target;
  for (const key of path.slice(0, -1)) {
    const inner = holder[key];
    holder[key] = isPlain(inner) ? { ...inner } : {};
    holder = holder[key] as Record<string, unknown>;
  }
  holder[path.at(-1) as string] = value;
}
