import { HoldfastError } from "../../core/errors.ts";
import { type Node, parseTemplate } from "./ast.ts";
import { Evaluator, type Limits } from "./evaluate.ts";
import { isPlain, type Plain, TemplateProblem } from "./value.ts";

export const LIMITS: Limits = { output: 1_048_576, range: 10_000, work: 1_000_000 };

/** Templates are text of the definition: parsed once, however often they are rendered. */
const parsed = new Map<string, readonly Node[]>();
const MOST_KEPT = 2_000;

function bodyOf(source: string): readonly Node[] {
  const known = parsed.get(source);
  if (known) return known;
  const result = parseTemplate(source);
  if ("problem" in result) throw new TemplateProblem(result.problem);
  if (parsed.size >= MOST_KEPT) parsed.clear();
  parsed.set(source, result.body);
  return result.body;
}

/** Whether the text has anything to render in it. */
export const isTemplate = (source: string): boolean => /\{[{%#]/.test(source);

/**
 * Renders a template of the definition, once: what it puts in stays as it is, whatever it looks like. `place` is where the template
 * stands, for the message when it fails (HF-4002).
 */
export function render(source: string, data: Plain, place: string): string {
  if (!isTemplate(source)) return source;
  return told(place, () => new Evaluator(LIMITS).render(bodyOf(source), data));
}

/** Words that a rendered condition may come to, and that mean no. */
const NO = new Set(["false", "0", "no", "", "none"]);

/** `{{ … }}` is rendered and read as yes or no; anything else is a simple expression over the fields of `output`. */
export function condition(when: string, data: Plain, place: string): boolean {
  if (isTemplate(when)) return !NO.has(render(when, data, place).trim().toLowerCase());
  const names = flatten(data);
  return told(place, () => {
    const [node] = bodyOf(`{{ ${when} }}`);
    const value = node && new Evaluator(LIMITS).value(node, names);
    return Array.isArray(value)
      ? value.length > 0
      : isPlain(value)
        ? Object.keys(value).length > 0
        : Boolean(value);
  });
}

/** What is wrong with a condition as it is written, if anything. */
export function conditionProblem(when: string): string | undefined {
  const result = parseTemplate(isTemplate(when) ? when : `{{ ${when} }}`);
  if ("problem" in result) return result.problem;
  return !isTemplate(when) && result.body.length !== 1 ? "it is not one expression" : undefined;
}

/** Simple expressions name fields of `output` by themselves, and those of others as `agent_field`. */
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
    if (!(error instanceof TemplateProblem) && !(error instanceof RangeError)) throw error;
    throw new HoldfastError("HF-4002", { place, problem: error.message }, { cause: error });
  }
}
