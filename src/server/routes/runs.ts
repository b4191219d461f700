import { defined } from "../../core/defined.ts";
import { standingOf } from "../../core/manage/status/standing.ts";
import { inScope } from "../access/permission.ts";
import type { Handlers } from "../call.ts";
import type { runOperations } from "../contract/runs.ts";
import { itemOf, tagOf } from "./run-item.ts";

export const runRoutes: Handlers<keyof typeof runOperations> = {
  async listRuns({ engine, store, query, principal }) {
    const { runs, cursor } = await engine.list(query);
    const now = await store.now();
    const seen = runs.filter((run) => inScope(principal.scope ?? null, run));
    return { runs: seen.map((run) => itemOf(run, now)), cursor };
  },

  async getRun({ engine, store, params, headers }) {
    const report = await engine.status(params.run);
    headers.set("etag", tagOf(report.run));
    return { ...standingOf(report.run, await store.now()), ...report };
  },

  async pauseRun({ engine, store, params, body, act, headers }) {
    const run = await engine.pause(params.run, { ...act, ...defined({ children: body.children }) });
    headers.set("etag", tagOf(run));
    return itemOf(run, await store.now());
  },
};
