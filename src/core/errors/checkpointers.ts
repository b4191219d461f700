import { entries, UNCHANGED } from "./entry.ts";

/** 4500 to 4519: checkpoints of agents that people write themselves. */
export const checkpointerErrors = entries({
  "HF-4500": {
    what: "The agent can't be saved or restored: {member} {problem}.",
    why: "A checkpoint is made of what the agent says about itself, so it must have everything that CheckpointedAgent names.",
    safe: UNCHANGED,
    fix: "Add what is missing to the agent's class.",
  },
  "HF-4501": {
    what: "Another process has saved a checkpoint of {agent} in analysis {analysis} since this one last did.",
    why: "Two processes work on the same agent, and a save is made on top of the last one that its process knows.",
    safe: "The checkpoint of the other process is kept. Nothing of this save was written.",
    fix: "Stop one of the two. To go on here, restore the agent first: restoreCheckpoint({analysis}, {agent}).",
  },
  "HF-4502": {
    what: "There are checkpoints of {agent} in analysis {analysis} already, and this process hasn't restored them.",
    why: "A save from here would stand on top of work that this process doesn't know.",
    safe: "The checkpoints that are there are kept. Nothing of this save was written.",
    fix: "Restore the agent and go on from there, or delete its checkpoints to begin anew: cleanup({analysis}).",
  },
  "HF-4503": {
    what: "The checkpoint of {agent} is of version {found}, the agent of version {version}, and no migration leads there.",
    why: "A checkpoint of another version may lack what this version of the agent needs.",
    safe: "The checkpoint is kept as it is, and no agent was restored.",
    fix: "Give AgentCheckpointer a migration from {found} to {version}, or restore with the version that saved it.",
  },
  "HF-4504": {
    what: "The migration of {agent} from {from} to {to} did not return a checkpoint.",
    why: "A migration returns the checkpoint that it was given, with its changes.",
    safe: "The checkpoint is kept as it is, and no agent was restored.",
    fix: "Return the checkpoint from the migration's function.",
  },
  "HF-4505": {
    what: "The {store} store has no archive for checkpoints.",
    why: "Only stores with the table agent_checkpoints have agent_checkpoints_archive: PostgreSQL, PGlite and SQLite.",
    safe: UNCHANGED,
    fix: "Use one of these stores, or leave out archive: true.",
  },
  "HF-4506": {
    what: "createAgent made no agent of type {agent}.",
    why: "A restored agent is built from its saved configuration by createAgent.",
    safe: "The checkpoint is kept as it is.",
    fix: "Let createAgent know this type.",
  },
  "HF-4507": {
    what: "The checkpoints of {agent} in analysis {analysis} are gone or closed, so nothing can be added to them.",
    why: "Somebody has completed, cancelled or deleted them since this process last saved or restored the agent.",
    safe: "Nothing of this save was written.",
    fix: "To begin anew, delete what is left with cleanup({analysis}) and use a new AgentCheckpointer.",
  },
});
