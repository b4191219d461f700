import { badOption } from "./check-options.ts";
import { HoldfastError } from "./errors.ts";

/**
 * A schema from any library that follows Standard Schema, such as zod, valibot or arktype. `I` is what it accepts, `O`
 * what it makes of it.
 */
export interface StandardSchema<I = unknown, O = I> {
  readonly "~standard": {
    readonly types?: { readonly input: I; readonly output: O } | undefined;
    validate(value: unknown): SchemaResult<O> | Promise<SchemaResult<O>>;
  };
}

type SchemaResult<O> =
  | { readonly value: O; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type InputOf<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["input"];
export type OutputOf<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"];

export function checkSchema<S extends StandardSchema>(schema: S | undefined): S | undefined {
  const isSchema = schema === undefined || typeof schema["~standard"]?.validate === "function";
  if (!isSchema) throw badOption("input", "it must be a schema that follows Standard Schema, such as zod's");
  return schema;
}

/** The number of problems that an error lists. */
const LISTED = 3;

/** Returns what the schema makes of the value; throws HF-1042 with the place of each problem. */
export async function conform<O>(
  schema: StandardSchema<unknown, O>,
  value: unknown,
  what: string,
): Promise<O> {
  const result = await schema["~standard"].validate(value);
  if (!result.issues) return result.value;
  const problems = result.issues.slice(0, LISTED).map(problemOf);
  const more = result.issues.length - problems.length;
  if (more > 0) problems.push(`and ${more} more`);
  throw new HoldfastError("HF-1042", { what, problems: problems.join("; ") });
}

function problemOf({ path = [], message }: SchemaIssue): string {
  const place = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
  return place === "" ? message : `${place}: ${message}`;
}
