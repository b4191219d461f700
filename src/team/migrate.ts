import { isRecord } from "../core/check-options.ts";
import { HoldfastError } from "../core/errors.ts";
import { type Migration, shortestWay } from "../core/migration.ts";
import { platform } from "../core/platform.ts";
import type { Edits, StateView } from "../core/types.ts";

/** What a migration of checkpoints sees and returns. Fields that it adds are kept in every later checkpoint. */
export interface AgentCheckpointState {
  readonly completed_subtasks: readonly string[];
  readonly working_memory: Readonly<Record<string, unknown>>;
  readonly interim_results: Readonly<Record<string, unknown>>;
  readonly agent_version: string;
  readonly [more: string]: unknown;
}

/**
 * How a checkpoint of one version of an agent becomes one of another. `rename`, `drop` and `add` are about subtasks;
 * `checkpoint` changes their results and the working memory.
 */
export interface AgentMigration extends Omit<Migration, "state"> {
  readonly checkpoint?: (checkpoint: AgentCheckpointState) => AgentCheckpointState;
}

/** The memory key that holds what a migration returned. */
export const MIGRATED = "holdfast.migrated";
/** The memory key that holds the subtasks that the run began with. */
export const SUBTASKS = "holdfast.subtasks";

/** How the agent's state at a position becomes a checkpoint of S0's shape. */
export type ReadState = (view: StateView, version: string) => AgentCheckpointState;

/** The migrations as the engine takes them. */
export function engineMigrations(
  migrations: readonly AgentMigration[],
  read: ReadState,
): readonly Migration[] {
  return migrations.map(({ checkpoint, ...migration }) => {
    if (!checkpoint) return migration;
    const state = (view: StateView): Edits => {
      const before = read(view, migration.from);
      const migrated = checkpoint(platform().clone(before));
      if (!isRecord(migrated)) {
        const why = "A migration returns the checkpoint that it was given, with its changes.";
        const agent = `the migration from ${migration.from} to ${migration.to}`;
        throw new HoldfastError("HF-4534", { agent, problem: "it returned no checkpoint", why });
      }
      return { memory: { [MIGRATED]: { ...migrated, agent_version: migration.to } } };
    };
    return { ...migration, state };
  });
}

/** The list of subtasks that a run began with. */
export interface Recorded {
  readonly version: string;
  readonly subtasks: readonly string[];
}

/** Throws HF-4524 when the subtasks have changed in a way that no migration explains. */
export function checkSubtaskList(
  agent: { readonly type: string; readonly version: string; readonly migrations: readonly AgentMigration[] },
  recorded: Recorded,
  now: readonly string[],
): void {
  const way = shortestWay(agent.migrations, recorded.version, agent.version) ?? [];
  const expected = way.reduce<readonly string[]>(
    (names, { rename = {}, drop = [] }) =>
      names.filter((name) => !drop.includes(name)).map((name) => rename[name] ?? name),
    recorded.subtasks,
  );
  const gone = expected.filter((name) => !now.includes(name));
  const isSame = recorded.version === agent.version;
  const added = isSame ? now.filter((name) => !expected.includes(name)) : [];
  const kept = now.filter((name) => expected.includes(name));
  const isMoved = gone.length === 0 && kept.join("\n") !== expected.join("\n");
  if (gone.length === 0 && added.length === 0 && !isMoved) return;
  const changes = [
    ...(gone.length > 0 ? [`${gone.join(", ")} removed`] : []),
    ...(added.length > 0 ? [`${added.join(", ")} added`] : []),
    ...(isMoved ? [`the order was ${expected.join(", ")} and is ${kept.join(", ")}`] : []),
  ].join("; ");
  const why = isSame
    ? `The version of the agent is ${agent.version} in both cases.`
    : `No migration from ${recorded.version} to ${agent.version} says what becomes of them.`;
  throw new HoldfastError("HF-4524", { agent: agent.type, changes, why });
}
