import type { z } from "zod";
import { didYouMean } from "../../core/nearest.ts";
import type { Path, Problems } from "../problems.ts";
import { AGENT_TYPES, type AgentType } from "./agents.ts";
import { agentsOf, refuseUnsupported } from "./unsupported.ts";
import { type WorkflowFile, workflowFile } from "./workflow.ts";

/** Checks data against the schema of a workflow file and reports every problem. */
export function readSchema(data: unknown, problems: Problems): WorkflowFile | undefined {
  if (typeof data !== "object" || data === null || Array.isArray(data)) {
    problems.error([], "A workflow file is a mapping with workflow, agents and output.");
    return undefined;
  }
  const file = data as Record<string, unknown>;
  nameTypes(file);
  refuseUnsupported(file, problems);
  const result = workflowFile.safeParse(file);
  if (result.success) return result.data;
  for (const issue of result.error.issues) tell(issue, issue.path as Path, file, problems);
  return undefined;
}

/** An agent without a type is a model agent; one inside a for_each group may omit its name and take the group's. */
function nameTypes(file: Record<string, unknown>): void {
  for (const [path, agent] of agentsOf(file)) {
    if (typeof agent !== "object" || agent === null) continue;
    const given = agent as Record<string, unknown>;
    given["type"] ??= "agent";
    if (path[0] === "for_each") given["name"] ??= at(file, path.slice(0, 2), "name");
  }
}

function at(file: unknown, path: Path, key?: string): unknown {
  let found: unknown = file;
  for (const part of key === undefined ? path : [...path, key])
    found =
      typeof found === "object" && found !== null
        ? (found as Record<string | number, unknown>)[part]
        : undefined;
  return found;
}

type Issue = z.core.$ZodIssue;

function tell(issue: Issue, path: Path, file: unknown, problems: Problems): void {
  switch (issue.code) {
    case "unrecognized_keys":
      for (const key of issue.keys) problems.error([...path, key], unknownKey(key, at(file, path), path));
      return;
    case "invalid_type":
      return problems.error(path, wrongType(issue, at(file, path), path));
    case "invalid_value":
      return problems.error(
        path,
        `${last(path)} must be ${issue.values.map(String).join(" or ")}${written(at(file, path))}.${
          typeof at(file, path) === "string"
            ? didYouMean(String(at(file, path)), issue.values.map(String))
            : ""
        }`,
      );
    case "too_small":
    case "too_big":
      return problems.error(path, `${last(path)} is out of range: ${sentence(issue.message)}`);
    case "invalid_union":
      return tellUnion(issue, path, file, problems);
    default:
      return problems.error(
        path,
        sentence(issue.code === "custom" ? issue.message : `${last(path)} ${issue.message}`),
      );
  }
}

function tellUnion(
  issue: Extract<Issue, { code: "invalid_union" }>,
  path: Path,
  file: unknown,
  problems: Problems,
): void {
  const agent = at(file, path.at(-1) === "type" ? path.slice(0, -1) : path);
  const type = typeof agent === "object" && agent !== null ? (agent as { type?: unknown }).type : undefined;
  if ("discriminator" in issue && issue.discriminator === "type") {
    const types = Object.keys(AGENT_TYPES);
    const where = path.at(-1) === "type" ? path : [...path, "type"];
    return problems.error(
      where,
      `There is no agent of type ${String(type)}; there are ${types.join(", ")}.${didYouMean(String(type), types)}`,
    );
  }
  const value = at(file, path);
  // The alternative with the value's own shape gives the best message.
  const isObject = typeof value === "object" && value !== null;
  const fitting = issue.errors.find(
    (errors) => isObject === !errors.some((one) => one.code === "invalid_type" && one.path.length === 0),
  );
  for (const inner of fitting ?? issue.errors[0] ?? [])
    tell(inner, [...path, ...(inner.path as Path)], file, problems);
}

function unknownKey(key: string, holder: unknown, path: Path): string {
  const type = (holder as { type?: unknown } | undefined)?.type;
  const schema =
    typeof type === "string" && Object.hasOwn(AGENT_TYPES, type) ? AGENT_TYPES[type as AgentType] : undefined;
  const owners = Object.entries(AGENT_TYPES).filter(([, one]) => Object.hasOwn(one.shape, key));
  if (schema && owners.length > 0)
    return `A step of type ${String(type)} cannot have ${key}; it is for ${owners.map(([name]) => name).join(", ")}.`;
  if (path.length === 0 && Object.hasOwn(workflowFile.shape.workflow.shape, key))
    return `${key} belongs under workflow.`;
  const known = schema ? Object.keys(schema.shape) : keysAt(path);
  return `There is no key ${key} here.${didYouMean(key, known)}`;
}

/** The keys that the schema allows at a path. */
function keysAt(path: Path): string[] {
  let schema: unknown = workflowFile;
  for (const part of path) {
    const inner = shapeOf(schema);
    schema =
      inner && typeof part === "string" && Object.hasOwn(inner, part) ? inner[part] : elementOf(schema);
  }
  return Object.keys(shapeOf(schema) ?? {});
}

interface Definition {
  readonly shape?: Record<string, unknown>;
  readonly innerType?: unknown;
  readonly element?: unknown;
  readonly valueType?: unknown;
  readonly in?: unknown;
  readonly getter?: () => unknown;
  readonly options?: readonly unknown[];
}

function unwrapped(schema: unknown): Definition | undefined {
  let found = (schema as { def?: Definition } | undefined)?.def;
  for (let depth = 0; found && depth < 10; depth++) {
    const inner: unknown =
      found.innerType ??
      found.in ??
      found.getter?.() ??
      found.options?.find((one) => shapeOf(one) !== undefined);
    if (!inner) break;
    found = (inner as { def?: Definition }).def;
  }
  return found;
}

const shapeOf = (schema: unknown): Record<string, unknown> | undefined => unwrapped(schema)?.shape;

function elementOf(schema: unknown): unknown {
  const found = unwrapped(schema);
  return found?.element ?? found?.valueType;
}

function wrongType(issue: Extract<Issue, { code: "invalid_type" }>, value: unknown, path: Path): string {
  const name = last(path);
  if (value === undefined) return `${name} is missing.`;
  return `${name} must be ${EXPECTED[issue.expected] ?? issue.expected}${written(value)}.`;
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping",
  record: "a mapping",
};

const written = (value: unknown): string => {
  if (value === null) return ", not empty";
  if (Array.isArray(value)) return ", not a list";
  return typeof value === "object" ? ", not a mapping" : `, not ${plainText(value).slice(0, 60)}`;
};

const plainText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const last = (path: Path): string => {
  const part = path.at(-1);
  return typeof part === "number" ? `entry ${part + 1} of ${String(path.at(-2))}` : (part ?? "the file");
};

const sentence = (message: string): string => (/[.?!]$/.test(message) ? message : `${message}.`);
