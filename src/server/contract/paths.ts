import type { Operation } from "./operation.ts";

/**
 * Every operation of the API by its id: its method and its path. Parameters of the path are in braces. The rest of what
 * an operation takes is in its query if it is a GET or a DELETE, and in its body otherwise. The client needs no more
 * than this list, so it imports nothing else of the server.
 */
export const PATHS = {
  listRuns: "GET /v1/runs",
  getRun: "GET /v1/runs/{run}",
  pauseRun: "POST /v1/runs/{run}/pause",
  getOpenApi: "GET /v1/openapi.json",
} as const satisfies Readonly<Record<string, `${Operation["method"]} /v1/${string}`>>;

export type OperationId = keyof typeof PATHS;

/** The names in the braces of a path. */
export type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsOf<Rest>
  : never;
