import type { z } from "zod";
import type { Operation } from "./operation.ts";
import { type OperationId, PATHS } from "./paths.ts";

/** An operation with the types of what it takes and answers. */
export interface Declared<
  Id extends OperationId = OperationId,
  Q extends z.ZodObject | undefined = z.ZodObject | undefined,
  B extends z.ZodType | undefined = z.ZodType | undefined,
  A extends z.ZodType = z.ZodType,
> extends Omit<Operation, "id" | "query" | "body" | "answer"> {
  readonly id: Id;
  readonly query: Q;
  readonly body: B;
  readonly answer: A;
  /** What a scope of a credential narrows: one run, a list of runs, or something that belongs to no run. */
  readonly about: About;
  /** What the server sends and takes besides JSON. */
  readonly media?: Media;
  /** How a body is limited, if not as usual. */
  readonly bodyLimit?: number;
  /** The answer has a secret in it, so it isn't kept for a repeated request. */
  readonly isShownOnce?: true;
}

/** Data that nobody changes: what the library returns fits the shapes of the answers. */
export type Frozen<T> = T extends readonly (infer E)[]
  ? readonly Frozen<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T;

export type About = "run" | "list" | "store";

/** Content types that aren't JSON. */
export interface Media {
  readonly answer?: "text/event-stream" | "text/html" | "application/x-ndjson" | "text/plain";
  readonly body?: "application/x-ndjson";
}

type Given<Q, B, A> = Pick<Operation, "summary" | "permission" | "verb"> & {
  readonly query?: Q;
  readonly body?: B;
  readonly answer: A;
  /** For operations without a run in their path. Default `store`. */
  readonly about?: "list";
  readonly media?: Media;
  readonly bodyLimit?: number;
  readonly isShownOnce?: true;
};

export function declare<
  const Id extends OperationId,
  A extends z.ZodType,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(id: Id, { query, body, about, ...given }: Given<Q, B, A>): Declared<Id, Q, B, A> {
  const [method, path] = PATHS[id].split(" ") as [Operation["method"], string];
  const subject = path.includes("{run}") ? "run" : (about ?? "store");
  return { id, method, path, query: query as Q, body: body as B, about: subject, ...given };
}
