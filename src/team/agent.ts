import { checkFunction, checkKeys, isRecord } from "../core/check-options.ts";
import type { Context, StepOptions } from "../core/context.ts";
import { HoldfastError } from "../core/errors.ts";
import { checkMigrations, type Migration } from "../core/migration.ts";
import { checkName, nameProblem } from "../core/names.ts";
import type { Effect } from "../core/types.ts";
import type { UsageReport } from "../core/usage.ts";
import type { WorkingMemory } from "./memory.ts";
import type { AgentMigration } from "./migrate.ts";

/** The results of an agent's subtasks, by name. */
export type Results = Record<string, unknown>;

/** Who works, and on what. */
export interface AgentIdentity {
  /** The id of the agent's own run. */
  readonly id: string;
  readonly type: string;
  readonly version: string;
  readonly analysis_id: string;
  /** What the analysis is about. */
  readonly stock_ticker: string;
}

/** What an agent says about itself. */
export interface AgentReport {
  /** From 0 to 1. */
  readonly confidence?: number;
  /** What keeps it from doing better; an empty list when nothing does any more. */
  readonly blockers?: readonly string[];
  /** Where its output is, such as a path. */
  readonly output_ref?: string;
}

/** What a subtask's function gets. */
export interface SubtaskCall<I = unknown, R extends Results = Results> {
  readonly memory: WorkingMemory;
  /** The deliverables of the subtasks before this one. */
  readonly results: Readonly<Partial<R>>;
  readonly config: Readonly<Record<string, unknown>>;
  readonly input: I;
  readonly agent: AgentIdentity;
  /** The results of the agents that this one `needs`, by type. */
  readonly team: Readonly<Record<string, Results>>;
  /** The idempotency key: the same on every attempt, on every machine, after every crash. */
  readonly key: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** For steps inside a `repeatable` subtask: each is saved, and none is a checkpoint of the agent. */
  readonly ctx: Context;
  /** Reports confidence, blockers and outputs. It counts when the subtask ends. */
  readonly report: (report: AgentReport) => void;
  /** Adds tokens and cost. */
  readonly usage: (usage: UsageReport) => void;
}

/** A unit of an agent's work that ends with a storable deliverable, and so with a checkpoint. */
export interface Subtask<
  I = unknown,
  R extends Results = Results,
  N extends keyof R & string = keyof R & string,
> extends Pick<StepOptions, "retry" | "timeoutMs" | "keyWindowMs"> {
  readonly name: N;
  /** What it produces. */
  readonly deliverable: string;
  /** The store that the deliverable lands in. */
  readonly target: string;
  run(call: SubtaskCall<I, R>): R[N] | Promise<R[N]>;
  /** What may happen when the outcome is unknown after a crash. Default `repeatable`. */
  readonly effect?: Effect;
  /** False when the deliverable isn't complete: then there is no checkpoint. */
  isComplete?(deliverable: R[N]): boolean;
}

type SubtaskOf<I, R extends Results> = { [N in keyof R & string]: Subtask<I, R, N> }[keyof R & string];

/** Options of `defineAgent`. */
export interface AgentOptions<I = unknown, R extends Results = Results> {
  readonly type: string;
  /** Raise it when the code changes. */
  readonly version: string;
  readonly subtasks: readonly SubtaskOf<I, R>[];
  /** How checkpoints of earlier versions become those of this one. */
  readonly migrations?: readonly AgentMigration[];
  /** What the working memory holds at the start. */
  readonly memory?: Readonly<Record<string, unknown>>;
  readonly config?: Readonly<Record<string, unknown>>;
  /** Types of agents in earlier stages whose results it gets. */
  readonly needs?: readonly string[];
}

/** An agent with subtasks. */
export interface Agent<I = unknown, R extends Results = Results> {
  readonly type: string;
  readonly version: string;
  readonly subtasks: readonly Subtask<I, R>[];
  readonly migrations: readonly AgentMigration[];
  readonly memory: Readonly<Record<string, unknown>>;
  readonly config: Readonly<Record<string, unknown>>;
  readonly needs: readonly string[];
}

const KEYS = ["type", "version", "subtasks", "migrations", "memory", "config", "needs"];
const SUBTASK_KEYS = [
  "name",
  "deliverable",
  "target",
  "run",
  "effect",
  "retry",
  "timeoutMs",
  "keyWindowMs",
  "isComplete",
];
const EFFECTS: readonly unknown[] = [undefined, "repeatable", "keyed", "once"];

/**
 * Defines an agent: a list of subtasks, each of which ends with a deliverable and a checkpoint.
 *
 * @example
 * ```ts
 * import { defineAgent } from "holdfast/team";
 *
 * export const analyst = defineAgent({
 *   type: "financial_analyst",
 *   version: "1.0",
 *   subtasks: [
 *     {
 *       name: "10k_parsing",
 *       deliverable: "financial_statements_json",
 *       target: "PostgreSQL",
 *       run: async ({ memory, agent }) => {
 *         memory.set("filings_read", 1);
 *         return { ticker: agent.stock_ticker, revenue: 383 };
 *       },
 *     },
 *   ],
 * });
 * ```
 */
export function defineAgent<I = unknown, R extends Results = Results>(
  options: AgentOptions<I, R>,
): Agent<I, R> {
  if (!isRecord(options)) throw invalid("(without a type)", "it must be an object");
  const agent = typeof options.type === "string" ? options.type : "(without a type)";
  checkKeys(options, KEYS, "agent");
  checkLength(agent, "its type", options.type, 50);
  checkName(options.type);
  checkLength(agent, "its version", options.version, 20);
  checkSubtasks(agent, options.subtasks);
  for (const key of ["memory", "config"] as const)
    if (options[key] !== undefined && !isRecord(options[key]))
      throw invalid(agent, `its ${key} must be an object`);
  const { migrations = [], memory = {}, config = {}, needs = [] } = options;
  if (!Array.isArray(needs) || needs.some((one) => typeof one !== "string"))
    throw invalid(agent, "its needs must be a list of agent types");
  checkMigrations(migrations as readonly Migration[]);
  const subtasks = options.subtasks as readonly Subtask<I, R>[];
  return { type: options.type, version: options.version, subtasks, migrations, memory, config, needs };
}

const invalid = (agent: string, problem: string): HoldfastError =>
  new HoldfastError("HF-4520", { agent: agent.slice(0, 80), problem });

function checkLength(agent: string, what: string, value: unknown, most: number): void {
  const problem = nameProblem(value, most);
  if (problem !== undefined) throw invalid(agent, `${what}: ${problem}`);
}

function checkSubtasks(agent: string, subtasks: unknown): void {
  if (!Array.isArray(subtasks) || subtasks.length === 0)
    throw invalid(agent, "it must have a list of at least one subtask");
  const seen = new Set<string>();
  for (const [index, subtask] of subtasks.entries()) {
    if (!isRecord(subtask)) throw invalid(agent, `subtask ${index + 1} is not an object`);
    checkKeys(subtask, SUBTASK_KEYS, `subtasks[${index}]`);
    const { name, deliverable, target, run, effect } = subtask;
    checkLength(agent, `the name of subtask ${index + 1}`, name, 100);
    checkName(name);
    if (seen.has(name)) throw invalid(agent, `subtask ${name} is there twice`);
    seen.add(name);
    checkLength(agent, `the deliverable of subtask ${name}`, deliverable, 200);
    checkLength(agent, `the target of subtask ${name}`, target, 200);
    checkFunction(`subtasks[${index}].run`, run);
    if (!EFFECTS.includes(effect))
      throw invalid(agent, `the effect of ${name} must be repeatable, keyed or once`);
  }
}
