import { entries, UNCHANGED } from "./entry.ts";

/** 4500 to 4519: checkpoints of agents that people write themselves. */
export const checkpointerErrors = entries({
  "HF-4500": {
    what: "The agent can't be saved or restored: {member} {problem}.",
    why: "A checkpoint is made from what the agent reports, so the agent needs everything that CheckpointedAgent names.",
    safe: UNCHANGED,
    fix: "Add the missing member to the agent's class.",
  },
  "HF-4501": {
    what: "Another process has saved a checkpoint of {agent} in analysis {analysis} since this process last did.",
    why: "Two processes work on the same agent, and each save builds on the last one that its process knows.",
    safe: "The other process's checkpoint is kept. This save wasn't written.",
    fix: "Stop one of the two. To continue here, restore the agent first: restoreCheckpoint({analysis}, {agent}).",
  },
  "HF-4502": {
    what: "{agent} already has checkpoints in analysis {analysis}, and this process hasn't restored them.",
    why: "A save from here would build on work that this process doesn't know.",
    safe: "The existing checkpoints are kept. This save wasn't written.",
    fix: "Restore the agent and continue from there, or delete its checkpoints to start over: cleanup({analysis}).",
  },
  "HF-4503": {
    what: "The checkpoint of {agent} has version {found}, the agent has version {version}, and no migration connects them.",
    why: "A checkpoint of another version may lack something that this version of the agent needs.",
    safe: "The checkpoint is unchanged, and no agent was restored.",
    fix: "Give AgentCheckpointer a migration from {found} to {version}, or restore with the version that saved it.",
  },
  "HF-4504": {
    what: "The migration of {agent} from {from} to {to} didn't return a checkpoint.",
    why: "A migration must return the checkpoint that it was given, with its changes.",
    safe: "The checkpoint is unchanged, and no agent was restored.",
    fix: "Return the checkpoint from the migration's function.",
  },
  "HF-4505": {
    what: "The {store} store has no archive for checkpoints.",
    why: "Only PostgreSQL, PGlite and SQLite have the table agent_checkpoints_archive.",
    safe: UNCHANGED,
    fix: "Use one of these stores, or leave out archive: true and archiveRecords: true.",
  },
  "HF-4506": {
    what: "createAgent returned no agent for type {agent}.",
    why: "createAgent builds a restored agent from its saved configuration.",
    safe: "The checkpoint is unchanged.",
    fix: "Make createAgent handle this type.",
  },
  "HF-4507": {
    what: "The checkpoints of {agent} in analysis {analysis} are closed or deleted, so nothing can be added to them.",
    why: "Somebody completed, cancelled or deleted them since this process last saved or restored the agent.",
    safe: "This save wasn't written.",
    fix: "To start over, delete what is left with cleanup({analysis}) and use a new AgentCheckpointer.",
  },
  "HF-4508": {
    what: "Run {run} is continued by the program that saves it.",
    why: "AgentCheckpointer or CheckpointManager wrote it, state by state. There is no workflow that could be run.",
    safe: "The run is unchanged, and nothing was started.",
    fix: "Start that program again. It restores what was saved here.",
  },
});
