/**
 * Every error a person can meet, in one table: what happened, why, what is safe, how to fix it.
 * The same four lines appear in the library, the CLI, the API and the UI. `{name}` is filled from the
 * error's detail. "safe" may only state what the journal proves.
 */
interface ErrorEntry {
  readonly what: string;
  readonly why: string;
  readonly safe: string;
  readonly fix: string;
}

const UNCHANGED = "Nothing was changed.";
const SAVED = "Every step finished before this is saved and will not run again.";

export const errorTable = {
  // 1xxx: the call cannot be taken
  "HF-1001": {
    what: "There is no run {run}.",
    why: "The store holds no run with this id.",
    safe: UNCHANGED,
    fix: "Check the id and the store; list the runs to see what is there.",
  },
  "HF-1002": {
    what: "Run {run} already belongs to workflow {workflow}.",
    why: "A run id names one run for ever, and this one was started as another workflow.",
    safe: UNCHANGED,
    fix: "Choose another id.",
  },
  "HF-1003": {
    what: "Option {option} is not valid: {problem}.",
    why: "The value is outside what this option takes.",
    safe: UNCHANGED,
    fix: "Correct the option and call again.",
  },
  "HF-1004": {
    what: "{id} is not a valid id.",
    why: "Ids are strings of 1 to 64 letters, digits, '_' or '-'.",
    safe: UNCHANGED,
    fix: "Use an id of that form.",
  },
  "HF-1005": {
    what: "{name} is not a valid step name.",
    why: "Names are strings of 1 to 128 printable characters without '/', '#', '[' or ']'; 'compensate', '__proto__', 'constructor', 'prototype' and what begins with 'approve:' are taken.",
    safe: UNCHANGED,
    fix: "Rename the step.",
  },
  "HF-1007": {
    what: "Run {run} is {status}, so it cannot {verb}.",
    why: "{why}",
    safe: UNCHANGED,
    fix: "{fix}",
  },
  "HF-1008": {
    what: "This engine is closed.",
    why: "close() was called, or is under way.",
    safe: SAVED,
    fix: "Create a new engine on the same store.",
  },
  "HF-1009": {
    what: "A step context was used outside its run.",
    why: "The run has ended, or another process has taken it over.",
    safe: "No step was started.",
    fix: "Await every ctx call inside the workflow function.",
  },
  "HF-1010": {
    what: "Run {run} has no step {step}.",
    why: "No event of this run names that step.",
    safe: UNCHANGED,
    fix: "Show the run to see its steps.",
  },
  "HF-1011": {
    what: "Step {step} of run {run} is not in doubt.",
    why: "Its outcome is known, or it was already resolved.",
    safe: UNCHANGED,
    fix: "Show the run to see what it waits for.",
  },
  "HF-1012": {
    what: "Step {step} cannot be run again before {after}.",
    why: "The worker that started it may still be alive until its claim and the step's time limit have passed.",
    safe: UNCHANGED,
    fix: "Wait until then, or mark the step done or failed now.",
  },
  "HF-1013": {
    what: "Run {run} has no open gate {gate}.",
    why: "It was not opened yet, or it has expired.",
    safe: UNCHANGED,
    fix: "Show the run to see its gates.",
  },
  "HF-1014": {
    what: "Gate {gate} of run {run} was already answered: {choice}.",
    why: "A gate takes one answer; {actor} gave it at {at}.",
    safe: "The first answer stands.",
    fix: "Fork the run from before the gate to choose otherwise.",
  },
  "HF-1015": {
    what: "{choice} is not a choice of gate {gate}.",
    why: "It offers: {choices}.",
    safe: UNCHANGED,
    fix: "Answer with one of the choices.",
  },
  "HF-1016": {
    what: "The answer to gate {gate} was given for something else.",
    why: "What is shown now differs from what the answer was bound to.",
    safe: "The answer was not taken.",
    fix: "Look at the gate again and answer anew.",
  },
  "HF-1017": {
    what: "The {store} store cannot run {feature}.",
    why: "It does not have that capability, and it never pretends.",
    safe: UNCHANGED,
    fix: "Use a store that has it, such as SQLite or PostgreSQL.",
  },
  "HF-1018": {
    what: "The function given to ctx.transaction returned a promise.",
    why: "On SQLite a transaction must not stay open while other work goes on.",
    safe: "The transaction was rolled back.",
    fix: "Do the asynchronous work in a step before, and only the writes in the transaction.",
  },
  "HF-1019": {
    what: "Step {step} was called inside {outer}, whose effect is {effect}.",
    why: "Only a repeatable step may contain steps: after a crash its function runs again.",
    safe: "The inner step was not started.",
    fix: "Make the outer step repeatable, or move the inner one out.",
  },
  "HF-1020": {
    what: "Signal {id} was already sent to run {run} with other content.",
    why: "A delivery id stands for one message.",
    safe: "The first message stands.",
    fix: "Send it with a new delivery id.",
  },
  "HF-1021": {
    what: "{address} is not the address of a checkpoint.",
    why: "A checkpoint is named by its run and position, such as hello-1@14.",
    safe: UNCHANGED,
    fix: "List the run's checkpoints to see their addresses.",
  },
  "HF-1022": {
    what: "Run {run} has no checkpoint at #{seq}.",
    why: "{why}",
    safe: UNCHANGED,
    fix: "List the run's checkpoints to see which there are.",
  },
  "HF-1023": {
    what: "The values of run {run} at #{seq} are not kept any more.",
    why: "Retention dropped them.",
    safe: "The record of what happened is still there and still verifies.",
    fix: "Use a newer checkpoint; pin the checkpoints that you want to keep.",
  },
  "HF-1024": {
    what: "{what} of run {run} cannot be edited.",
    why: "{why}",
    safe: UNCHANGED,
    fix: "{fix}",
  },
  "HF-1025": {
    what: "Run {run} cannot go on: {limits}.",
    why: "Its budget is used up, and it was not raised.",
    safe: UNCHANGED,
    fix: "Resume it with a higher budget, or cancel it.",
  },
  "HF-1026": {
    what: "Workflow {workflow} is not known to this process.",
    why: "Its code is needed for this, and it was not registered.",
    safe: UNCHANGED,
    fix: "Register the workflow with the engine.",
  },

  // 2xxx: a step or a run
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

  // 3xxx: the store
  "HF-3002": {
    what: "The store did not take a write: {message}",
    why: "It failed or could not be reached for {ms} ms.",
    safe: "No step was started that is not recorded. The run goes on when the store is back.",
    fix: "Bring the store back; the run is picked up by itself.",
  },
  "HF-3003": {
    what: "The disk under {file} is full.",
    why: "The store could not grow.",
    safe: "Everything acknowledged is kept; no step was started that is not recorded.",
    fix: "Free some space; the run goes on by itself.",
  },
  "HF-3004": {
    what: "{file} cannot be written.",
    why: "{message}",
    safe: UNCHANGED,
    fix: "Give this process the right to write the file and its folder.",
  },
  "HF-3005": {
    what: "{file} was written by a newer Holdfast (schema {found}, this one knows {known}).",
    why: "An older version must not guess at a newer format.",
    safe: UNCHANGED,
    fix: "Upgrade Holdfast.",
  },
  "HF-3006": {
    what: "{file} is not a Holdfast database.",
    why: "{message}",
    safe: "The file was not touched.",
    fix: "Choose another file, or restore it from a backup.",
  },
  "HF-3007": {
    what: "SQLite {found} is too old; at least {needed} is needed.",
    why: "Before that, several connections on one WAL file can corrupt it.",
    safe: "The file was not opened.",
    fix: "Use a Node version whose SQLite is newer, or install @photostructure/sqlite.",
  },
  "HF-3008": {
    what: "No SQLite driver was found.",
    why: "{message}",
    safe: UNCHANGED,
    fix: "npm install @photostructure/sqlite",
  },
  "HF-3009": {
    what: "{file} stayed locked for {ms} ms.",
    why: "Another process holds the write lock.",
    safe: "Nothing was written.",
    fix: "Find the process that keeps a transaction open on this file.",
  },
  "HF-3010": {
    what: "The journal of run {run} is damaged at #{seq}.",
    why: "{problem}",
    safe: "Nothing after the damage was used, and nothing was started.",
    fix: "Restore the store from a backup, or fork the run from a checkpoint before the damage.",
  },
  "HF-3011": {
    what: "A stored value cannot be read: {problem}.",
    why: "It is not in the format this version writes.",
    safe: "No other value was put in its place.",
    fix: "Restore the store from a backup.",
  },
  "HF-3012": {
    what: "This store is closed.",
    why: "close() was called.",
    safe: "Everything acknowledged is kept.",
    fix: "Open the store again.",
  },
  "HF-3013": {
    what: "{file} failed: {message}",
    why: "An input/output error; what a failed sync has written is unknown.",
    safe: "The handle was given up; after reopening, each write in flight is looked up before anything goes on.",
    fix: "Check the disk.",
  },
  "HF-3014": {
    what: "{file} is damaged: {message}",
    why: "The store found data that is not as it wrote it.",
    safe: "Nothing more is written to the file.",
    fix: "Restore it from a backup; keep what is damaged for a look.",
  },
  "HF-3015": {
    what: "The package {package} is not installed.",
    why: "The {store} store needs it, and it is not part of Holdfast.",
    safe: UNCHANGED,
    fix: "npm install {package}",
  },
  "HF-3016": {
    what: "{place} refused the connection: {message}",
    why: "The login or the encryption asked for was not accepted.",
    safe: UNCHANGED,
    fix: "Check user, password, and TLS settings.",
  },
  "HF-3017": {
    what: "The bundle was not imported: it {problem}.",
    why: "What it says about itself is not what it holds, or it does not fit this store.",
    safe: "Nothing of it was imported.",
    fix: "Export the run again; check the signature and that the file is whole.",
  },
} as const satisfies Record<string, ErrorEntry>;

/** A stable error code such as `HF-1001`. */
export type ErrorCode = keyof typeof errorTable;

type Detail = Readonly<Record<string, string | number>>;

const fill = (text: string, detail: Detail): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(detail[name] ?? whole));

/**
 * The one error class of Holdfast.
 *
 * @example
 * ```ts
 * import { HoldfastError } from "holdfast";
 *
 * export function isUnknownRun(error: unknown): boolean {
 *   return HoldfastError.is(error, "HF-1001");
 * }
 * ```
 */
export class HoldfastError extends Error {
  override readonly name = "HoldfastError";
  readonly code: ErrorCode;
  readonly why: string;
  readonly safe: string;
  readonly fix: string;
  readonly detail: Detail;
  readonly retryable = false;

  constructor(code: ErrorCode, detail: Detail = {}, options?: { cause?: unknown }) {
    const entry = errorTable[code];
    super(fill(entry.what, detail), options);
    this.code = code;
    this.why = fill(entry.why, detail);
    this.safe = fill(entry.safe, detail);
    this.fix = fill(entry.fix, detail);
    this.detail = detail;
  }

  /** Recognises the class by name and code, so that two copies of the package still agree. */
  static is(error: unknown, code?: ErrorCode): error is HoldfastError {
    if (!(error instanceof Error) || error.name !== "HoldfastError" || !("code" in error)) return false;
    return code === undefined || error.code === code;
  }
}

/** The table's entry for a code, placeholders left in, for `holdfast explain`. */
export function explainError(code: string): ErrorEntry | undefined {
  return Object.hasOwn(errorTable, code) ? errorTable[code as ErrorCode] : undefined;
}
