import type { Settled } from "../../core/context.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { AgentOf, AnyAgent, ForEach, Parallel } from "../schema/agents.ts";
import { isPlain, type Plain, text } from "../template/value.ts";
import { runModelAgent } from "./agent.ts";
import { setValue } from "./local.ts";
import type { FlowRun } from "./machine.ts";
import { listAt } from "./source-list.ts";
import { follow } from "./state.ts";
import { runSub, seenBy } from "./step.ts";

interface MemberError {
  readonly exception_type: string;
  readonly message: string;
  readonly suggestion: string | null;
}

/** Members of a group see the state from before the group. */
async function runMember(run: FlowRun, agent: AnyAgent, data: Plain): Promise<unknown> {
  if (agent.type === "agent") return runModelAgent(run, agent, data);
  if (agent.type === "workflow") return runSub(run, agent, data);
  return setValue(agent as AgentOf<"set">, data);
}

/** Runs agents in parallel and saves each when it ends. */
export async function runParallel(run: FlowRun, group: Parallel): Promise<Plain> {
  const agents = new Map(run.flow.spec.agents.map((agent) => [agent.name, agent]));
  const branches = Object.fromEntries(
    group.agents.map((name) => {
      const agent = agents.get(name) as AnyAgent;
      const data = seenBy(run, agent);
      return [name, () => runMember(run, agent, data)];
    }),
  );
  const mode = group.failure_mode;
  const results: Record<string, Settled<unknown>> = mode === "fail_fast"
    ? succeeded(await run.ctx.all(group.name, branches, { retry: false }))
    : await run.ctx.all(group.name, branches, { failure: "continue", retry: false });
  const { outputs, errors } = sorted(group.name, mode, Object.entries(results));
  return {
    type: "parallel",
    outputs: Object.fromEntries(outputs),
    errors: Object.fromEntries(errors.map(([name, error]) => [name, { agent_name: name, ...error }])),
  };
}

const succeeded = (results: Readonly<Record<string, unknown>>): Record<string, Settled<unknown>> =>
  Object.fromEntries(Object.entries(results).map(([name, value]) => [name, { ok: true, value }]));

/** Runs one agent per item of a list, with limited concurrency, and saves each when it ends. */
export async function runForEach(run: FlowRun, group: ForEach): Promise<Plain & { readonly count: number }> {
  const items = listAt(run, group.source, group.name);
  const keys = keysOf(group, items);
  const seen = seenBy(run, group.agent);
  const work = (item: unknown, index: number) => {
    const data = { ...seen, [group.as]: item, _index: index, ...(group.key_by ? { _key: keys[index] } : {}) };
    return runMember(run, group.agent, data);
  };
  const options = { concurrency: group.max_concurrent, retry: false } as const;
  const mode = group.failure_mode;
  const results: Settled<unknown>[] =
    mode === "fail_fast"
      ? (await run.ctx.each(group.name, items, work, options)).map((value) => ({ ok: true, value }))
      : await run.ctx.each(group.name, items, work, { ...options, failure: "continue" });
  const entries = results.map((result, index) => [keys[index] as string, result] as const);
  const { outputs, errors } = sorted(group.name, mode, entries);
  return {
    type: "for_each",
    outputs: group.key_by ? Object.fromEntries(outputs) : outputs.map(([, output]) => output),
    errors: Object.fromEntries(errors.map(([key, error]) => [key, { item_key: key, ...error }])),
    count: items.length,
  };
}

/** Outputs are stored by these keys, so they must be unique (HF-4030). Checked before the first item starts. */
function keysOf({ name, key_by: path, as }: ForEach, items: readonly unknown[]): readonly string[] {
  if (!path) return items.map((_, index) => String(index));
  const places = new Map<string, number>();
  return items.map((item, index) => {
    const key = keyOf(item, path, as, index);
    const first = places.get(key);
    if (first !== undefined)
      throw new HoldfastError("HF-4030", { group: name, path, key, first, second: index });
    places.set(key, index);
    return key;
  });
}

/** Resolves `item.id` or just `id`, formatted as in templates; the item's index when there is no such field. */
function keyOf(item: unknown, path: string, as: string, index: number): string {
  const parts = path.split(".");
  const own = parts[0] === as && !(isPlain(item) && Object.hasOwn(item, as)) ? parts.slice(1) : parts;
  const found = follow(item, own);
  return found === undefined ? String(index) : text(found);
}

/** Separates results from errors, and fails the group when its mode requires it (HF-4010). */
function sorted(
  group: string,
  mode: Parallel["failure_mode"],
  results: readonly (readonly [string, Settled<unknown>])[],
): { outputs: [string, unknown][]; errors: [string, MemberError][] } {
  const outputs: [string, unknown][] = [];
  const errors: [string, MemberError][] = [];
  const causes: unknown[] = [];
  for (const [key, result] of results) {
    if (result.ok) outputs.push([key, result.value]);
    else {
      errors.push([key, described(result.error)]);
      causes.push(result.error);
    }
  }
  const [failed, total] = [errors.length, results.length];
  if (failed > 0 && (mode === "all_or_nothing" || failed === total)) {
    const problems = errors.map(([key, { message }]) => `${key}: ${message}`).join("; ");
    const cause = new AggregateError(causes, problems);
    throw new HoldfastError("HF-4010", { group, failed, total, mode, problems }, { cause });
  }
  return { outputs, errors };
}

function described(error: unknown): MemberError {
  if (HoldfastError.is(error))
    return { exception_type: error.code, message: error.message, suggestion: error.fix };
  if (error instanceof Error) return { exception_type: error.name, message: error.message, suggestion: null };
  return { exception_type: "Error", message: String(error), suggestion: null };
}
