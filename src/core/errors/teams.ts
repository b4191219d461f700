import { entries, SAVED, UNCHANGED } from "./entry.ts";

/** 452x to 454x: teams of agents with subtasks and phases. */
export const teamErrors = entries({
  "HF-4520": {
    what: "Agent {agent} is not valid: {problem}.",
    why: "An agent's subtasks are its steps and checkpoints, so each needs a name, a deliverable and a target.",
    safe: UNCHANGED,
    fix: "Correct the agent's definition.",
  },
  "HF-4521": {
    what: "Team {team} is not valid: {problem}.",
    why: "Agents are found by type and phases by name, so both must be unique and clear.",
    safe: UNCHANGED,
    fix: "Correct the team's definition.",
  },
  "HF-4522": {
    what: "Subtask {subtask} of agent {agent} did not produce a complete {deliverable}.",
    why: "A checkpoint is saved only when a subtask has produced its deliverable, so that every restore starts from a valid state.",
    safe: SAVED,
    fix: "Return the deliverable from the subtask's function, then resume the run.",
  },
  "HF-4523": {
    what: "Team {team} has no agent of type {agent}. It has {known}.",
    why: "An agent is found by its analysis id and its type.",
    safe: UNCHANGED,
    fix: "Use one of these types.",
  },
  "HF-4524": {
    what: "The subtasks of agent {agent} have changed since this run began: {changes}.",
    why: "{why}",
    safe: SAVED,
    fix: "Raise the agent's version and add a migration that renames or drops what changed, or restore the old list. Then resume the run.",
  },
  "HF-4525": {
    what: "{failed} of {total} agents failed: {agents}.",
    why: "{why}",
    safe: "Every agent's finished subtasks are saved and won't run again.",
    fix: "Fix the cause, then resume the run: each failed agent continues at its next pending subtask.",
  },
  "HF-4526": {
    what: "The input of team {team} is not valid: {problem}.",
    why: "An analysis has a UUID and one subject, such as a stock ticker.",
    safe: UNCHANGED,
    fix: 'Start it with { analysis_id: "<UUID>", stock_ticker: "AAPL" }.',
  },
  "HF-4527": {
    what: "There is no checkpoint of agent {agent} in analysis {analysis}.",
    why: "No run of this team has that analysis id, or the agent hasn't started.",
    safe: UNCHANGED,
    fix: "Find the analysis with holdfast list, or start it.",
  },
  "HF-4528": {
    what: "{owner} is working on agent {agent} of analysis {analysis}.",
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
    what: "Phase {phase} can't continue: {problem}.",
    why: "{why}",
    safe: SAVED,
    fix: "Fix the cause and resume the run: the phase continues where it stopped.",
  },
  "HF-4531": {
    what: "There is no phase {phase}. This team has {known}.",
    why: "A run can be resumed only from a phase of its team.",
    safe: UNCHANGED,
    fix: "Use the number or the name of one of these phases.",
  },
  "HF-4532": {
    what: "Run {run} has no checkpoint of phase {phase}.",
    why: "The run hasn't reached that phase, or retention has dropped the checkpoint.",
    safe: UNCHANGED,
    fix: "Choose a phase that holdfast checkpoints list {run} shows.",
  },
  "HF-4534": {
    what: "The answer of {agent} is not valid: {problem}.",
    why: "{why}",
    safe: SAVED,
    fix: "Correct what it returns, then resume the run.",
  },
  "HF-4535": {
    what: "Agent {agent} stopped at {subtask}, with {progress} complete ({percent} %): {reason}.",
    why: "The subtask failed on its last attempt. Its checkpoint holds the failure.",
    safe: SAVED,
    fix: "Fix the cause and resume the run: it continues at {subtask}.",
  },
});
