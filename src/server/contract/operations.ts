import { z } from "zod";
import { actOperations } from "./acts.ts";
import { auditOperations } from "./audit.ts";
import { type Declared, declare } from "./declare.ts";
import { evidenceOperations } from "./evidence.ts";
import { flowOperations } from "./flow.ts";
import { lookOperations } from "./looks.ts";
import { operateOperations } from "./operate.ts";
import type { OperationId } from "./paths.ts";
import { queueOperations } from "./queues.ts";
import { runOperations } from "./runs.ts";
import { storeOperations } from "./store.ts";
import { tokenOperations } from "./tokens.ts";

const itself = {
  permission: "runs:read",
  about: "list",
  verb: { library: "none: it describes the API", cli: "none: it describes the API" },
} as const;

const aboutItself = {
  getOpenApi: declare("getOpenApi", {
    summary: "This API as an OpenAPI 3.1 document.",
    ...itself,
    answer: z.record(z.string(), z.unknown()),
  }),
  getDocs: declare("getDocs", {
    summary: "This API as a page to read. It loads nothing from elsewhere.",
    ...itself,
    answer: z.string(),
    media: { answer: "text/html" },
  }),
};

/** The whole API, as data. */
export const operations = {
  ...runOperations,
  ...actOperations,
  ...storeOperations,
  ...evidenceOperations,
  ...flowOperations,
  ...queueOperations,
  ...tokenOperations,
  ...auditOperations,
  ...lookOperations,
  ...operateOperations,
  ...aboutItself,
} as const satisfies { readonly [Id in OperationId]: Declared<Id> };

export type Operations = typeof operations;

export const allOperations: readonly Declared[] = Object.values(operations);
