import { z } from "zod";
import type { Declared } from "./declare.ts";
import { declare } from "./declare.ts";
import type { OperationId } from "./paths.ts";
import { runOperations } from "./runs.ts";

const aboutItself = {
  getOpenApi: declare("getOpenApi", {
    summary: "This API as an OpenAPI 3.1 document.",
    permission: "runs:read",
    about: "list",
    verb: { library: "none: it describes the API", cli: "none: it describes the API" },
    answer: z.record(z.string(), z.unknown()),
  }),
};

/** The whole API, as data. */
export const operations = {
  ...runOperations,
  ...aboutItself,
} as const satisfies { readonly [Id in OperationId]: Declared<Id> };

export type Operations = typeof operations;

export const allOperations: readonly Declared[] = Object.values(operations);
