import { HoldfastError } from "../core/errors.ts";
import { checkName } from "../core/names.ts";
import { didYouMean } from "../core/nearest.ts";
import { blockSettings, checkpointSettings } from "./checkpoint.ts";
import { WAIT_RULE, waitMs } from "./duration.ts";
import { END, endingUnits, reachableFrom, type Unit, unitsOf } from "./graph.ts";
import type { Path, Problems } from "./problems.ts";
import { checkReferences } from "./references.ts";
import type { AnyAgent } from "./schema/agents.ts";
import type { WorkflowFile } from "./schema/workflow.ts";
import { isTemplate } from "./template/template.ts";

/** Checks what a schema can't express: names must exist, routes must lead somewhere, templates must make sense. */
export function validate(spec: WorkflowFile, problems: Problems): void {
  const units = unitsOf(spec);
  checkNames(spec, problems);
  checkTargets(spec, units, problems);
  checkGroups(spec, problems);
  if (units.has(spec.workflow.entry_point)) checkWays(spec, units, problems);
  for (const [path, agent] of eachAgent(spec)) checkAgent(agent, path, spec, problems);
  checkSettings(spec, problems);
  warnPoints(spec, problems);
  checkReferences(spec, units, problems);
}

/** Every agent with its path in the document, including those inside for_each groups. */
export function* eachAgent(spec: WorkflowFile): Generator<readonly [Path, AnyAgent]> {
  for (const [index, agent] of spec.agents.entries()) yield [["agents", index], agent];
  for (const [index, { agent }] of spec.for_each.entries()) yield [["for_each", index, "agent"], agent];
}

function* eachUnit(spec: WorkflowFile): Generator<readonly [Path, { readonly name: string }]> {
  for (const key of ["agents", "parallel", "for_each"] as const)
    for (const [index, unit] of spec[key].entries()) yield [[key, index], unit];
}

function checkNames(spec: WorkflowFile, problems: Problems): void {
  const seen = new Set<string>();
  for (const [path, { name }] of eachUnit(spec)) {
    if (seen.has(name)) problems.error([...path, "name"], `There are two of the name ${name}.`);
    seen.add(name);
    checkStepName(name, [...path, "name"], problems);
    if (["workflow", "context", "output"].includes(name))
      problems.error([...path, "name"], `The name ${name} means something else in templates.`);
  }
  checkStepName(spec.workflow.name, ["workflow", "name"], problems);
}

function checkStepName(name: string, path: Path, problems: Problems): void {
  try {
    checkName(name);
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    problems.error(path, `${error.message} ${error.why}`);
  }
}

function checkTargets(spec: WorkflowFile, units: ReadonlyMap<string, Unit>, problems: Problems): void {
  const known = new Set([...units.keys(), END]);
  const check = (to: string, path: Path): void => {
    if (!known.has(to)) problems.error(path, `There is no agent or group ${to}.${didYouMean(to, known)}`);
  };
  if (!units.has(spec.workflow.entry_point)) check(spec.workflow.entry_point, ["workflow", "entry_point"]);
  for (const [path, given] of eachUnit(spec)) {
    const unit = units.get(given.name);
    const routes = "routes" in given ? (given as { routes: readonly { to: string }[] }).routes : [];
    for (const [index, { to }] of routes.entries()) check(to, [...path, "routes", index, "to"]);
    if (unit?.kind !== "agent") continue;
    const { agent } = unit;
    if (agent.type === "human_gate")
      for (const [index, { route }] of agent.options.entries())
        check(route, [...path, "options", index, "route"]);
    if (agent.type === "questions" && agent.abort_route) check(agent.abort_route, [...path, "abort_route"]);
  }
}

/** The types that may run in parallel: those that neither ask a person nor leave the workflow. */
const IN_PARALLEL = ["agent", "set"];
const IN_FOR_EACH = ["agent", "set", "workflow"];

function checkGroups(spec: WorkflowFile, problems: Problems): void {
  const agents = new Map(spec.agents.map((agent) => [agent.name, agent]));
  for (const [index, group] of spec.parallel.entries()) {
    const seen = new Set<string>();
    for (const [place, name] of group.agents.entries()) {
      const path = ["parallel", index, "agents", place];
      const agent = agents.get(name);
      if (!agent) problems.error(path, `There is no agent ${name}.${didYouMean(name, agents.keys())}`);
      else if (!IN_PARALLEL.includes(agent.type))
        problems.error(
          path,
          `${name} is of type ${agent.type}; in a parallel group there may be ${IN_PARALLEL.join(" and ")}.`,
        );
      else if ("routes" in agent && agent.routes.length > 0)
        problems.error(path, `${name} is a member of ${group.name} and cannot have routes of its own.`);
      if (agent) checkAlone(agent, path, problems);
      if (seen.has(name)) problems.error(path, `${name} is in ${group.name} twice.`);
      seen.add(name);
    }
  }
  for (const [index, { agent }] of spec.for_each.entries()) {
    const path = ["for_each", index, "agent"];
    checkAlone(agent, path, problems);
    if (!IN_FOR_EACH.includes(agent.type))
      problems.error(
        [...path, "type"],
        `In a for_each group there may be ${IN_FOR_EACH.join(", ")}; not ${agent.type}.`,
      );
    else if ("routes" in agent && agent.routes.length > 0)
      problems.error([...path, "routes"], "Inside a for_each group an agent has no routes; the group has.");
  }
}

/** Refuses settings that depend on an order of steps, or on a person. */
function checkAlone(agent: AnyAgent, path: Path, problems: Problems): void {
  if (agent.type !== "agent") return;
  for (const key of ["session_key", "dialog"] as const)
    if (agent[key])
      problems.error(path, `${agent.name} has ${key}, which is only for agents outside of groups.`);
}

function checkWays(spec: WorkflowFile, units: ReadonlyMap<string, Unit>, problems: Problems): void {
  const reached = reachableFrom(units, spec.workflow.entry_point);
  for (const [path, { name }] of eachUnit(spec))
    if (!reached.has(name)) problems.warning([...path, "name"], `Nothing leads to ${name}.`);
  const ending = endingUnits(units);
  for (const [path, { name }] of eachUnit(spec)) {
    if (!reached.has(name) || ending.has(name)) continue;
    const limit = spec.workflow.limits.max_iterations;
    problems.warning(
      [...path, "name"],
      `From ${name} no way leads to ${END}: only max_iterations (${limit}) ends it.`,
    );
  }
}

function checkAgent(agent: AnyAgent, path: Path, spec: WorkflowFile, problems: Problems): void {
  if ("output" in agent && agent.output)
    for (const [name, field] of Object.entries(agent.output))
      if (!field.required)
        problems.error(
          [...path, "output", name, "required"],
          "A field at the top of output cannot be optional; nullable: true allows null.",
        );
  switch (agent.type) {
    case "agent":
      return checkModelAgent(agent, path, spec, problems);
    case "wait":
      if (!isTemplate(String(agent.duration)) && waitMs(agent.duration) === undefined)
        problems.error([...path, "duration"], `duration must be ${WAIT_RULE}.`);
      return;
    case "human_gate":
      if (agent.routes.length > 0)
        problems.warning(
          [...path, "routes"],
          "A human_gate goes where the chosen option says; these routes are not used.",
        );
      if (new Set(agent.options.map(({ value }) => value)).size < agent.options.length)
        problems.error([...path, "options"], "Two options have the same value.");
      return;
    case "workflow":
      if (typeof agent.workflow === "string" && /[@#]/.test(agent.workflow))
        problems.error(
          [...path, "workflow"],
          `${agent.workflow} is not supported: workflows come from files, not from a registry.`,
        );
      return;
    default:
      return;
  }
}

function checkModelAgent(
  agent: AnyAgent & { type: "agent" },
  path: Path,
  spec: WorkflowFile,
  problems: Problems,
): void {
  const { runtime } = spec.workflow;
  if (agent.prompt.trim() === "") problems.error([...path, "prompt"], `${agent.name} has no prompt.`);
  if (agent.retry && new Set(agent.retry.retry_on).size < 2)
    problems.error(
      [...path, "retry", "retry_on"],
      "retry_on with only some of the categories is not supported: what can pass is tried again.",
    );
  if (agent.working_dir && Object.keys(runtime.mcp_servers).length === 0)
    problems.warning(
      [...path, "working_dir"],
      "working_dir is where MCP servers are started, and there are none.",
    );
  warnEffort(agent.reasoning?.effort, [...path, "reasoning", "effort"], problems);
  if (Object.keys(runtime.mcp_servers).length > 0) return;
  for (const [index, tool] of (agent.tools ?? []).entries())
    if (!spec.tools.includes(tool))
      problems.error(
        [...path, "tools", index],
        `There is no tool ${tool} in tools.${didYouMean(tool, spec.tools)}`,
      );
}

function warnEffort(effort: string | null | undefined, path: Path, problems: Problems): void {
  if (effort === "xhigh" || effort === "max")
    problems.warning(path, `${effort} is asked for as high: providers are asked for low, medium or high.`);
}

/** Members of a group end with it: a point of theirs would never be reached inside it. */
function warnPoints({ agents, parallel, for_each: loops }: WorkflowFile, problems: Problems): void {
  const members = new Set(parallel.flatMap((group) => group.agents));
  const told = "A member of a group marks no checkpoint of its own there; give the group one.";
  for (const [index, { name, checkpoint }] of agents.entries())
    if (checkpoint && members.has(name)) problems.warning(["agents", index, "checkpoint"], told);
  for (const [index, { agent }] of loops.entries())
    if (agent.checkpoint) problems.warning(["for_each", index, "agent", "checkpoint"], told);
}

function checkSettings(file: WorkflowFile, problems: Problems): void {
  const { runtime, cost, checkpoint } = file.workflow;
  for (const note of blockSettings(file).notes) problems.warning(["performance_config"], note);
  warnEffort(runtime.default_reasoning_effort, ["workflow", "runtime", "default_reasoning_effort"], problems);
  if (runtime.tool_output?.spill_to_file)
    problems.warning(
      ["workflow", "runtime", "tool_output", "spill_to_file"],
      "What is cut off a tool's result is left out; it is not written to a file.",
    );
  for (const [model, price] of Object.entries(cost.pricing))
    if (price.cache_read_per_mtok + price.cache_write_per_mtok > 0)
      problems.warning(
        ["workflow", "cost", "pricing", model],
        "Cached tokens are counted like others: providers do not tell them apart.",
      );
  if (runtime.checkpoint?.every_seconds)
    problems.warning(
      ["workflow", "runtime", "checkpoint", "every_seconds"],
      "Every step is saved when it ends, which is more often than this asks for.",
    );
  if (!checkpointSettings(file).saving)
    problems.warning(
      checkpoint.enabled === false ? ["workflow", "checkpoint", "enabled"] : ["checkpoint_config", "enabled"],
      "Runs are not saved: after a crash, they are gone.",
    );
}
