import type { z } from "zod";
import { didYouMean } from "../../core/nearest.ts";
import { type ConfigInput, configSchema } from "./schema.ts";

/** The problems of a configuration, one sentence each. */
export function checkConfig(value: unknown): { config: ConfigInput; problems: readonly string[] } {
  const parsed = configSchema.safeParse(value);
  if (parsed.success) return { config: parsed.data, problems: [] };
  return { config: {}, problems: parsed.error.issues.flatMap(explain) };
}

type Issue = z.core.$ZodIssue;

function explain(issue: Issue): string[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => {
      const before = `; did you mean ${path.map((part) => `${part}.`).join("")}`;
      return `${[...path, key].join(".")} is unknown${didYouMean(key, knownKeys(path), before)}`;
    });
  if (issue.code === "invalid_union") return [alternative(issue, path)];
  const where = path.length === 0 ? "it" : path.join(".");
  return [`${where}: ${lower(issue.message)}`];
}

/** The alternative that was probably meant: the one that accepts the kind of value and only objects to a detail. */
function alternative(issue: Issue & { code: "invalid_union" }, path: readonly string[]): string {
  const where = path.join(".");
  const near = issue.errors.find((issues) =>
    issues.every(
      ({ code, path: inner }) =>
        inner.length > 0 || code === "unrecognized_keys" || code === "invalid_format",
    ),
  );
  if (!near) return `${where} isn't one of the allowed values`;
  return near.flatMap((one) => explain({ ...one, path: [...issue.path, ...one.path] } as Issue)).join("; ");
}

/** The keys that the schema allows at this place. */
function knownKeys(path: readonly string[]): readonly string[] {
  let type: unknown = configSchema;
  for (const part of path) type = below(type, part);
  return objectKeys(type);
}

interface Shaped {
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly options?: readonly unknown[];
  readonly valueType?: unknown;
  unwrap?(): unknown;
}

function below(type: unknown, part: string): unknown {
  const one = bare(type) as Shaped;
  const shaped = one.options?.map(bare).find((each) => (each as Shaped).shape) as Shaped | undefined;
  return (one.shape ?? shaped?.shape)?.[part] ?? one.valueType;
}

const bare = (type: unknown): unknown => {
  const one = (type ?? {}) as Shaped;
  return one.unwrap && !one.shape ? bare(one.unwrap()) : one;
};

function objectKeys(type: unknown): readonly string[] {
  const one = bare(type) as Shaped;
  const shaped = one.options?.map(bare).find((each) => (each as Shaped).shape) as Shaped | undefined;
  return Object.keys(one.shape ?? shaped?.shape ?? { nothing: 1 });
}

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
