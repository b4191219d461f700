import { HoldfastError } from "../core/errors.ts";
import { didYouMean } from "../core/nearest.ts";
import { exactNumber } from "../core/values/exact-number.ts";
import { fromJson } from "./output.ts";
import { type FieldType, type InputField, isOfType } from "./schema/fields.ts";

/** An input as shown to people. */
export interface InputSpec extends InputField {
  readonly name: string;
}

export type InputFields = Readonly<Record<string, InputField>>;

export const inputSpecs = (fields: InputFields): InputSpec[] =>
  Object.entries(fields).map(([name, field]) => ({ name, ...field }));

const EMPTY: Readonly<Record<FieldType, () => unknown>> = {
  string: () => "",
  number: () => 0,
  boolean: () => false,
  array: () => [],
  object: () => ({}),
};

/**
 * Prepares a run's inputs: converts texts to the declared types, fills in defaults, and refuses missing or invalid
 * values (HF-4004). A workflow that declares no inputs accepts any.
 */
export function parseInputs(
  fields: InputFields,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const known = Object.keys(fields);
  const unknown = Object.keys(given).find((name) => known.length > 0 && !known.includes(name));
  if (unknown !== undefined)
    throw refused(
      unknown,
      "there is no input of this name",
      didYouMean(unknown, known, "Did you mean ") || `The inputs are ${known.join(", ")}.`,
    );
  if (known.length === 0) return { ...given };
  return Object.fromEntries(
    known.map((name) => [name, inputOf(name, fields[name] as InputField, given[name])]),
  );
}

function inputOf(name: string, field: InputField, given: unknown): unknown {
  if (given === undefined) {
    if (field.default !== undefined) return field.default;
    if (!field.required) return EMPTY[field.type]();
    throw refused(name, "it is required and was not given", `Give it: ${name}=…`);
  }
  const value = typeof given === "string" ? fromText(given, field.type) : given;
  if (isOfType(field.type, value)) return value;
  const found = typeof given === "string" ? JSON.stringify(given.slice(0, 60)) : typeof given;
  throw refused(name, `it must be of type ${field.type}, not ${found}`, EXAMPLES[field.type]);
}

const EXAMPLES: Readonly<Record<FieldType, string>> = {
  string: "Give a text.",
  number: "Give a number such as 3 or 0.5.",
  boolean: "Give true or false.",
  array: 'Give a JSON list such as ["a", "b"].',
  object: 'Give a JSON object such as {"a": 1}.',
};

/** Converts a text from a command line. */
function fromText(text: string, type: FieldType): unknown {
  if (type === "string") return text;
  const word = text.trim().toLowerCase();
  if (type === "boolean") {
    if (["true", "yes", "1"].includes(word)) return true;
    return ["false", "no", "0"].includes(word) ? false : text;
  }
  if (type === "number") return exactNumber(word) ?? text;
  return fromJson(text, "an input") ?? text;
}

const refused = (input: string, problem: string, fix: string): HoldfastError =>
  new HoldfastError("HF-4004", { input, problem, fix });
