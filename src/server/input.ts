import { z } from "zod";
import { HoldfastError } from "../core/errors.ts";
import { didYouMean } from "../core/nearest.ts";
import { parseJson } from "../core/values/bounded-json.ts";
import { ParseBudget } from "../core/values/parse-budget.ts";
import type { Declared } from "./contract/declare.ts";

/** Reads what a request brings, within limits: 1 MiB, 64 levels, 10,000 values. */
const BODY_LIMIT = 1024 * 1024;
const LIMITS = { depth: 64, keys: 10_000 } as const;
const NOT_A_KEY = new Set(["__proto__", "constructor", "prototype"]);
const MOST_PROBLEMS = 5;

/** Checks what came in against its shape; the refusal names the fields and never repeats their values. */
export function checked<T extends z.ZodType>(shape: T, given: unknown): z.output<T> {
  const result = shape.safeParse(given);
  if (result.success) return result.data;
  const problems = result.error.issues.slice(0, MOST_PROBLEMS).map((issue) => inWords(issue, shape));
  throw new HoldfastError("HF-6004", { problems: problems.join("; ") });
}

function inWords(issue: z.core.$ZodIssue, shape: z.ZodType): string {
  const place = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    const names = issue.keys.map((key) => (/^[\w.-]{1,60}$/.test(key) ? key : "a name that is not valid"));
    const [name = "", ...others] = names;
    const known = place === "" && shape instanceof z.ZodObject ? Object.keys(shape.shape) : [];
    const meant = others.length === 0 ? didYouMean(name, known, " (did you mean ", "?)") : "";
    return `${place === "" ? "it" : place} takes no ${names.join(", ")}${meant}`;
  }
  if (place !== "" && issue.message.endsWith("received undefined")) return `${place} is missing`;
  return place === "" ? issue.message : `${place}: ${issue.message}`;
}

type Kind = "text" | "number" | "flag";

/** The parameters of a query that aren't text, and those that may be repeated. */
interface QueryKinds {
  readonly kinds: ReadonlyMap<string, Kind>;
  readonly lists: ReadonlySet<string>;
}

interface Property {
  readonly type?: unknown;
  readonly items?: Property;
}

const known = new WeakMap<z.ZodObject, QueryKinds>();

function kindsOf(query: z.ZodObject): QueryKinds {
  const before = known.get(query);
  if (before) return before;
  const { properties = {} } = z.toJSONSchema(query, { io: "input", unrepresentable: "any" }) as {
    properties?: Readonly<Record<string, Property>>;
  };
  const kinds = new Map<string, Kind>();
  const lists = new Set<string>();
  for (const [name, property] of Object.entries(properties)) {
    if (property.type === "array") lists.add(name);
    const { type } = property.type === "array" ? (property.items ?? {}) : property;
    kinds.set(
      name,
      type === "integer" || type === "number" ? "number" : type === "boolean" ? "flag" : "text",
    );
  }
  const found = { kinds, lists };
  known.set(query, found);
  return found;
}

/** A number or a flag is read only in its usual form: anything else stays text, which the shape refuses. */
function convert(text: string, kind: Kind | undefined): unknown {
  if (kind === "number" && /^-?\d{1,17}(\.\d{1,17})?$/.test(text)) return Number(text);
  if (kind === "flag" && (text === "true" || text === "false")) return text === "true";
  return text;
}

export function readQuery<Q extends z.ZodObject>(query: Q, given: URLSearchParams): z.output<Q> {
  const { kinds, lists } = kindsOf(query);
  const values: Record<string, unknown> = Object.create(null);
  for (const name of new Set(given.keys())) {
    const all = given.getAll(name).map((text) => convert(text, kinds.get(name)));
    if (lists.has(name)) values[name] = all;
    else if (all.length === 1) values[name] = all[0];
    else throw new HoldfastError("HF-6004", { problems: "a parameter is repeated that may be given once" });
  }
  return checked(query, { ...values });
}

/** The JSON of a body; an absent one counts as an empty object. */
export async function readBody(
  operation: Pick<Declared, "bodyLimit">,
  request: Request,
): Promise<{ readonly text: string; readonly value: unknown }> {
  const limit = operation.bodyLimit ?? BODY_LIMIT;
  const text = await readText(request, limit);
  if (text === "") return { text, value: {} };
  const [type = ""] = (request.headers.get("content-type") ?? "").split(";");
  if (type.trim().toLowerCase() !== "application/json")
    throw new HoldfastError("HF-6003", { type: "application/json" });
  return { text, value: plain(parsed(text, limit)) };
}

function parsed(text: string, bytes: number): unknown {
  try {
    return parseJson(text, new ParseBudget("The body", { ...LIMITS, bytes }));
  } catch (error) {
    throw HoldfastError.is(error) ? error : new HoldfastError("HF-6005");
  }
}

/** Refuses keys that would change how objects behave when somebody copies them. */
function plain(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value) && Object.keys(value).some((key) => NOT_A_KEY.has(key)))
    throw new HoldfastError("HF-6005");
  for (const one of Object.values(value)) plain(one);
  return value;
}

export async function readText(request: Request, limit: number): Promise<string> {
  const refused = new HoldfastError("HF-6006", { limit });
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw refused;
  if (!request.body) return "";
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let size = 0;
  for await (const part of request.body as AsyncIterable<Uint8Array>) {
    size += part.byteLength;
    if (size > limit) throw refused;
    text += decoded(decoder, part);
  }
  return text + decoded(decoder);
}

function decoded(decoder: InstanceType<typeof TextDecoder>, part?: Uint8Array): string {
  try {
    return part ? decoder.decode(part, { stream: true }) : decoder.decode();
  } catch {
    throw new HoldfastError("HF-6005");
  }
}
