import { HoldfastError } from "../../core/errors.ts";
import { END } from "../graph.ts";
import type { Route } from "../schema/agents.ts";
import { condition, render } from "../template/template.ts";
import type { Plain } from "../template/value.ts";

export interface Way {
  readonly to: string;
  /** The values that a route to the end adds to the workflow's output. */
  readonly output?: Plain;
}

/**
 * The first route whose condition is true. Without routes it is the end. `lenient`: a condition that can't be evaluated
 * counts as false.
 */
export function chooseRoute(step: string, routes: readonly Route[], data: Plain, lenient: boolean): Way {
  if (routes.length === 0) return { to: END };
  const taken = routes.find(
    ({ when }, index) => !when || holds(when, data, `${step}.routes[${index}].when`, lenient),
  );
  if (!taken) {
    const conditions = routes.map(({ when }) => when).join("; ");
    throw new HoldfastError("HF-4003", { step, conditions });
  }
  if (!taken.output) return { to: taken.to };
  const output = Object.entries(taken.output).map(([key, template]) => [
    key,
    render(template, data, `${step}.routes.output.${key}`),
  ]);
  return { to: taken.to, output: Object.fromEntries(output) };
}

function holds(when: string, data: Plain, place: string, lenient: boolean): boolean {
  try {
    return condition(when, data, place);
  } catch (error) {
    if (lenient && HoldfastError.is(error, "HF-4002")) return false;
    throw error;
  }
}
