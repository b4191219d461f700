import type { Handlers } from "../call.ts";
import { allOperations } from "../contract/operations.ts";
import { openApi } from "../openapi.ts";
import { runRoutes } from "./runs.ts";

/** The handler of every operation. The compiler makes sure that none is missing. */
export const handlers: Handlers = {
  ...runRoutes,
  getOpenApi: async () => openApi(allOperations, "1"),
};
