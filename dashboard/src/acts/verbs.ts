import { TEXT } from "../text.ts";
import type { ActedRun } from "./run-acts.ts";

/** What can be done to a run from a page. */
export type Verb =
  | "answer"
  | "resolve"
  | "budget"
  | "migrate"
  | "resume"
  | "signal"
  | "retry"
  | "pause"
  | "fork"
  | "cancel"
  | "undo"
  | "inject"
  | "pin"
  | "unpin"
  | "export"
  | "delete";

export interface OfferedVerb {
  readonly verb: Verb;
  readonly name: string;
  readonly permission: string;
  readonly key?: string;
  readonly isDangerous?: boolean;
}

type Can = ActedRun["can"][number];

interface Rule extends Omit<OfferedVerb, "verb" | "name"> {
  /** What the API must say that the run can. Missing: every run. */
  readonly when?: Can;
  readonly of?: (run: ActedRun) => boolean;
}

/** The most wanted first. */
const RULES: Readonly<Record<Verb, Rule>> = {
  answer: { when: "answer", permission: "gates:answer" },
  resolve: { when: "resolve", permission: "runs:act" },
  budget: { when: "raise budget", permission: "runs:act" },
  migrate: { when: "migrate", permission: "runs:act" },
  resume: { when: "resume", permission: "runs:act", key: "r" },
  signal: { when: "signal", permission: "runs:act" },
  retry: { when: "retry", permission: "runs:act" },
  pause: { when: "pause", permission: "runs:act", key: "p" },
  fork: { when: "fork", permission: "runs:act", key: "f" },
  cancel: { when: "cancel", permission: "runs:act", isDangerous: true },
  undo: { when: "cancel", permission: "runs:act", isDangerous: true },
  inject: { when: "inject", permission: "runs:act" },
  pin: { permission: "runs:act", of: ({ pinned }) => !pinned },
  unpin: { permission: "runs:act", of: ({ pinned }) => pinned },
  export: { permission: "admin" },
  delete: { when: "delete", permission: "admin", isDangerous: true },
};

/** What the API says that this run can, and this person may; the most wanted first. */
export function verbsOf(run: ActedRun, may: (permission: string) => boolean): readonly OfferedVerb[] {
  return (Object.entries(RULES) as [Verb, Rule][]).flatMap(([verb, { when, of, ...rest }]) => {
    const fits = (when === undefined || run.can.includes(when)) && (of?.(run) ?? true);
    return fits && may(rest.permission) ? [{ verb, name: TEXT.acts.names[verb], ...rest }] : [];
  });
}

/** The verbs that end what a run waits for: the first of them is what a person came for. */
export const isMain = ({ verb }: OfferedVerb): boolean =>
  ["answer", "resolve", "budget", "migrate", "resume"].includes(verb);
