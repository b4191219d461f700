import type { z } from "zod";
import type { Permission } from "../access/permission.ts";

/**
 * One operation of the API, as data. The routes, the checks of what comes in, the OpenAPI document, the typed client,
 * the matrix of permissions and the table of verbs are all made from the list of these, so none of them can lag behind.
 */
export interface Operation {
  /** Its name in the client and in the OpenAPI document, such as `pauseRun`. */
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With parameters in braces: `/v1/runs/{run}/pause`. */
  readonly path: string;
  readonly summary: string;
  readonly permission: Permission;
  /** The matching verb of the library and command of the CLI, for the table of verbs; or why there is none. */
  readonly verb: { readonly library: string; readonly cli: string };
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly answer: z.ZodType;
}
