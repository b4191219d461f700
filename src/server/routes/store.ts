import { defined } from "../../core/defined.ts";
import { explainError, HoldfastError } from "../../core/errors.ts";
import { reliabilityOf } from "../../core/manage/reports/reliability.ts";
import type { RetentionPolicy } from "../../core/manage/retention/policy.ts";
import { inScope, type Principal } from "../access/permission.ts";
import type { Handlers } from "../call.ts";
import type { storeOperations } from "../contract/store.ts";
import { openStream } from "../events/stream.ts";
import { asJson } from "./as-json.ts";
import { readRun } from "./run-item.ts";

export const storeRoutes: Handlers<keyof typeof storeOperations> = {
  async listGates({ engine, query, principal }) {
    return engine.reports.gates({ ...query, where: (run) => inScope(principal.scope ?? null, run) });
  },

  listErrors: async ({ engine, query }) => engine.reports.errors(query),

  async explainError({ params }) {
    const entry = explainError(params.code);
    if (!entry) throw new HoldfastError("HF-6015", { what: "error code", name: params.code.slice(0, 20) });
    return { code: params.code, ...entry };
  },

  async listWorkflows({ engine }) {
    const workflows = [...engine.workflows.values()];
    return { workflows: workflows.map(({ name, version, schema }) => ({ name, version, schema })) };
  },

  async getTrail({ engine, params }) {
    const { lines, ...trail } = await engine.reports.trail(params.run);
    return { ...trail, lines: lines.map((line) => ({ ...line, meta: { ...line.meta } })) };
  },
  reportRecoveries: async ({ engine, query }) => engine.reports.recoveries(query),
  async reportReliability({ engine, query }) {
    return reliabilityOf(await engine.reports.recoveries(query), engine.health());
  },
  reportEffects: async ({ engine, query }) => engine.reports.effects(query),
  reportCapacity: async ({ engine, query }) => engine.reports.capacity(query),
  verifyStore: async ({ engine, body }) => engine.reports.verify(body),
  checkMigrations: async ({ engine, query }) => engine.migrations.check(query),
  auditRestart: async ({ engine, params }) => engine.restarts.audit(params.run),

  async reviewImport({ engine, params, query: { reason }, act: { actor } }) {
    await engine.reports.recordReading(params.run, { actor, reason, what: "what it would execute" });
    return asJson(await engine.transfer.review(params.run));
  },

  async previewRetention({ engine, body: { policy, ...options } }) {
    return engine.retention.preview(policy as RetentionPolicy, options);
  },

  async pruneValues({ engine, body: { policy, ...options }, act: { actor } }) {
    return engine.retention.prune(policy as RetentionPolicy, { ...options, actor });
  },

  listViews: async ({ engine, query }) => engine.views.list(query),

  async putView({ engine, params, body, principal, act: { actor } }) {
    return engine.views.save(params.name, body.query, { actor, isAdmin: isAdmin(principal) });
  },

  async deleteView({ engine, params: { name }, principal, act: { actor } }) {
    await engine.views.delete(name, { actor, isAdmin: isAdmin(principal) });
    return { deleted: name };
  },

  async streamEvents(call) {
    const { run, after } = call.query;
    const runs = run && run.length > 0 ? run : null;
    for (const id of runs ?? []) await readRun(call, id);
    const { engine, clock, hub, principal } = call;
    const lastId = call.request.headers.get("last-event-id");
    const scope = principal.scope ?? null;
    return openStream({ engine, hub, clock, runs, lastId, scope, ...defined({ after }) });
  },

  getHealth: async ({ engine }) => engine.health(),

  async getStore({ store }) {
    const { name: kind, capabilities } = store;
    return { kind, capabilities: { ...capabilities }, now: await store.now() };
  },
};

const isAdmin = ({ permissions }: Principal): boolean => permissions.has("admin");
