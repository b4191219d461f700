/** The workflow that runs of an `AgentCheckpointer` belong to. No worker advances them. */
export const CHECKPOINTER = "agent-checkpointer";

/** The workflow whose runs keep the checkpoints of DAGs that were saved by hand, a run for each workflow id. */
export const BY_HAND = "dag-checkpoints";

/** True for runs that a program saves state by state: there is no code that could continue them. */
export const isSavedByProgram = (workflow: string): boolean =>
  workflow === CHECKPOINTER || workflow === BY_HAND;
