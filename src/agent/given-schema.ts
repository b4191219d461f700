import { HoldfastError } from "../core/errors.ts";
import { conform, type StandardSchema } from "../core/standard-schema.ts";
import type { JsonSchema } from "./model.ts";
import { checkSchema } from "./schema.ts";
import { isObject } from "./schema-rules.ts";

/** A schema that somebody gave, as models see it and as values are checked by it. */
export interface GivenSchema {
  readonly json: JsonSchema;
  /** The problems of a value; missing where the JSON schema alone decides. */
  readonly fits?: (value: unknown) => Promise<readonly string[]>;
  /** What the schema makes of a value that fits. */
  made(value: unknown): Promise<unknown>;
}

/** Standard Schema's way to a JSON schema, which zod 4.2, arktype 2.1.28 and newer ones have. */
interface ShownAsJson {
  readonly jsonSchema?: { input(options: { readonly target: string }): unknown };
}

/** The AI SDK's own schemas, from `jsonSchema()` and the like. */
interface SdkSchema {
  readonly jsonSchema: unknown;
  validate?(value: unknown): unknown;
}

const SDK = Symbol.for("vercel.ai.schema");

/** Takes JSON Schema, any Standard Schema, or a schema of the AI SDK. Throws HF-4101 or HF-4604 where it can't. */
export async function givenSchema(given: unknown, of: string): Promise<GivenSchema> {
  const standard = standardIn(given);
  if (standard) return fromStandard(standard, of);
  const schema: unknown = typeof given === "function" ? given() : given;
  if (isObject(schema) && SDK in schema) return fromSdk(schema as unknown as SdkSchema, of);
  const json = checkSchema(schema, of);
  return { json, made: (value) => Promise.resolve(value) };
}

function standardIn(given: unknown): StandardSchema | undefined {
  const isHolder = (typeof given === "object" || typeof given === "function") && given !== null;
  if (!isHolder || !("~standard" in given)) return undefined;
  const standard: unknown = given["~standard"];
  return isObject(standard) && typeof standard["validate"] === "function"
    ? (given as StandardSchema)
    : undefined;
}

function fromStandard(schema: StandardSchema, of: string): GivenSchema {
  const { jsonSchema } = schema["~standard"] as ShownAsJson;
  const { toJsonSchema } = schema as { toJsonSchema?: () => unknown };
  if (!jsonSchema && typeof toJsonSchema !== "function")
    throw new HoldfastError("HF-4604", { of, problem: "it has no JSON schema to show to a model" });
  let json: unknown;
  try {
    json = jsonSchema ? jsonSchema.input({ target: "draft-2020-12" }) : toJsonSchema?.call(schema);
  } catch (error) {
    throw new HoldfastError("HF-4604", { of, problem: messageOf(error) }, { cause: error });
  }
  if (!isObject(json)) throw new HoldfastError("HF-4604", { of, problem: "its JSON schema isn't an object" });
  return checkedBy(plain(json), (value) => conform(schema, value, of));
}

async function fromSdk(schema: SdkSchema, of: string): Promise<GivenSchema> {
  const json: unknown = await schema.jsonSchema;
  if (!isObject(json)) throw new HoldfastError("HF-4604", { of, problem: "its JSON schema isn't an object" });
  if (!("validate" in schema) || typeof schema.validate !== "function")
    return { json: checkSchema(plain(json), of), made: (value) => Promise.resolve(value) };
  return checkedBy(plain(json), async (value) => {
    const result = (await schema.validate?.(value)) as {
      readonly success: boolean;
      readonly value?: unknown;
      readonly error?: unknown;
    };
    if (result.success) return result.value;
    throw new HoldfastError("HF-1042", { what: of, problems: messageOf(result.error) });
  });
}

function checkedBy(json: JsonSchema, made: (value: unknown) => Promise<unknown>): GivenSchema {
  const fits = async (value: unknown): Promise<readonly string[]> => {
    try {
      await made(value);
      return [];
    } catch (error) {
      if (!HoldfastError.is(error, "HF-1042")) throw error;
      return [String(error.detail["problems"])];
    }
  };
  return { json, fits, made };
}

/** The dialect's name tells a model nothing, and not every provider takes it. */
function plain(schema: JsonSchema): JsonSchema {
  const { $schema: _, ...rest } = schema;
  return rest;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
