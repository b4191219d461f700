import { entries, SAVED, UNCHANGED } from "./entry.ts";

/** 452x to 454x: teams of agents with subtasks and phases. */
export const teamErrors = entries({
  "HF-4520": {
    what: "Agent {agent} is not valid: {problem}.",
    why: "An agent's subtasks are its steps and its checkpoints, so each needs a name, a deliverable and a target.",
    safe: UNCHANGED,
    fix: "Correct the definition of the agent.",
  },
  "HF-4521": {
    what: "Team {team} is not valid: {problem}.",
    why: "Agents are found by their type, and phases by their name, so both must be clear.",
    safe: UNCHANGED,
    fix: "Correct the definition of the team.",
  },
  "HF-4522": {
    what: "Subtask {subtask} of agent {agent} did not produce a complete {deliverable}.",
    why: "A checkpoint is taken only when a subtask has produced its deliverable, so that every restore starts from valid state.",
    safe: SAVED,
    fix: "Return the deliverable from the subtask's function, then resume the run.",
  },
  "HF-4523": {
    what: "Team {team} has no agent of type {agent}. It has {known}.",
    why: "An agent is found by the id of its analysis and its type.",
    safe: UNCHANGED,
    fix: "Use one of these types.",
  },
  "HF-4524": {
    what: "The subtasks of agent {agent} have changed since this run began: {changes}.",
    why: "{why}",
    safe: SAVED,
    fix: "Raise the agent's version and give it a migration that renames or drops what changed; or put the old list back. Then resume the run.",
  },
  "HF-4525": {
    what: "{failed} of {total} agents failed: {agents}.",
    why: "{why}",
    safe: "The finished subtasks of every agent are saved and will not run again.",
    fix: "Resume the run: each failed agent goes on at its next pending subtask.",
  },
  "HF-4526": {
    what: "The input of team {team} is not valid: {problem}.",
    why: "An analysis is identified by a UUID and is about one subject, such as a stock ticker.",
    safe: UNCHANGED,
    fix: 'Start it with { analysis_id: "<UUID>", stock_ticker: "AAPL" }.',
  },
  "HF-4527": {
    what: "There is no checkpoint of agent {agent} in analysis {analysis}.",
    why: "No run of this team has that analysis id, or the agent has not begun.",
    safe: UNCHANGED,
    fix: "List the runs to find the analysis, or start it.",
  },
  "HF-4528": {
    what: "Agent {agent} of analysis {analysis} is being worked on by {owner}.",
    why: "Only one process may advance an agent. Its run is {status}.",
    safe: UNCHANGED,
    fix: "Wait until it stops, or pause its run first.",
  },
  "HF-4529": {
    what: "The confidence of {agent} is not valid: {value}.",
    why: "A confidence is a number from 0 to 1.",
    safe: SAVED,
    fix: "Report a number from 0 to 1, or leave the confidence out.",
  },
  "HF-4530": {
    what: "Phase {phase} cannot go on: {problem}.",
    why: "{why}",
    safe: SAVED,
    fix: "Correct the cause and resume the run: the phase goes on where it stopped.",
  },
  "HF-4531": {
    what: "There is no phase {phase}. This team has {known}.",
    why: "A run can be resumed only from a phase of its team.",
    safe: UNCHANGED,
    fix: "Use the number of one of these phases, or its name.",
  },
  "HF-4532": {
    what: "Run {run} has no checkpoint of phase {phase}.",
    why: "The run has not reached that phase, or retention has dropped the checkpoint.",
    safe: UNCHANGED,
    fix: "List the run's checkpoints, and choose a phase that is among them.",
  },
  "HF-4534": {
    what: "The answer of {agent} is not valid: {problem}.",
    why: "{why}",
    safe: SAVED,
    fix: "Correct what it returns, then resume the run.",
  },
  "HF-4535": {
    what: "Agent {agent} stopped at {subtask}, with {progress} complete ({percent} %): {reason}.",
    why: "The subtask has failed for good. Its checkpoint holds the failure.",
    safe: SAVED,
    fix: "Correct the cause and resume the run: it goes on at {subtask}.",
  },
});
