import { HoldfastError } from "../../core/errors.ts";
import { END, routesOf, shortestWay, type Unit, unitsOf } from "../graph.ts";
import { typed } from "../output.ts";
import type { AgentOf } from "../schema/agents.ts";
import { render } from "../template/template.ts";
import type { Plain } from "../template/value.ts";
import { runForEach, runParallel } from "./groups.ts";
import { allowExecutions, tellBudget } from "./limits.ts";
import type { FlowRun } from "./machine.ts";
import { markPoint, markRow } from "./marks.ts";
import { chooseRoute, type Way } from "./routes.ts";
import { executeAgent } from "./step.ts";
import { trim } from "./trim.ts";

/** The outcome of a unit. `next` is set when it chose where to continue; `end` when it ends the workflow. */
interface Done {
  readonly output: unknown;
  readonly executions: number;
  readonly next?: string;
  readonly end?: { readonly output: Plain };
  /** True when it failed and the workflow continues anyway. */
  readonly failed?: true;
}

/** Runs a workflow from its entry point to an end, and returns its output. */
export async function runFlow(run: FlowRun): Promise<Plain> {
  tellHook(run, "on_start");
  try {
    const output = await goThrough(run);
    tellHook(run, "on_complete", { result: output });
    return output;
  } catch (error) {
    if (!run.ctx.abortSignal.aborted) tellHook(run, "on_error", { error: errorFacts(error) });
    throw error;
  }
}

async function goThrough(run: FlowRun): Promise<Plain> {
  const { flow, state } = run;
  const { entry_point: entry, context } = flow.spec.workflow;
  const units = unitsOf(flow.spec);
  const expect = planner(run, units);
  const limit = { most: flow.spec.workflow.limits.max_iterations };
  for (let name = entry; ; ) {
    const unit = units.get(name) as Unit;
    expect(name);
    await markRow(run, name);
    await allowExecutions(run, unit, limit);
    if (context.max_tokens) trim(state, context.max_tokens, context.trim_strategy ?? "drop_oldest");
    const done = await execute(run, unit);
    state.store(name, done.output, done.executions);
    tellBudget(run);
    await markPoint(run, unit);
    if (done.end) return ended(run, done.end.output);
    const way = wayFrom(run, unit, done);
    if (way.to === END) {
      expect(END);
      return ended(run, finalOutput(run, way.output));
    }
    name = way.to;
  }
}

async function ended(run: FlowRun, output: Plain): Promise<Plain> {
  await markRow(run, null);
  return output;
}

/** Announces the expected steps so that progress can be measured, and updates them when the path changes. */
function planner(run: FlowRun, units: ReadonlyMap<string, Unit>): (next: string) => void {
  let told = "";
  return (next) => {
    const steps = [...run.state.history, ...(next === END ? [] : shortestWay(units, next))];
    const plan = steps.join("\n");
    if (plan !== told) run.ctx.plan(steps);
    told = plan;
  };
}

function wayFrom(run: FlowRun, unit: Unit, done: Done): Way {
  if (done.next !== undefined) return { to: done.next };
  return chooseRoute(
    unit.name,
    routesOf(unit),
    { ...run.state.all(), output: done.output },
    done.failed ?? false,
  );
}

async function execute(run: FlowRun, unit: Unit): Promise<Done> {
  try {
    return await executeUnit(run, unit);
  } catch (error) {
    if (run.flow.spec.workflow.checkpoint.on_failure !== "continue" || run.ctx.abortSignal.aborted)
      throw error;
    // The workflow itself chose to end here.
    if (HoldfastError.is(error, "HF-4011") || HoldfastError.is(error, "HF-4012")) throw error;
    const facts = errorFacts(error);
    run.ctx.decide({
      agent: unit.name,
      type: "failure",
      description: `${unit.name} failed and is passed over`,
      rationale: facts.message,
    });
    return { output: { error: facts }, executions: 1, failed: true };
  }
}

async function executeUnit(run: FlowRun, unit: Unit): Promise<Done> {
  if (unit.kind === "parallel")
    return { output: await runParallel(run, unit.group), executions: unit.group.agents.length };
  if (unit.kind === "for_each") {
    const output = await runForEach(run, unit.group);
    return { output, executions: Math.max(1, output.count) };
  }
  const { agent } = unit;
  if (agent.type === "terminate") return terminate(run, agent);
  return { executions: 1, ...(await executeAgent(run, agent)) };
}

/** Ends the workflow with the outcome that the step defines. */
async function terminate(run: FlowRun, agent: AgentOf<"terminate">): Promise<Done> {
  const { ctx, state, flow } = run;
  const reason = render(
    agent.reason,
    state.seenBy(agent.input, flow.spec.workflow.context.mode, true),
    `${agent.name}.reason`,
  );
  const own = { status: agent.status, reason, terminated_by: agent.name };
  const data = { ...state.all(), [agent.name]: { output: own } };
  const output = await ctx.step(agent.name, () =>
    agent.output_template
      ? rendered(agent.output_template, data, `${agent.name}.output_template`)
      : rendered(flow.spec.output, data, "output"),
  );
  if (agent.status === "success") return { output: own, executions: 1, end: { output } };
  throw new HoldfastError("HF-4011", { step: agent.name, reason, output: JSON.stringify(output) });
}

function finalOutput(run: FlowRun, fromRoute: Plain = {}): Plain {
  const output = rendered(run.flow.spec.output, run.state.all(), "output");
  const more = Object.entries(fromRoute).map(([key, value]) => [key, typed(String(value), `output.${key}`)]);
  return { ...output, ...Object.fromEntries(more) };
}

const rendered = (templates: Readonly<Record<string, string>>, data: Plain, place: string): Plain =>
  Object.fromEntries(
    Object.entries(templates).map(([key, template]) => [
      key,
      typed(render(template, data, `${place}.${key}`), `${place}.${key}`),
    ]),
  );

function errorFacts(error: unknown): { readonly type: string; readonly message: string } {
  if (!(error instanceof Error)) return { type: "Error", message: String(error) };
  const code = HoldfastError.is(error) ? error.code : error.name;
  return { type: code, message: error.message };
}

/** Hooks are templates whose results are recorded with the run. A failing hook changes nothing. */
function tellHook(
  { ctx, flow, state }: FlowRun,
  hook: "on_start" | "on_complete" | "on_error",
  more: Plain = {},
): void {
  const template = flow.spec.workflow.hooks?.[hook];
  if (!template) return;
  let description: string;
  try {
    description = render(template, { ...state.all(), ...more }, hook);
  } catch (error) {
    description = error instanceof Error ? error.message : String(error);
  }
  ctx.decide({ type: "hook", agent: hook, description });
}
