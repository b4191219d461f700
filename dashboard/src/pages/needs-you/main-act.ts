import type { AnswerOf } from "../../api/client.ts";

export type Need = AnswerOf<"needsYou">["needs"][number];
type Can = Need["run"]["can"][number];

/** Acts that end what a run waits for, the most wanted first. */
const ENDS = ["answer", "resolve", "raise budget", "migrate", "resume"] as const satisfies readonly Can[];
export type MainAct = (typeof ENDS)[number];

/** The one thing a person came for; `null` when the run only has to be looked at. */
export const mainAct = ({ run: { can } }: Need): MainAct | null =>
  ENDS.find((act) => can.includes(act)) ?? null;
