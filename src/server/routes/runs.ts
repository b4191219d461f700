import { defined } from "../../core/defined.ts";
import { HoldfastError } from "../../core/errors.ts";
import { parseAddress } from "../../core/journal/address.ts";
import type { CheckpointDiff } from "../../core/manage/checkpoints/diff.ts";
import { rowProgress } from "../../core/manage/checkpoints/progress.ts";
import { standingOf } from "../../core/manage/status/standing.ts";
import { labelsOf } from "../../core/manage/views.ts";
import type { Run } from "../../core/types.ts";
import { inScope, type Principal } from "../access/permission.ts";
import type { Call, Handlers } from "../call.ts";
import type { runOperations } from "../contract/runs.ts";
import { asJson } from "./as-json.ts";
import { itemOf, readRun, tagOf } from "./run-item.ts";

export const runRoutes: Handlers<keyof typeof runOperations> = {
  async listRuns({ engine, now, query, principal }) {
    const { label, pinned, notStatus, notWorkflow, notQueue, notLabel, ...plain } = query;
    const excluded = defined({
      status: notStatus,
      workflow: notWorkflow,
      queue: notQueue,
      labels: notLabel && labelsOf(notLabel),
    });
    const not = Object.keys(excluded).length === 0 ? undefined : excluded;
    const { where: isSeen = () => true } = inScopeOf(principal);
    const isPinned = (run: Run): boolean => run.pinned === pinned && isSeen(run);
    const where = pinned === undefined ? inScopeOf(principal) : { where: isPinned };
    const search = { ...plain, ...defined({ labels: label && labelsOf(label), not, ...where }) };
    const { runs, cursor } = await engine.list(search);
    const at = await now();
    return { runs: runs.map((run) => itemOf(run, at)), cursor };
  },

  async countRuns({ engine, query, principal }) {
    const { label, ...plain } = query;
    const labels = label && labelsOf(label);
    return engine.reports.counts({ ...plain, ...defined({ labels, ...inScopeOf(principal) }) });
  },

  async getProgress({ engine, query, principal: { scope = null } }) {
    return { runs: await engine.reports.progress(query.run, (run) => inScope(scope, run)) };
  },

  async needsYou({ engine, query, principal }) {
    const page = await engine.reports.needsYou({ ...query, ...inScopeOf(principal) });
    const needs = page.needs.map(({ kind, run, standing, until, errorGroup }) => ({
      kind,
      until,
      errorGroup,
      run: { ...run, ...standing, progress: rowProgress(run) },
    }));
    return { ...page, needs };
  },

  async getRun({ engine, now, params, headers }) {
    const report = await engine.status(params.run);
    headers.set("etag", tagOf(report.run));
    return { ...standingOf(report.run, await now()), ...report };
  },

  getOutline: async ({ engine, params, query }) => engine.reports.outline(params.run, query),
  listEvents: async ({ engine, params, query }) => engine.reports.events(params.run, query),
  listLogs: async ({ engine, params, query }) => engine.reports.logs(params.run, query),
  getStep: async ({ engine, params, query }) => engine.reports.step(params.run, query.step),

  async readStep({ engine, params, body: { step, reason }, act: { actor } }) {
    return engine.reports.stepValues(params.run, step, { actor, reason });
  },

  async getLineage({ engine, params, principal: { scope = null } }) {
    return engine.reports.lineage(params.run, (run) => inScope(scope, run));
  },

  getCost: async ({ engine, params, query }) => engine.reports.costs({ run: params.run, ...query }),
  listCosts: async ({ engine, query }) => engine.reports.costs(query),
  validateRun: async ({ engine, params }) => engine.checkpoints.validate(params.run),

  async listCheckpoints({ engine, params, query }) {
    return { checkpoints: await engine.checkpoints.list(params.run, query) };
  },

  getCheckpoint: async ({ engine, params }) => engine.checkpoints.show(`${params.run}@${params.at}`),

  async readState({ engine, params, body: { reason }, act: { actor } }) {
    const shown = await engine.checkpoints.reveal(`${params.run}@${params.at}`, { actor, reason });
    return { result: null, ...asJson(shown) };
  },

  async previewState({ engine, params, body: { reason, ...options }, act: { actor } }) {
    return engine.checkpoints.preview(`${params.run}@${params.at}`, { actor, reason }, options);
  },

  async readConversation({ engine, params, body: { reason, ...query }, act: { actor } }) {
    return engine.checkpoints.conversation(`${params.run}@${params.at}`, { actor, reason }, query);
  },

  async diff(call) {
    const { from, to } = call.query;
    return headOf(await differ(call, from, to));
  },

  async readDiff(call) {
    const { from, to, reason } = call.body;
    const { actor } = call.act;
    const found = await differ(call, from, to, async (run) =>
      call.engine.reports.recordReading(run, { actor, reason, what: `${from} compared with ${to}` }),
    );
    return { ...headOf(found), state: found.state, patch: found.patch, values: found.steps };
  },

  async pinCheckpoint({ engine, params, act }) {
    return { checkpoint: await engine.checkpoints.pin(`${params.run}@${params.at}`, act) };
  },

  async unpinCheckpoint({ engine, params, act }) {
    return { checkpoint: await engine.checkpoints.unpin(`${params.run}@${params.at}`, act) };
  },

  async labelCheckpoint({ engine, params, body: { label }, act }) {
    const address = `${params.run}@${params.at}`;
    const { checkpoints } = engine;
    const named = label === "" ? checkpoints.unlabel(address, act) : checkpoints.label(address, label, act);
    return { checkpoint: await named };
  },

  async replayCheckpoint({ engine, params, body: { reason }, act: { actor } }) {
    await engine.reports.recordReading(params.run, { actor, reason, what: `replay to ${params.at}` });
    return asJson(await engine.replay(`${params.run}@${params.at}`));
  },

  async getGate({ engine, params, query }) {
    const gate = (await engine.gates(params.run)).find((one) => one.gate === query.gate);
    if (gate) return asJson(gate);
    const why = "It was not opened yet, was answered, or there is none of this name.";
    throw new HoldfastError("HF-1013", { run: params.run, gate: query.gate, why });
  },
};

/** Lists show only runs that the caller may see. */
const inScopeOf = ({ scope = null }: Principal): { readonly where?: (run: Run) => boolean } =>
  scope === null ? {} : { where: (run) => inScope(scope, run) };

/** Two checkpoints of runs that the caller may see. `record` is called with each run before anything of it is told. */
async function differ(
  call: Pick<Call<"diff">, "engine" | "principal">,
  from: string,
  to: string,
  record: (run: string) => Promise<void> = async () => undefined,
): Promise<CheckpointDiff> {
  const runs = new Set([from, to].map((address) => parseAddress(address).runId));
  const { checkpoints } = call.engine;
  for (const run of runs) await readRun(call, run);
  // Compared before the readings are recorded: they move the newest position, and the one before it is no checkpoint then.
  const found = await checkpoints.diff(from, to);
  for (const run of runs) await record(run);
  return found;
}

function headOf({ patch, steps, decisions, from, to, same, status, usage, ms }: CheckpointDiff) {
  return {
    from,
    to,
    same,
    status,
    usage,
    ms,
    changes: patch.map(({ op, path }) => ({ op, path })),
    steps: {
      added: Object.keys(steps.added),
      removed: Object.keys(steps.removed),
      changed: Object.keys(steps.changed),
    },
    decisions: { added: decisions.added.length, removed: decisions.removed.length },
  };
}
