import { entries, SAVED, UNCHANGED } from "./entry.ts";

const NOT_RUN = "None of the DAG was run.";

/** 455x: DAGs, their commands and their checkpoints. */
export const dagErrors = entries({
  "HF-4550": {
    what: "{task} isn't valid: {problem}.",
    why: "A DAG is a list of tasks. A task is plain data with an id and the name of a tool, and its id is part of its step's address.",
    safe: UNCHANGED,
    fix: "Correct it.",
  },
  "HF-4551": {
    what: "Task {task} occurs twice.",
    why: "Results and dependencies are found by task id.",
    safe: UNCHANGED,
    fix: "Give one of the two tasks another id.",
  },
  "HF-4552": {
    what: "Task {task} depends on itself.",
    why: "A task starts when everything it depends on has finished, so this one would never start.",
    safe: UNCHANGED,
    fix: "Remove {task} from its dependsOn.",
  },
  "HF-4553": {
    what: "Task {task} depends on {dependency}, which isn't in the DAG.",
    why: "A task starts when everything it depends on has finished, so this one would never start.",
    safe: UNCHANGED,
    fix: "Add a task {dependency}, or correct the dependsOn of {task}.",
  },
  "HF-4554": {
    what: "These tasks depend on each other in a circle: {path}.",
    why: "None of them could start, because each waits for another one.",
    safe: UNCHANGED,
    fix: "Remove one of these dependencies.",
  },
  "HF-4555": {
    what: "Task {task} needs the tool {tool}, which this executor doesn't have.",
    why: "The tools it has are: {tools}.",
    safe: UNCHANGED,
    fix: "Add the tool to the executor's tools, or correct the name.",
  },
  "HF-4556": {
    what: "Task {task} can't be {effect}: {problem}.",
    why: "The effect class says what may happen after a crash. A task may be stricter than its tool, never less strict, and a speculative task may be discarded after it has run.",
    safe: UNCHANGED,
    fix: "Correct the effect of the task or of its tool, or make the task an ordinary one.",
  },
  "HF-4557": {
    what: "This isn't a command for a DAG: {problem}.",
    why: "A command is one of: {commands}.",
    safe: UNCHANGED,
    fix: "Correct the command.",
  },
  "HF-4558": {
    what: "Task {task} can't be changed any more: it is {status}.",
    why: "Its result is part of the state, and other tasks may have used it.",
    safe: "Its result is unchanged, and the workflow continues.",
    fix: "Add another task, or resume from a checkpoint before {task}.",
  },
  "HF-4559": {
    what: "There is no task {task} in this DAG.",
    why: "Commands name tasks by their ids.{likely}",
    safe: UNCHANGED,
    fix: "Correct the id, or add the task first.",
  },
  "HF-4560": {
    what: "There is no checkpoint {checkpoint}.",
    why: "{reason}",
    safe: NOT_RUN,
    fix: "List the checkpoints of the workflow, and use one of their ids.",
  },
  "HF-4561": {
    what: "The state of checkpoint {checkpoint} can't be used: {problem}.",
    why: "The stored data doesn't verify, or isn't the state of a workflow. A part of it is never restored.",
    safe: "Nothing was run, and the stored data wasn't changed.",
    fix: "Resume from an earlier checkpoint.",
  },
  "HF-4562": {
    what: "This isn't a workflow state: {problem}.",
    why: "A checkpoint holds messages, tasks, decisions and a context, all as plain data.",
    safe: "Nothing was saved.",
    fix: "Correct the state.",
  },
  "HF-4563": {
    what: "The decision after layer {layer} can't be used: {problem}.",
    why: "A decision is an object. If it has commands, they are a list.",
    safe: SAVED,
    fix: "Correct the function that decides, then resume the run.",
  },
});
