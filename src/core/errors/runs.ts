import { type ErrorEntry, SAVED } from "./entry.ts";

/** 2xxx: a step or a run. */
export const runErrors = {
  "HF-2001": {
    what: "The value at {path} cannot be saved: {problem}.",
    why: "Only plain data survives a crash: JSON, Date, BigInt, Map, Set, bytes, undefined, NaN, Error.",
    safe: SAVED,
    fix: "Return plain data, or keep an id and load the object again.",
  },
  "HF-2002": {
    what: "The value of {step} has {bytes} bytes; the limit is {limit}.",
    why: "One value over the limit would slow every later restore.",
    safe: SAVED,
    fix: "Store it elsewhere and return a reference, or raise limits.valueBytes.",
  },
  "HF-2101": {
    what: "{step} failed after {attempts} attempts: {message}",
    why: "{why}",
    safe: SAVED,
    fix: "Remove the cause, then resume the run.",
  },
  "HF-2102": {
    what: "{step} did not finish within {timeoutMs} ms.",
    why: "Its time limit passed; its abort signal was raised.",
    safe: "A late result is not used.",
    fix: "Raise timeoutMs, or look at what it waits for.",
  },
  "HF-2103": {
    what: "The outcome of {step} is unknown.",
    why: "It was started (attempt {attempt}), and no outcome was recorded.",
    safe: "It is not called again by itself.",
    fix: "Check the outside world, then resolve it: done, failed, run again or cancel.",
  },
  "HF-2104": {
    what: "{step} would be called again with other arguments.",
    why: "Its first call may have reached the receiver with arguments of digest {digest}.",
    safe: "It was not called again.",
    fix: "Resolve the step by hand, or restore the arguments.",
  },
  "HF-2105": {
    what: "Gate {gate} was not answered by {until}.",
    why: "Its time limit passed and it names no choice for that case.",
    safe: SAVED,
    fix: "Resume the run to ask again, or set onTimeout.",
  },
  "HF-2106": {
    what: "{group}: {succeeded} of {total} succeeded; {quorum} were needed.",
    why: "Too many branches failed.",
    safe: "Finished branches are saved and will not run again.",
    fix: "Remove the cause of the failures, then resume the run.",
  },
  "HF-2107": {
    what: "Child run {child} ended as {status}.",
    why: "{message}",
    safe: "The child's own steps are saved.",
    fix: "Resume or look at the child, then resume this run.",
  },
  "HF-2108": {
    what: "Run {run} was recovered {recoveries} times without finishing.",
    why: "The limit is {limit}: something in it seems to kill its worker.",
    safe: SAVED,
    fix: "Look at its last step, then resume it.",
  },
  "HF-2109": {
    what: "No signal {signal} came by {until}.",
    why: "The wait has a time limit.",
    safe: SAVED,
    fix: "Send the signal and resume, or handle the time-out in the workflow.",
  },
  "HF-2110": {
    what: "Run {run} was cancelled.",
    why: "{reason}",
    safe: "What had finished is kept; nothing more will run.",
    fix: "Fork it from a checkpoint to go on from there.",
  },
  "HF-2111": {
    what: "{verb} of {step} threw: {message}",
    why: "A hook of the workflow failed, so its answer is unknown.",
    safe: "The step was not called again.",
    fix: "Mend the hook, then resume the run, or resolve the step by hand.",
  },
  "HF-2112": {
    what: "Loop {step} reached its limit of {limit} iterations.",
    why: "Its body did not call done().",
    safe: SAVED,
    fix: "Raise maxIterations, then resume the run.",
  },
  "HF-2113": {
    what: "Run {run} was not undone in full: {steps}.",
    why: "These steps belong to finished iterations of a loop, whose code is not run again.",
    safe: "Everything else was undone. Nothing more of the run will be done.",
    fix: "Undo them by hand, then cancel the run without compensation.",
  },
  "HF-2114": {
    what: "Run {run} is of version {from} of {workflow}; this process has {to}.",
    why: "{why}",
    safe: "Nothing was started, and nothing of the run was changed.",
    fix: "Register a migration from {from} to {to}, or migrate the run as it is, or cancel it.",
  },
  "HF-2115": {
    what: "The migration of run {run} from {from} to {to} failed: {message}",
    why: "The migration function threw, or gave back something that is not state.",
    safe: "Nothing of the run was changed.",
    fix: "Mend the migration; the run is taken up again by the next process that has it.",
  },
  "HF-2116": {
    what: "{step} may not run: {reason}",
    why: "The policy denied it (version {policy}).",
    safe: "It was not called.",
    fix: "Change the policy or what the step asks for, then resume the run.",
  },
  "HF-2117": {
    what: "A value of {step} is held back: {reason}",
    why: "The content check did not let it into the run.",
    safe: "The run has not seen it, and nothing was started.",
    fix: "Look at the value; edit it or change the check, then resume the run.",
  },
  "HF-2118": {
    what: "Run {run} did not come back within {ms} ms.",
    why: "Its recovery made no progress in the time allowed.",
    safe: SAVED,
    fix: "Look at what it waits for at the start, then resume it.",
  },
  "HF-2119": {
    what: "Run {run} has reached its budget: {limits}.",
    why: "A limit was set for the run.",
    safe: SAVED,
    fix: "Resume it with a higher budget, or cancel it.",
  },
  "HF-2120": {
    what: "{step} is held back in this fork.",
    why: "{why}",
    safe: "It was not called.",
    fix: "Answer the gate before it: call it, or take over what the source recorded.",
  },
  "HF-2121": {
    what: "{step} is not started: the code does not ask for {missing} any more.",
    why: "These recorded steps had effects; under a new name they would happen again.",
    safe: "Nothing was started.",
    fix: "Register a migration that renames or drops them, or migrate the run as it is.",
  },
  "HF-2122": {
    what: "The worker of run {run} died.",
    why: "Automatic recovery is switched off.",
    safe: SAVED,
    fix: "Resume the run when you want it to go on.",
  },
} as const satisfies Record<string, ErrorEntry>;
