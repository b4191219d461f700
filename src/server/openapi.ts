import { z } from "zod";
import type { Declared } from "./contract/declare.ts";

type Json = Readonly<Record<string, unknown>>;

const problem = {
  type: "object",
  description: "RFC 9457, with what happened, why, what is safe and how to fix it",
  required: ["type", "title", "status", "detail", "code", "what", "why", "safe", "fix"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string", description: "A stable code such as HF-1001; `holdfast explain` tells more" },
    what: { type: "string" },
    why: { type: "string" },
    safe: { type: "string" },
    fix: { type: "array", items: { type: "string" } },
  },
} as const;

/** The API as an OpenAPI 3.1 document, made from the list of operations. */
export function openApi(operations: readonly Declared[], version: string, base = ""): Json {
  const paths: Record<string, Record<string, Json>> = {};
  const schemas: Record<string, Json> = { Problem: problem };
  for (const operation of operations) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describe(operation, schemas);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Holdfast management API",
      version,
      description:
        "See, start and steer durable runs. Times are milliseconds since 1970 by the store's clock. Errors are RFC 9457.",
    },
    ...(base === "" ? {} : { servers: [{ url: base }] }),
    paths,
    components: {
      schemas,
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
    },
    security: [{ token: [] }],
  };
}

function describe(operation: Declared, schemas: Record<string, Json>): Json {
  const { id, summary, permission, query, body, path, media } = operation;
  const parameters = [
    ...pathParameters(path),
    ...(query ? queryParameters(query, schemas) : []),
    ...headers(operation),
  ];
  return {
    operationId: id,
    summary,
    description: `Needs the permission \`${permission}\`.`,
    tags: [path.split("/")[2] ?? ""],
    "x-permission": permission,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body
      ? { requestBody: content(media?.body ?? "application/json", schemaOf(body, "input", schemas)) }
      : {}),
    responses: {
      "200": {
        description: "Done",
        ...content(media?.answer ?? "application/json", schemaOf(operation.answer, "output", schemas)),
      },
      default: {
        description: "Refused, or not possible",
        ...content("application/problem+json", { $ref: "#/components/schemas/Problem" }),
      },
    },
  };
}

const content = (type: string, schema: Json): Json => ({ content: { [type]: { schema } } });

/** Shapes with a name go to the components of the document. The others are written out where they are used. */
function schemaOf(shape: z.ZodType, io: "input" | "output", schemas: Record<string, Json>): Json {
  const made = z.toJSONSchema(shape, { io, unrepresentable: "any", reused: "inline" });
  const text = JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/');
  const {
    $schema: _,
    $defs,
    ...schema
  } = JSON.parse(text) as Json & { readonly $defs?: Record<string, Json> };
  Object.assign(schemas, $defs);
  return schema;
}

const pathParameters = (path: string): Json[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));

function queryParameters(query: z.ZodObject, schemas: Record<string, Json>): Json[] {
  const { properties = {}, required = [] } = schemaOf(query, "input", schemas) as {
    properties?: Readonly<Record<string, Json>>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
    ...(schema["type"] === "array" ? { style: "form", explode: true } : {}),
  }));
}

/** Acts on a run take both headers. */
function headers({ method, path }: Declared): Json[] {
  if (method === "GET") return [];
  const key = {
    name: "Idempotency-Key",
    in: "header",
    schema: { type: "string", minLength: 1, maxLength: 200 },
    description: "The same key and request again, within a day, get the same answer, and the act counts once",
  };
  const match = {
    name: "If-Match",
    in: "header",
    schema: { type: "string", pattern: '^"\\d+"$' },
    description: "The ETag of the run as you have seen it. If it has moved on since, the answer is 412",
  };
  return path.includes("{run}") ? [key, match] : [key];
}
