import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import { isTraceparent } from "../../core/journal/observer.ts";
import { estimateRest } from "../../core/manage/plan/estimate.ts";
import { planToken, seenInPlan } from "../../core/manage/plan/plan-token.ts";
import { refusalOf } from "../../core/manage/status/would-refuse.ts";
import { addUsage, NO_USAGE, type Run } from "../../core/types.ts";
import type { Call, Handlers } from "../call.ts";
import type { actOperations } from "../contract/acts.ts";
import type { OperationId } from "../contract/paths.ts";
import type { ApiRunItem } from "../contract/shapes.ts";
import { restored } from "./edits.ts";
import { linesResponse } from "./lines.ts";
import { checkStart, itemOf, readRun, tagOf } from "./run-item.ts";

async function shown(call: Call<OperationId>, run: Run): Promise<ApiRunItem> {
  call.headers.set("etag", tagOf(run));
  return itemOf(run, await call.now());
}

/** The run after an act that returns nothing. */
const now = async (call: Call<OperationId>, id: string): Promise<ApiRunItem> =>
  shown(call, await readRun(call, id));

/** The trace that the caller is in, if it says so in the form of W3C Trace Context. */
function traceOf({ headers }: Request): string | undefined {
  const given = headers.get("traceparent");
  return isTraceparent(given) ? given : undefined;
}

export const actRoutes: Handlers<keyof typeof actOperations> = {
  async startRun(call) {
    const { workflow, input, id = call.act.id, reason: _, ...options } = call.body;
    const { labels, queue, singleton, debounceMs } = options;
    const isAlone = singleton !== undefined || debounceMs !== undefined;
    checkStart(call, { workflow, ...defined({ labels, queue }) }, isAlone);
    const run = await call.engine.startNamed(workflow, input, {
      ...options,
      ...whoAndWhy(call),
      ...defined({ id, traceparent: traceOf(call.request) }),
    });
    return now(call, run.id);
  },

  async pauseRun(call) {
    const { reason: _, ...options } = call.body;
    return shown(call, await call.engine.pause(call.params.run, { ...call.act, ...options }));
  },

  async resumeRun(call) {
    const { reason: _, plan, children, ...changes } = call.body;
    const seen = plan === undefined ? call.act.seen : seenInPlan(plan, changes);
    const options = { ...call.act, ...restored(changes), ...defined({ children, seen }) };
    return shown(call, await call.engine.resume(call.params.run, options));
  },

  async planResume(call) {
    const run = await readRun(call, call.params.run);
    const plan = await call.engine.plan(run.id, restored(call.body));
    const estimate = (await estimateRest(call.store, run)) ?? null;
    return { plan, estimate, seq: run.seq, token: planToken(run.seq, call.body) };
  },

  async cancelRun(call) {
    const { reason: _, ...options } = call.body;
    return shown(call, await call.engine.cancel(call.params.run, { ...call.act, ...options }));
  },

  async retryStep(call) {
    const { reason: _, step, ...options } = call.body;
    return shown(call, await call.engine.retry(call.params.run, step, { ...call.act, ...options }));
  },

  async injectContext(call) {
    const { reason: _, context, ...options } = call.body;
    await call.engine.inject(call.params.run, context, { ...call.act, ...options });
    return now(call, call.params.run);
  },

  async sendSignal(call) {
    await call.engine.signal(call.params.run, call.body.name, call.body.payload, call.act);
    return now(call, call.params.run);
  },

  async answerGate({ engine, params, body, act }) {
    const { reason: _, gate, ...answer } = body;
    return engine.answer(params.run, gate, { ...act, ...answer });
  },

  async resolveStep(call) {
    const { reason: _, step, action, newKey = false, value, error } = call.body;
    const resolution =
      action === "rerun"
        ? { action, ...(newKey ? { newKey } : {}) }
        : action === "done"
          ? { action, value }
          : action === "failed"
            ? { action, error: new Error(error ?? `${step} was marked as failed by hand.`) }
            : { action };
    return shown(call, await call.engine.resolve(call.params.run, step, { ...call.act, ...resolution }));
  },

  async forkRun(call) {
    const { reason: _, at = "last", id = call.act.id, ...options } = call.body;
    const { actor, reason } = call.act;
    const fork = { ...restored(options), actor, ...defined({ reason, id }) };
    return shown(call, await call.engine.fork(addressOf(call.params.run, at), fork));
  },

  async planFork({ engine, params, body }) {
    const { at = "last", ...options } = body;
    return engine.previewFork(addressOf(params.run, at), restored(options));
  },

  async pinRun(call) {
    return shown(call, await call.engine.retention.pin(call.params.run, whoAndWhy(call)));
  },

  async unpinRun(call) {
    return shown(call, await call.engine.retention.unpin(call.params.run, whoAndWhy(call)));
  },

  async deleteRun({ engine, params, query, act: { actor } }) {
    return engine.delete(params.run, { ...query, actor });
  },

  async exportRun({ engine, params, query, act: { actor } }) {
    const { reason, children = false } = query;
    await engine.reports.recordReading(params.run, { actor, reason, what: "the whole run, as a bundle" });
    const lines = engine.transfer.exportRun(params.run, { children });
    return linesResponse(lines);
  },

  async importRuns({ engine, body: { bundle, onConflict } }) {
    return engine.transfer.importRuns(whole(bundle), defined({ onConflict }));
  },

  async acceptImport(call) {
    const { digest } = call.body;
    return call.engine.transfer.accept(call.params.run, { ...whoAndWhy(call), digest });
  },

  async migrateRun(call) {
    const { migrations } = call.engine;
    if (call.body.asIs) await migrations.asIs(call.params.run, whoAndWhy(call));
    else await migrations.apply(call.params.run, whoAndWhy(call));
    return now(call, call.params.run);
  },

  async restartRun(call) {
    const { id = call.act.id } = call.body;
    return call.engine.restarts.start(call.params.run, { ...whoAndWhy(call), ...defined({ id }) });
  },

  async actOnRuns(call) {
    const { engine, body, act } = call;
    const done: string[] = [];
    const refused: { run: string; code: string; what: string }[] = [];
    let usage = NO_USAGE;
    for (const id of new Set(body.runs))
      try {
        const run = await readRun(call, id);
        const refusal = body.dryRun ? refusalOf(run, body.act) : null;
        if (refusal) throw refusal;
        if (!body.dryRun) await actOne(engine, id, body, act);
        usage = addUsage(usage, run.usage);
        done.push(id);
      } catch (error) {
        if (!HoldfastError.is(error)) throw error;
        refused.push({ run: id, code: error.code, what: error.message });
      }
    return { done, refused, usage };
  },
};

type Bulk = Call<"actOnRuns">;

function actOne(engine: Bulk["engine"], id: string, body: Bulk["body"], act: Bulk["act"]): Promise<Run> {
  const { retryFailed, compensate } = body;
  const { seen: _, ...plain } = act;
  if (body.act === "pause") return engine.pause(id, plain);
  if (body.act === "cancel") return engine.cancel(id, { ...plain, ...defined({ compensate }) });
  return engine.resume(id, { ...plain, ...defined({ retryFailed }) });
}

const addressOf = (run: string, at: string): string => `${run}@${at}`;

const whoAndWhy = ({ act: { actor, reason } }: Pick<Call<OperationId>, "act">) => ({
  actor,
  ...defined({ reason }),
});

async function* whole(text: string): AsyncGenerator<string> {
  yield text;
}
