import { createEngine } from "holdfast";
import { workflowRoutes } from "holdfast/server";
import { openSqliteStore } from "holdfast/stores/sqlite";
import { order } from "./flow.ts";

const store = await openSqliteStore({ file: ".holdfast/holdfast.db" });
/** It starts and shows runs. The work is done by `holdfast worker flow.ts`. */
const engine = createEngine({ store, workflows: [order], execute: false });

/** In Next.js this is the file `app/api/orders/[[...path]]/route.ts`, without `fetch`. */
export const { GET, HEAD, POST, fetch } = workflowRoutes(engine, order, {
  path: "/api/orders",
  // Your own sign-in belongs here.
  allow: (request) => request.headers.get("authorization") === "Bearer ada",
  actor: () => "ada",
  start(body) {
    const { item } = Object(body) as { item?: unknown };
    return { input: { item: typeof item === "string" ? item : "nothing" } };
  },
});

export async function close(): Promise<void> {
  await engine.close();
  await store.close();
}
