import { defined } from "../core/defined.ts";
import type { AnyAgent, ForEach, Parallel, Route } from "./schema/agents.ts";
import type { WorkflowFile } from "./schema/workflow.ts";

export const END = "$end";

/** A node of the workflow: an agent, or a group of agents. */
export type Unit =
  | { readonly kind: "agent"; readonly name: string; readonly agent: AnyAgent }
  | { readonly kind: "parallel"; readonly name: string; readonly group: Parallel }
  | { readonly kind: "for_each"; readonly name: string; readonly group: ForEach };

/** Every unit by name, including members of groups, because a route may lead to them as well. */
export function unitsOf(spec: WorkflowFile): ReadonlyMap<string, Unit> {
  const units = new Map<string, Unit>();
  for (const agent of spec.agents) units.set(agent.name, { kind: "agent", name: agent.name, agent });
  for (const group of spec.parallel) units.set(group.name, { kind: "parallel", name: group.name, group });
  for (const group of spec.for_each) units.set(group.name, { kind: "for_each", name: group.name, group });
  return units;
}

export function routesOf(unit: Unit): readonly Route[] {
  if (unit.kind !== "agent") return unit.group.routes;
  return unit.agent.type === "terminate" ? [] : unit.agent.routes;
}

/** The units that a unit may lead to. A unit without routes leads to the end. */
export function targetsOf(unit: Unit): readonly string[] {
  if (unit.kind === "agent") {
    const { agent } = unit;
    if (agent.type === "human_gate") return [...new Set(agent.options.map(({ route }) => route))];
    if (agent.type === "questions" && agent.allow_abort)
      return [...new Set([...targets(routesOf(unit)), agent.abort_route ?? END])];
  }
  return targets(routesOf(unit));
}

const targets = (routes: readonly Route[]): string[] =>
  routes.length === 0 ? [END] : [...new Set(routes.map(({ to }) => to))];

/** All units reachable from a unit, including itself. */
export function reachableFrom(units: ReadonlyMap<string, Unit>, start: string): Set<string> {
  const seen = new Set<string>();
  const open = [start];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const unit = units.get(name);
    if (seen.has(name) || !unit) continue;
    seen.add(name);
    if (unit.kind === "parallel") for (const member of unit.group.agents) seen.add(member);
    open.push(...targetsOf(unit));
  }
  return seen;
}

function push(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

const isLast = (unit: Unit): boolean =>
  targetsOf(unit).includes(END) || (unit.kind === "agent" && unit.agent.type === "terminate");

/** The units from which the end can be reached, computed backwards from the end in one pass. */
export function endingUnits(units: ReadonlyMap<string, Unit>): ReadonlySet<string> {
  const before = new Map<string, string[]>();
  const open: string[] = [];
  for (const unit of units.values()) {
    if (isLast(unit)) open.push(unit.name);
    for (const to of targetsOf(unit)) push(before, to, unit.name);
  }
  const ending = new Set<string>();
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (ending.has(name)) continue;
    ending.add(name);
    open.push(...(before.get(name) ?? []));
  }
  return ending;
}

/** The shortest path from a unit to the end, without either: the best guess of what will run. */
export function shortestWay(units: ReadonlyMap<string, Unit>, start: string): readonly string[] {
  const cameFrom = new Map<string, string | undefined>([[start, undefined]]);
  // The loop also visits names that are added during it.
  for (const name of cameFrom.keys()) {
    const unit = units.get(name);
    if (!unit) continue;
    if (isLast(unit)) return wayTo(name, cameFrom);
    for (const next of targetsOf(unit)) if (!cameFrom.has(next)) cameFrom.set(next, name);
  }
  return [start];
}

function wayTo(end: string, cameFrom: ReadonlyMap<string, string | undefined>): string[] {
  const way: string[] = [];
  for (let name: string | undefined = end; name !== undefined; name = cameFrom.get(name)) way.push(name);
  return way.reverse();
}

/** A workflow as nodes and edges, for drawing. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** An agent or a group in the graph of a workflow. */
export interface GraphNode {
  readonly id: string;
  readonly type: string;
  readonly description?: string;
  /** The group that it belongs to. */
  readonly group?: string;
}

/** A way from one agent or group to the next. */
export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly when?: string;
}

export function graphOf(spec: WorkflowFile): Graph {
  const units = unitsOf(spec);
  const groups = new Map(
    spec.parallel.flatMap(({ name, agents }) => agents.map((one) => [one, name] as const)),
  );
  const nodes = [...units.values()].map((unit): GraphNode => {
    const { description } = unit.kind === "agent" ? unit.agent : unit.group;
    const group = groups.get(unit.name);
    return {
      id: unit.name,
      type: unit.kind === "agent" ? unit.agent.type : unit.kind,
      ...(description ? { description } : {}),
      ...defined({ group }),
    };
  });
  const edges = [...units.values()].filter(({ name }) => !groups.has(name)).flatMap((unit) => edgesOf(unit));
  return { nodes: [...nodes, { id: END, type: "end" }], edges };
}

function edgesOf(unit: Unit): GraphEdge[] {
  const from = unit.name;
  if (unit.kind === "agent" && unit.agent.type === "terminate") return [];
  if (unit.kind === "agent" && unit.agent.type === "human_gate")
    return unit.agent.options.map(({ label, route }) => ({ from, to: route, when: label }));
  const routes = routesOf(unit);
  if (routes.length === 0) return [{ from, to: END }];
  return routes.map(({ to, when }) => ({ from, to, ...(when ? { when } : {}) }));
}
