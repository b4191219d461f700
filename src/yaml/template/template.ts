import { HoldfastError } from "../../core/errors.ts";
import type { Expression, Statement } from "./ast.ts";
import { type Parsed, parseCondition, parseTemplate } from "./parse.ts";
import { TemplateProblem } from "./problem.ts";
import { evaluateCondition, type Limits, Renderer } from "./statements.ts";
import { isPlain, type Plain, truthy } from "./value.ts";

export const LIMITS: Limits = { output: 1_048_576, range: 10_000, work: 150_000, depth: 100 };

/** Caches parsed templates: they are part of the definition and are rendered many times. */
class Kept<T> {
  readonly #known = new Map<string, T>();
  readonly #parse: (source: string) => Parsed<T>;
  static readonly MOST = 2_000;

  constructor(parse: (source: string) => Parsed<T>) {
    this.#parse = parse;
  }

  get(source: string): T {
    const known = this.#known.get(source);
    if (known !== undefined) return known;
    const result = this.#parse(source);
    if ("problem" in result) throw new TemplateProblem(result.problem);
    if (this.#known.size >= Kept.MOST) this.#known.clear();
    this.#known.set(source, result.body);
    return result.body;
  }
}

const templates = new Kept<readonly Statement[]>(parseTemplate);
const conditions = new Kept<Expression>(parseCondition);

/** True when the text contains anything to render. */
export const isTemplate = (source: string): boolean => /\{[{%#]/.test(source);

/**
 * Renders a template once: inserted values aren't rendered again, whatever they look like. `place` locates the template
 * in the error (HF-4002).
 */
export function render(source: string, data: Plain, place: string): string {
  if (!isTemplate(source)) return source;
  return told(place, () => new Renderer(data, LIMITS).render(templates.get(source)));
}

/** Rendered conditions that mean false. */
const NO = new Set(["false", "0", "no", "", "none"]);

/** `{{ … }}` is rendered and read as a boolean; anything else is a simple expression over the fields of `output`. */
export function condition(when: string, data: Plain, place: string): boolean {
  if (isTemplate(when)) return !NO.has(render(when, data, place).trim().toLowerCase());
  return told(place, () => truthy(evaluateCondition(conditions.get(when), flatten(data), LIMITS)));
}

/** The problem with a simple condition, if any. */
export function conditionProblem(when: string): string | undefined {
  const result = parseCondition(when);
  return "problem" in result ? result.problem : undefined;
}

/** Simple expressions use the fields of `output` directly, and those of other agents as `agent_field`. */
function flatten(data: Plain): Plain {
  const names: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(data)) {
    if (!isPlain(value)) names[key] = value;
    else for (const [inner, one] of Object.entries(value)) names[`${key}_${inner}`] = one;
  }
  const { output } = data;
  return { ...names, ...(isPlain(output) ? output : {}), ...data };
}

function told<T>(place: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const problem = problemOf(error);
    if (problem === undefined) throw error;
    throw new HoldfastError("HF-4002", { place, problem }, { cause: error });
  }
}

function problemOf(error: unknown): string | undefined {
  if (error instanceof TemplateProblem) return error.message;
  if (error instanceof RangeError) return "it is nested too deeply";
  if (!HoldfastError.is(error, "HF-1040")) return undefined;
  return error.detail["kind"] === "depth"
    ? "its macros or loops call each other too deeply"
    : "it takes too long: there is too much in its loops, or what it works on is too large";
}
