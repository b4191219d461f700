import { isRecord } from "../core/check-options.ts";
import type { Context, Workflow } from "../core/context.ts";
import { defined } from "../core/defined.ts";
import { digest } from "../core/hash.ts";
import type { Budget } from "../core/types.ts";
import { workflow } from "../core/workflow.ts";
import type { Flow } from "./flow.ts";
import { parseInputs } from "./inputs.ts";
import { runFlow } from "./run/flow.ts";
import { type Machine, metaOf } from "./run/machine.ts";
import { FlowState } from "./run/state.ts";
import { scheduleOptions } from "./schema/schedule.ts";
import { startDefaults } from "./schema/start.ts";
import { DEFINITION_KEY, type Definition } from "./source.ts";
import { render } from "./template/template.ts";

/** The inputs of a workflow, by name. */
export type Inputs = Readonly<Record<string, unknown>>;

/** The digest that identifies a definition: it covers the contents of the files, not their location. */
export function definitionDigest({ main, files, instructions, provider }: Definition): string {
  const sorted = Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1));
  const given = instructions || provider ? [instructions ?? [], provider ?? ""] : [];
  return digest(JSON.stringify([main, sorted, ...given]));
}

/**
 * Compiles a workflow file to a workflow of the engine. Its version combines the file's own with a digest of everything
 * the file consists of, so a run only continues automatically with what it was started with.
 */
export function compile(flow: Flow, machine: Machine, definition: Definition): Workflow<Inputs, Inputs> {
  const { name, version = "1", input, checkpoint, schedule: given } = flow.spec.workflow;
  const budget = budgetOf(flow);
  const schedule = given && scheduleOptions(given);
  const compiled = workflow(
    name,
    {
      version: `${version}+${definitionDigest(definition).slice(0, 12)}`,
      compensateOnFailure: checkpoint.on_failure === "rollback",
      ...defined({ budget, schedule }),
    },
    async (ctx: Context, given: Inputs): Promise<Inputs> => {
      ctx.memory.set(DEFINITION_KEY, definition);
      return runFlow({
        ctx,
        flow,
        machine,
        state: new FlowState(parseInputs(input, given ?? {}), metaOf(flow, machine)),
        depth: 0,
        instructions: [...(definition.instructions ?? []), ...flow.instructions],
        ledger: { costUsd: 0, told: false },
        sessions: new Map(),
        enter: runFlow,
      });
    },
  );
  return { ...compiled, ...defined({ starts: startsOf(flow, machine) }) };
}

/** How a run starts, by its inputs. */
function startsOf(flow: Flow, machine: Machine): Workflow["starts"] {
  const { input, start } = flow.spec.workflow;
  if (!start) return undefined;
  return (given) => {
    const inputs = parseInputs(input, isRecord(given) ? given : {});
    const data = new FlowState(inputs, metaOf(flow, machine)).all();
    const key = start.key ? render(start.key, data, "workflow.start.key").trim() : undefined;
    return startDefaults(start, key);
  };
}

/**
 * Limits the time that workers spend on a run, and its cost if the file enforces one. Reaching either limit makes the
 * run wait.
 */
function budgetOf({
  spec: {
    workflow: { limits },
  },
}: Flow): Budget | undefined {
  const { timeout_seconds: seconds, budget_usd: usd, budget_mode: mode } = limits;
  const budget: Budget = {
    ...(typeof seconds === "number" ? { wallMs: seconds * 1_000 } : {}),
    ...(typeof usd === "number" && mode === "enforce" ? { costUsd: usd } : {}),
  };
  return Object.keys(budget).length > 0 ? budget : undefined;
}
