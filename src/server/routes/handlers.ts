import type { Handlers } from "../call.ts";
import { allOperations } from "../contract/operations.ts";
import { docsPage } from "../docs-page.ts";
import { openApi } from "../openapi.ts";
import { actRoutes } from "./acts.ts";
import { auditRoutes } from "./audit.ts";
import { evidenceRoutes } from "./evidence.ts";
import { flowRoutes } from "./flow.ts";
import { lookRoutes } from "./looks.ts";
import { operateRoutes } from "./operate.ts";
import { queueRoutes } from "./queues.ts";
import { runRoutes } from "./runs.ts";
import { storeRoutes } from "./store.ts";
import { tokenRoutes } from "./tokens.ts";

/** The handler of every operation. The compiler makes sure that none is missing. */
export const handlers: Handlers = {
  ...runRoutes,
  ...actRoutes,
  ...storeRoutes,
  ...evidenceRoutes,
  ...flowRoutes,
  ...queueRoutes,
  ...tokenRoutes,
  ...auditRoutes,
  ...lookRoutes,
  ...operateRoutes,

  getOpenApi: async ({ base }) => openApi(allOperations, "1", base),

  async getDocs() {
    const headers = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" };
    return new Response(docsPage(allOperations), { headers });
  },
};
