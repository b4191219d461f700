import { HoldfastError } from "../../core/errors.ts";
import { parseAddress } from "../../core/journal/address.ts";
import type { CheckpointDiff } from "../../core/manage/checkpoints/diff.ts";
import { standingOf } from "../../core/manage/status/standing.ts";
import { cursorAfter } from "../../core/store/query.ts";
import { encode } from "../../core/values/codec.ts";
import { inScope } from "../access/permission.ts";
import type { Call, Handlers } from "../call.ts";
import type { runOperations } from "../contract/runs.ts";
import type { ApiRunItem } from "../contract/shapes.ts";
import { itemOf, readRun, tagOf } from "./run-item.ts";

export const runRoutes: Handlers<keyof typeof runOperations> = {
  async listRuns(call) {
    return listed(call);
  },

  async getRun({ engine, store, params, headers }) {
    const report = await engine.status(params.run);
    headers.set("etag", tagOf(report.run));
    return { ...standingOf(report.run, await store.now()), ...report };
  },

  getOutline: async ({ engine, params, query }) => engine.reports.outline(params.run, query),
  listEvents: async ({ engine, params, query }) => engine.reports.events(params.run, query),
  getCost: async ({ engine, params, query }) => engine.reports.costs({ run: params.run, ...query }),
  listCosts: async ({ engine, query }) => engine.reports.costs(query),
  validateRun: async ({ engine, params }) => engine.checkpoints.validate(params.run),

  async listCheckpoints({ engine, params, query }) {
    return { checkpoints: await engine.checkpoints.list(params.run, query) };
  },

  getCheckpoint: async ({ engine, params }) => engine.checkpoints.show(`${params.run}@${params.at}`),

  async readState({ engine, params, body: { reason }, act: { actor } }) {
    const shown = await engine.checkpoints.reveal(`${params.run}@${params.at}`, { actor, reason });
    const values = JSON.parse(encode(shown)) as typeof shown;
    return { result: null, ...values };
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
    return JSON.parse(encode(await engine.replay(`${params.run}@${params.at}`))) as unknown;
  },

  async getGate({ engine, params, query }) {
    const gate = (await engine.gates(params.run)).find((one) => one.gate === query.gate);
    if (gate) return JSON.parse(encode(gate)) as typeof gate;
    const why = "It was not opened yet, was answered, or there is none of this name.";
    throw new HoldfastError("HF-1013", { run: params.run, gate: query.gate, why });
  },
};

type Listing = Call<"listRuns">;

/** The most rows that one request looks at to find those that need a person. */
const MOST_ROWS = 2_000;

async function listed({ engine, store, query, principal }: Listing) {
  const { needsYou, label = [], ...plain } = query;
  const labels = Object.fromEntries(label.map((text) => text.split(/=(.*)/s).slice(0, 2)));
  const rest = label.length === 0 ? plain : { ...plain, labels };
  const now = await store.now();
  const scope = principal.scope ?? null;
  const unended = ["queued", "running", "waiting", "failed"] as const;
  const filters = needsYou && !rest.status ? { ...rest, status: unended } : rest;
  const runs: ApiRunItem[] = [];
  let { cursor } = filters as { readonly cursor?: string | null };
  for (let rows = 0; rows < MOST_ROWS; ) {
    const page = await engine.list({ ...filters, ...(cursor ? { cursor } : {}) });
    for (const run of page.runs) {
      const item = itemOf(run, now);
      if (!inScope(scope, run) || (needsYou !== undefined && item.needsYou !== needsYou)) continue;
      runs.push(item);
      if (runs.length < query.limit) continue;
      const isLast = run === page.runs.at(-1);
      return { runs, cursor: isLast ? page.cursor : cursorAfter({ ...run, head: "" }) };
    }
    rows += page.runs.length;
    cursor = page.cursor;
    if (cursor === null) break;
    if (needsYou === undefined && scope === null) break;
  }
  return { runs, cursor: cursor ?? null };
}

/** Two checkpoints of runs that the caller may see. `before` is called with each run before its values are read. */
async function differ(
  call: Pick<Call<"diff">, "engine" | "principal">,
  from: string,
  to: string,
  before: (run: string) => Promise<void> = async () => undefined,
): Promise<CheckpointDiff> {
  const runs = new Set([from, to].map((address) => parseAddress(address).runId));
  const { checkpoints } = call.engine;
  for (const run of runs) await readRun(call, run);
  // Found before the readings are recorded, which move a run's newest position.
  const places = [await checkpoints.find(from), await checkpoints.find(to)] as const;
  for (const run of runs) await before(run);
  return checkpoints.diff(...places);
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
