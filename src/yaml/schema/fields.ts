import { z } from "zod";
import { linearPattern } from "../../agent/linear-pattern.ts";
import { WAIT_RULE, waitMs } from "../duration.ts";

/** The types of declared inputs and outputs. */
export const FIELD_TYPES = ["string", "number", "boolean", "array", "object"] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

const CHECKS: Readonly<Record<FieldType, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  array: Array.isArray,
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
};

export const isOfType = (type: FieldType, value: unknown): boolean => CHECKS[type](value);

const fieldType = z.enum(FIELD_TYPES);

/** A text. Numbers and booleans are converted as written. */
export const scalarText = z.union([z.string(), z.number(), z.boolean()]).transform(String);

/** A length of time. */
export const span = z.union([z.string(), z.number()]).superRefine((given, issues) => {
  if (waitMs(given) === undefined) issues.addIssue({ code: "custom", message: `It must be ${WAIT_RULE}.` });
});

/** An input of a workflow. */
export interface InputField {
  readonly type: FieldType;
  readonly required: boolean;
  readonly default?: unknown;
  readonly description?: string | undefined;
}

export const inputField = z
  .strictObject({
    type: fieldType,
    required: z.boolean().default(true),
    default: z.unknown().optional(),
    description: z.string().nullish(),
  })
  .superRefine((field, issues) => {
    if (field.default === undefined || field.default === null || isOfType(field.type, field.default)) return;
    issues.addIssue({
      code: "custom",
      path: ["default"],
      message: `The default must be of type ${field.type}.`,
    });
  })
  .transform(
    ({ type, required, default: fallback, description }): InputField => ({
      type,
      required,
      ...(fallback === undefined || fallback === null ? {} : { default: fallback }),
      ...(description ? { description } : {}),
    }),
  );

/** A field of an agent's output, with its constraints. */
export interface OutputField {
  readonly type: FieldType;
  readonly description?: string | null | undefined;
  readonly items?: OutputField | undefined;
  readonly properties?: Readonly<Record<string, OutputField>> | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly pattern?: string | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly required: boolean;
  readonly nullable: boolean;
}

const size = z.int().min(0);

export const outputField: z.ZodType<OutputField> = z.lazy(() =>
  z
    .strictObject({
      type: fieldType,
      description: z.string().nullish(),
      items: outputField.optional(),
      properties: z.record(z.string(), outputField).optional(),
      enum: z.array(z.unknown()).min(1).optional(),
      pattern: z.string().max(500).optional(),
      minimum: z.number().optional(),
      maximum: z.number().optional(),
      minLength: size.optional(),
      maxLength: size.optional(),
      required: z.boolean().default(true),
      nullable: z.boolean().default(false),
    })
    .superRefine((field, issues) => {
      for (const [path, message] of fieldProblems(field))
        issues.addIssue({ code: "custom", path: [path], message });
    }),
);

/** The types that each constraint applies to. */
const ONLY: Readonly<Record<string, readonly FieldType[]>> = {
  pattern: ["string"],
  minLength: ["string"],
  maxLength: ["string"],
  minimum: ["number"],
  maximum: ["number"],
  items: ["array"],
  properties: ["object"],
  enum: ["string", "number", "boolean"],
};

function* fieldProblems(field: OutputField): Generator<readonly [string, string]> {
  for (const [key, types] of Object.entries(ONLY)) {
    if (field[key as keyof OutputField] !== undefined && !types.includes(field.type))
      yield [key, `${key} is only for type ${types.join(", ")}, and this is ${field.type}.`];
  }
  const wrong = field.enum?.find((one) => !isOfType(field.type, one));
  if (wrong === null) yield ["enum", "enum cannot contain null; use nullable: true."];
  else if (wrong !== undefined) yield ["enum", `The values of enum must be of type ${field.type}.`];
  if ((field.minLength ?? 0) > (field.maxLength ?? Number.POSITIVE_INFINITY))
    yield ["minLength", "minLength is greater than maxLength."];
  if ((field.minimum ?? Number.NEGATIVE_INFINITY) > (field.maximum ?? Number.POSITIVE_INFINITY))
    yield ["minimum", "minimum is greater than maximum."];
  if (field.pattern !== undefined && !isPattern(field.pattern))
    yield ["pattern", "pattern is not a regular expression, or looks behind, refers back or is too large."];
}

const isPattern = (text: string): boolean => linearPattern(text) !== undefined;

export const outputFields = z.record(z.string(), outputField);
export type OutputFields = Readonly<Record<string, OutputField>>;
