import type { CancelOptions } from "../control/control.ts";
import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import { Flow } from "../flow/flow.ts";
import type { FlowDeps } from "../flow/flow-deps.ts";
import type { ScheduleDefinition } from "../flow/schedule-types.ts";
import type { StartOptions } from "../options.ts";
import { givenAnew } from "../run/given.ts";
import { isStoreFault } from "../store/faults.ts";
import type { Run } from "../types.ts";
import { checkReason } from "./arguments.ts";
import type { Linked } from "./links.ts";
import type { EngineOptions } from "./options.ts";

type Cancel = (runId: string, act: CancelOptions) => Promise<Run>;

/** The schedules, limits and queues of an engine. */
export function engineFlow(linked: Linked, options: EngineOptions, cancel: Cancel): Flow {
  const flow = new Flow(flowDeps(linked, options, cancel));
  for (const [name, limit] of Object.entries(options.rateLimits ?? {})) flow.rateLimits.declare(name, limit);
  for (const [name, queue] of Object.entries(options.queues ?? {})) flow.queues.declare(name, queue);
  return flow;
}

function flowDeps(linked: Linked, options: EngineOptions, cancel: Cancel): FlowDeps {
  const { parts, starter } = linked;
  const { store, ports, time, workflows } = parts;
  const { documents } = store;
  return {
    store,
    documents() {
      if (documents) return documents;
      throw new HoldfastError("HF-5107", { store: store.name });
    },
    hasDocuments: documents !== undefined,
    mindsSchedules: options.saving !== false && options.schedules !== false,
    clock: ports.clock,
    logger: ports.logger,
    probe: ports.probe,
    workflows,
    now: () => time.read(),
    timeNow: () => time.now(),
    newVersion: () => ports.ids.token(),
    newRunId: () => ports.ids.runId(),
    register: (workflow) => linked.register(workflow),
    checkReason: (act) => checkReason("schedule", act, options),
    async start(workflow, runId, schedule, definition, tick) {
      try {
        const given = givenAnew(workflow, definition.input, startOptions(schedule, definition, tick));
        await starter.create(workflow, runId, definition.input, null, given);
        return undefined;
      } catch (error) {
        if (!HoldfastError.is(error) || isStoreFault(error)) throw error;
        // The run exists, from before an edit of the schedule.
        const isThere = error.code === "HF-1041" || error.code === "HF-1002";
        return isThere ? undefined : error.message;
      }
    },
    async cancel(runId, reason) {
      await cancel(runId, { actor: "schedule", reason }).catch((error: unknown) => {
        // It has ended, or was deleted.
        if (!HoldfastError.is(error) || isStoreFault(error)) throw error;
      });
    },
  };
}

/** What a scheduled run is started with. Its config says which tick it belongs to, which a backfill needs. */
function startOptions(schedule: string, definition: ScheduleDefinition, tick: number): StartOptions {
  const { budget, config, name, labels, queue, key, priority } = definition;
  const of = { name: schedule, tick: new Date(tick).toISOString() };
  return {
    ...defined({ budget, name, queue, key, priority }),
    labels: { schedule, ...labels },
    config: { schedule: of, ...config },
  };
}
