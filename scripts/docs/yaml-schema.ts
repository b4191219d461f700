/** Walks the schema of workflow files: every block of keys, with the type and the default of each key. */
import { AGENT_TYPES } from "../../src/yaml/schema/agents.ts";
import { workflowFile } from "../../src/yaml/schema/workflow.ts";

export interface Key {
  readonly name: string;
  readonly type: string;
  readonly default: string;
  readonly isRequired: boolean;
}

export interface KeyBlock {
  /** Where its keys stand: `workflow.runtime`, `agents[script]`, `workflow.runtime.mcp_servers.*`. */
  readonly path: string;
  readonly keys: readonly Key[];
}

interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly innerType?: unknown;
  readonly element?: unknown;
  readonly valueType?: unknown;
  readonly in?: unknown;
  readonly options?: readonly unknown[];
  readonly getter?: () => unknown;
  readonly entries?: Readonly<Record<string, string>>;
  readonly values?: readonly unknown[];
  readonly defaultValue?: unknown;
}

interface Bounds {
  readonly minValue?: number | null;
  readonly maxValue?: number | null;
  readonly isInt?: boolean;
  readonly def?: {
    readonly checks?: readonly { readonly _zod: { readonly def: { check: string; inclusive?: boolean } } }[];
  };
}

const definition = (schema: unknown): Definition =>
  (schema as { def?: Definition } | undefined)?.def ?? { type: "unknown" };

const WRAPPERS = ["optional", "nullable", "default", "prefault", "readonly", "nonoptional"];

const opened = new Map<unknown, unknown>();

/** The schema inside what only says that it may be missing, is converted or refers to itself. */
function bare(schema: unknown): unknown {
  const { type, innerType, in: piped, getter } = definition(schema);
  if (WRAPPERS.includes(type)) return bare(innerType);
  if (type === "pipe") return bare(piped);
  if (type !== "lazy") return schema;
  // A getter makes a new schema each time.
  if (!opened.has(schema)) opened.set(schema, bare(getter?.()));
  return opened.get(schema);
}

/** Every block of keys in a workflow file, in the order of the schema. */
export function keyBlocks(): readonly KeyBlock[] {
  const blocks: KeyBlock[] = [];
  const seen = new Set<unknown>();
  const names = new Map<unknown, string>(Object.entries(AGENT_TYPES).map(([name, schema]) => [schema, name]));

  const visit = (given: unknown, path: string): void => {
    const schema = bare(given);
    const { type, shape, element, valueType, options = [] } = definition(schema);
    if (type === "array") return visit(element, path.endsWith("]") ? path : `${path}[]`);
    if (type === "record") return visit(valueType, `${path}.*`);
    if (type === "union") {
      for (const option of options) {
        const kind = names.get(bare(option));
        visit(option, kind === undefined ? path : path.replace(/\[\]$|$/, `[${kind}]`));
      }
      return;
    }
    if (type !== "object" || !shape || seen.has(schema)) return;
    seen.add(schema);
    blocks.push({
      path: path === "" ? "file" : path,
      keys: Object.entries(shape).map(([name, one]) => keyOf(name, one)),
    });
    for (const [name, one] of Object.entries(shape)) visit(one, path === "" ? name : `${path}.${name}`);
  };
  visit(workflowFile, "");
  return blocks;
}

function keyOf(name: string, schema: unknown): Key {
  const { type, defaultValue } = definition(schema);
  const fallback = type === "default" ? JSON.stringify(defaultValue) : "";
  const isEmpty = ["[]", "{}", '""'].includes(fallback);
  return {
    name,
    type: typeOf(schema),
    default: isEmpty ? "" : fallback.replace(/^"(.*)"$/, "$1"),
    isRequired: !["optional", "nullable", "default", "prefault"].includes(type) && type !== "unknown",
  };
}

function typeOf(given: unknown): string {
  const schema = bare(given);
  const { type, entries, values = [], element, valueType, options = [] } = definition(schema);
  switch (type) {
    case "string":
      return "text";
    case "int":
    case "number":
      return numberOf(schema as Bounds);
    case "boolean":
      return "true or false";
    case "enum":
      return Object.values(entries ?? {})
        .map((one) => `\`${one}\``)
        .join(", ");
    case "literal":
      return values.map((one) => `\`${String(one)}\``).join(", ");
    case "array":
      return `list of ${plural(typeOf(element))}`;
    case "record":
      return `mapping of ${plural(typeOf(valueType))}`;
    case "object":
      return "mapping";
    case "union":
      return unionOf(options.map(typeOf));
    case "null":
      return "nothing";
    default:
      return "anything";
  }
}

/** Numbers and switches are also read as text, so a text is what a reader needs to know. */
function unionOf(types: readonly string[]): string {
  const isScalar = ["text", "number", "true or false"].every((type) => types.includes(type));
  return isScalar ? "text" : [...new Set(types)].join(" or ");
}

const plural = (type: string): string => (type === "text" ? "texts" : type === "mapping" ? "mappings" : type);

function numberOf({ minValue, maxValue, isInt, def }: Bounds): string {
  const kind = isInt ? "whole number" : "number";
  const least = limit(minValue);
  const most = limit(maxValue);
  if (least !== undefined && most !== undefined) return `${kind}, ${least} to ${most}`;
  if (least !== undefined) return isAbove(def) ? `${kind} above ${least}` : `${kind}, ${least} or more`;
  return most === undefined ? kind : `${kind}, up to ${most}`;
}

/** Bounds that are only those of whole numbers as such say nothing. */
const limit = (value: number | null | undefined): number | undefined =>
  typeof value === "number" && Math.abs(value) < 1e15 ? value : undefined;

const isAbove = ({ checks = [] }: NonNullable<Bounds["def"]> = {}): boolean =>
  checks.some(({ _zod: { def } }) => def.check === "greater_than" && def.inclusive === false);
