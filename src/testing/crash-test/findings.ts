import type { Violation } from "../witness/log.ts";

/** The guarantees, one sentence each. A finding names the one that was broken. */
export const promises = {
  "one-effect": "an effect is never made twice",
  "no-effect-lost": "no effect is lost",
  "inside-steps": "effects happen inside steps only",
  "completed-once": "a completed step is never called again",
  "once-per-intent": "a once step is called at most once for each intent",
  "same-key": "a keyed step is called with the same key and arguments every time",
  "one-extra-call": "a crash costs at most one extra call of a repeatable step",
  durable: "every acknowledged write is there after recovery, and the chain verifies",
  "same-result": "the run ends as it does without a crash",
  "no-standstill": "the run never gets stuck",
  "same-names": "run again, the workflow asks for the same steps",
} as const;

export type PromiseName = keyof typeof promises;

/** A broken guarantee in plain words, with what to do about it. */
export interface Finding {
  readonly promise: PromiseName;
  /** The step it concerns, if any. */
  readonly step: string | null;
  readonly message: string;
  readonly fix: string;
}

/** Our own guarantees, which no workflow can break. */
const BY_INVARIANT: Readonly<Record<Violation["invariant"], PromiseName>> = {
  I1: "durable",
  I2: "durable",
  I3: "once-per-intent",
  I4: "same-key",
  I5: "durable",
  I6: "completed-once",
  I7: "no-standstill",
  I8: "durable",
  I10: "no-standstill",
};

export const ofViolation = ({ invariant, message }: Violation): Finding => ({
  promise: BY_INVARIANT[invariant],
  step: /\bstep (\S+)/i.exec(message)?.[1] ?? null,
  message: `${message} (${invariant})`,
  fix: "This is a fault of Holdfast or of the store, not of the workflow. Please report it with the JSON report and the command above.",
});

export const twice = {
  outside: (name: string): Finding => ({
    promise: "inside-steps",
    step: null,
    message: `The witness saw ${name} outside of all steps. Code between steps runs again after every crash.`,
    fix: "Move it into a step: ctx.step(name, …, { effect: 'keyed' }) or 'once'.",
  }),
  repeatable: (step: string, name: string, times: number): Finding => ({
    promise: "one-effect",
    step,
    message: `Step ${step} is declared repeatable, but the witness saw ${name} ${timesText(times)}.`,
    fix: `Declare it keyed and send the call's key along, if the receiver knows keys; else once.`,
  }),
  keyed: (step: string, name: string, times: number): Finding => ({
    promise: "same-key",
    step,
    message: `Step ${step} is keyed, but the witness saw ${name} ${timesText(times)} under different keys.`,
    fix: "Make it one step with one name: the key belongs to the step, and two steps have two keys.",
  }),
  once: (step: string, name: string, times: number): Finding => ({
    promise: "one-effect",
    step,
    message: `Step ${step} is declared once, but the witness saw ${name} ${timesText(times)}.`,
    fix: "If it has several effects, make each a step of its own; if it catches errors and tries again by itself, let it fail instead.",
  }),
  verified: (step: string, name: string, times: number): Finding => ({
    promise: "one-effect",
    step,
    message: `Step ${step} is declared once, but the witness saw ${name} ${timesText(times)}: nobody had it called again but its verify hook.`,
    fix: "Its verify hook said that it was not done although it was: let it ask for the call's key, and answer unknown when in doubt.",
  }),
  undeclared: (name: string, times: number): Finding => ({
    promise: "one-effect",
    step: null,
    message: `The witness saw ${name} ${timesText(times)}, from a process that no step is known of.`,
    fix: "Call witness() in the step that does it, or give the id a part that tells the calls apart.",
  }),
};

const timesText = (times: number): string => (times === 2 ? "twice" : `${times} times`);

const SAME_NAMES =
  "Name steps by what they do, never by time, chance or order of arrival; decide on recorded values only: ctx.now(), ctx.random(), results of steps.";

export const other = {
  extra: (kind: string, more: number, name: string, step: string | null): Finding => ({
    promise: "one-effect",
    step,
    message: `The witness saw ${more} more ${kind} than without a crash: ${name}${step === null ? "" : ` in step ${step}`}.`,
    fix: "An id that is new with every call hides repeats: make it from the input or with ctx.uuid(). Then declare the step keyed or once.",
  }),
  lost: (kind: string, less: number, name: string): Finding => ({
    promise: "no-effect-lost",
    step: null,
    message: `The run came to its end, but the witness saw ${less} fewer ${kind} than without a crash${name}.`,
    fix: "What decides whether it is done must be recorded: take it from a step's result or from ctx.memory. Several effects in one once step cannot be told apart after a crash: make each a step.",
  }),
  calls: (step: string, calls: number, usual: number, crashes: number): Finding => ({
    promise: "one-extra-call",
    step,
    message: `Step ${step} was called ${calls} times instead of ${usual}, with ${crashes} ${crashes === 1 ? "takeover" : "takeovers"}.`,
    fix: "This is a fault of Holdfast, not of the workflow. Please report it with the JSON report and the command above.",
  }),
  arguments: (step: string): Finding => ({
    promise: "same-key",
    step,
    message: `Step ${step} is keyed, but after the crash it was asked with arguments that differ from the first call, so a person had to decide.`,
    fix: "Its input must be the same on every replay: take it from the run's input, from results of steps, from ctx.now() or ctx.uuid().",
  }),
  status: (status: string, wanted: string, error: string | null): Finding => ({
    promise: "same-result",
    step: null,
    message: `The run is ${status} instead of ${wanted}${error === null ? "" : `: ${error}`}.`,
    fix: "Look for state that lives only in memory: what the code needs after a crash must come from steps.",
  }),
  output: (paths: readonly string[]): Finding => ({
    promise: "same-result",
    step: null,
    message: `The result differs from the one without a crash, in ${list(paths)}.`,
    fix: "Values made between steps are made again after a crash: make them in steps, or with ctx.now(), ctx.random() and ctx.uuid().",
  }),
  stuck: (kind: string, step: string, text: string): Finding => ({
    promise: "no-standstill",
    step: step === "" ? null : step,
    message: `After the crash the run waits without end, for: ${kind}${text === "" ? "" : ` (${text})`}.`,
    fix:
      kind === "migration"
        ? "The code asked for steps that the journal does not hold: names and branches must follow from recorded values only."
        : "Nobody would come to answer it: see what it waits for with holdfast show.",
  }),
  unknown: (workflow: string): Finding => ({
    promise: "no-standstill",
    step: null,
    message: `After the crash nobody takes up the run of ${workflow}: its code is known only to the process that had started it.`,
    fix: `Export ${workflow} from the file, and list it among the engine's workflows: what ctx.child starts is a run of its own.`,
  }),
  overdue: (seconds: number): Finding => ({
    promise: "no-standstill",
    step: null,
    message: `The recovered process did not come to its end within ${seconds} s.`,
    fix: "Look for code that waits for something another process had in memory. If it is only slow, allow more with --patience.",
  }),
  died: (how: string): Finding => ({
    promise: "no-standstill",
    step: null,
    message: `The recovered process ended by itself: ${how}.`,
    fix: "Run the command above and read what it prints: code outside of steps fails when it runs a second time.",
  }),
  strayed: (more: readonly string[], fewer: readonly string[], when: string): Finding => ({
    promise: "same-names",
    step: null,
    message: `${when} it called ${list(more.length > 0 ? more : ["fewer steps"])}${fewer.length > 0 ? `, and not ${list(fewer)}` : ""}, although every step before had returned the same.`,
    fix: SAME_NAMES,
  }),
  uncalled: (step: string): Finding => ({
    promise: "no-effect-lost",
    step,
    message: `Step ${step} was never called, and the run came to its end without it.`,
    fix: "If it has a verify hook, the hook said that it was done although it was not: let it ask for the call's key, and answer unknown when in doubt. Else what decides whether it is called must be recorded.",
  }),
  names: (asked: readonly string[], notAsked: readonly string[]): Finding => ({
    promise: "same-names",
    step: asked[0] ?? notAsked[0] ?? null,
    message: `Over its own journal the workflow asked for ${list(asked.length > 0 ? asked : ["fewer steps"])}${notAsked.length > 0 ? `, and no more for ${list(notAsked)}` : ""}.`,
    fix: SAME_NAMES,
  }),
};

const SHOWN = 3;

const list = (names: readonly string[]): string =>
  names.slice(0, SHOWN).join(", ") + (names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "");
