import { describe, expect, it } from "vitest";
import { createApiStage } from "../../test/support/api.ts";
import { isRecord } from "../core/check-options.ts";
import { allOperations } from "./contract/operations.ts";

interface Schema {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** A number or a text that an operation takes, with its limits as the API describes them. */
interface Field {
  readonly method: string;
  readonly path: string;
  readonly name: string;
  readonly isQuery: boolean;
  readonly schema: Schema;
}

/** Their values must mean something besides: cursors that were given out, the query of a list, a span that isn't empty. */
const MORE_THAN_LONG = ["cursor", "query", "since", "until"];

const { send } = createApiStage([]);

async function described(): Promise<Field[]> {
  const document = (await (await send("GET", "/v1/openapi.json")).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [], requestBody }]) => {
      const body = requestBody?.content["application/json"]?.schema.properties ?? {};
      const of = { method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, "1") };
      return [
        ...parameters.flatMap(({ in: place, name, schema }) =>
          place === "query" ? [{ ...of, name, isQuery: true, schema }] : [],
        ),
        ...Object.entries(body).map(([name, schema]) => ({ ...of, name, isQuery: false, schema })),
      ];
    }),
  );
}

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema: Schema }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: { properties?: Record<string, Schema> } }>>;
  };
}

/** The values at the limits, and those just beyond them. */
function edges({ type, minimum, maximum, minLength, maxLength }: Schema): {
  readonly inside: readonly (number | string)[];
  readonly outside: readonly (number | string)[];
} {
  if (type === "integer") {
    const both = [minimum ?? 0, maximum ?? 0];
    return { inside: both, outside: [(minimum ?? 0) - 1, (maximum ?? 0) + 1] };
  }
  if (type !== "string" || maxLength === undefined) return { inside: [], outside: [] };
  const text = (length: number) => "x".repeat(length);
  const least = minLength ?? 0;
  return {
    inside: [text(Math.max(least, 1)), text(maxLength)],
    outside: [...(least > 0 ? [text(least - 1)] : []), text(maxLength + 1)],
  };
}

async function said({ method, path, name, isQuery }: Field, value: number | string) {
  const query = isQuery ? `?${name}=${value}` : "";
  const response = await send(method, `${path}${query}`, isQuery ? {} : { body: { [name]: value } });
  const { status } = response;
  if (!response.headers.get("content-type")?.includes("json")) await response.body?.cancel();
  const answer: unknown = status < 400 ? undefined : await response.json();
  const problem = isRecord(answer) ? answer : {};
  return { status, code: problem["code"], title: String(problem["title"]) };
}

describe("every limit that the API describes", () => {
  it("refuses what is one beyond it, by name", async () => {
    const fields = await described();
    let tried = 0;
    for (const field of fields)
      for (const value of edges(field.schema).outside) {
        const { method, path, name } = field;
        const answer = await said(field, value);
        expect({ method, path, name, ...answer }).toMatchObject({ status: 400, code: "HF-6004" });
        expect(answer.title).toContain(`${name}: `);
        tried++;
      }
    expect(tried).toBeGreaterThan(allOperations.length);
  });

  it("takes what is exactly at it, and fails inside with none", async () => {
    const refused: string[] = [];
    for (const field of (await described()).filter(({ name }) => !MORE_THAN_LONG.includes(name)))
      for (const value of edges(field.schema).inside) {
        const { status, code, title } = await said(field, value);
        const isNamed = [`${field.name}: `, `Invalid ${field.name}: `].some((text) => title.includes(text));
        if (status === 500 || isNamed || code === "HF-1050")
          refused.push(`${field.method} ${field.path} ${field.name}=${String(value).slice(0, 20)}: ${title}`);
      }
    expect(refused).toEqual([]);
  });
});
