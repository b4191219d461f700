import { badOption, checkObject } from "./check-options.ts";
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

/** Schemas by name. */
export type Schemas = Readonly<Record<string, StandardSchema>>;

type SchemaResult<O> =
  | { readonly value: O; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type InputOf<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["input"];
export type OutputOf<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"];

export function checkSchema<S extends StandardSchema>(option: string, schema: S | undefined): S | undefined {
  const isSchema = schema === undefined || typeof schema?.["~standard"]?.validate === "function";
  if (!isSchema) throw badOption(option, "it must be a schema that follows Standard Schema, such as zod's");
  return schema;
}

/** `checkName` refuses what can't be the name of one. */
export function checkSchemas<S extends Schemas>(
  option: string,
  schemas: S | undefined,
  checkName: (name: string) => void = () => undefined,
): S | undefined {
  if (schemas === undefined) return undefined;
  checkObject(option, schemas, "an object of schemas by name");
  for (const [name, schema] of Object.entries(schemas)) {
    checkName(name);
    if (schema === undefined) throw badOption(`${option}.${name}`, "it must be a schema");
    checkSchema(`${option}.${name}`, schema);
  }
  return schemas;
}

/** Returns what the schema makes of the value; throws HF-1042 with the place of each problem. */
export async function conform<O>(
  schema: StandardSchema<unknown, O>,
  value: unknown,
  what: string,
): Promise<O> {
  let result: unknown;
  try {
    result = await schema["~standard"].validate(value);
  } catch (error) {
    throw broken(what, error);
  }
  return settled<O>(result, what);
}

/** The same where nothing can be waited for; throws HF-1046 when the schema is asynchronous. */
export function conformNow<O>(schema: StandardSchema<unknown, O>, value: unknown, what: string): O {
  let result: unknown;
  try {
    result = schema["~standard"].validate(value);
  } catch (error) {
    throw broken(what, error);
  }
  if (!(result instanceof Promise)) return settled<O>(result, what);
  result.catch(() => undefined);
  throw broken(what, "It is asynchronous, and the value is needed at once.");
}

/** The number of problems that an error lists. */
const LISTED = 3;

function settled<O>(result: unknown, what: string): O {
  if (typeof result !== "object" || result === null) throw broken(what, "It gave no result.");
  const { issues, value } = result as { readonly issues?: unknown; readonly value?: O };
  if (issues === undefined) return value as O;
  if (!Array.isArray(issues)) throw broken(what, "It gave no result.");
  const problems = issues.slice(0, LISTED).map(problemOf);
  const more = issues.length - problems.length;
  if (more > 0) problems.push(`and ${more} more`);
  throw new HoldfastError("HF-1042", { what, problems: problems.join("; ") });
}

const broken = (what: string, error: unknown): HoldfastError => {
  const message = error instanceof Error ? error.message : String(error);
  return new HoldfastError("HF-1046", { what, message }, { cause: error });
};

function problemOf({ path = [], message }: SchemaIssue): string {
  const place = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
  return place === "" ? message : `${place}: ${message}`;
}
