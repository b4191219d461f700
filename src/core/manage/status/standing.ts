import { needsPerson } from "../../journal/going-on.ts";
import { type RunRow, WAIT_KINDS, type Waiting } from "../../types.ts";
import { type Stall, stallOf } from "./stalled.ts";
import { type DescribedRow, describeRun, type RunDetails, type RunSentence } from "./status.ts";

/** How a run stands, in a word, and whether a person is needed. Lists, pages and the command line judge by this alone. */
export interface Standing extends RunSentence {
  readonly word: StandingWord;
  readonly tone: Tone;
  /** True when it waits until a person does something. */
  readonly needsYou: boolean;
  /** What it waits for first. */
  readonly wait: Waiting | null;
  /** Why it makes no progress although it could; `null` when it does. A long call isn't meant. */
  readonly stalled: Stall | null;
}

export type Tone = "good" | "bad" | "waits" | "busy" | "calm";

export type StandingWord =
  | "queued"
  | "running"
  | "pausing"
  | "paused"
  | "cancelling"
  | "cancelled"
  | "completed"
  | "failed"
  | "failed, resumable"
  | "failed, dropped"
  | "stalled"
  | "waiting";

type Judged = Pick<Standing, "word" | "tone" | "needsYou">;

/** `now` is the store's time; `isGone`: the run's owner is known to be dead. */
export function standingOf(
  row: DescribedRow,
  now: number,
  details: RunDetails = {},
  isGone = false,
): Standing {
  const sentence = describeRun(row, details);
  const stall = stallOf(row, now, isGone);
  const stalled = stall?.kind === "quiet" ? null : stall;
  const wait = row.status === "waiting" ? firstWait(row) : null;
  const judged: Judged = stalled
    ? { word: "stalled", tone: "bad", needsYou: true }
    : judge(row, wait, sentence);
  return { ...sentence, ...judged, wait, stalled };
}

const firstWait = ({ waiting }: Pick<RunRow, "waiting">): Waiting | null =>
  WAIT_KINDS.flatMap((kind) => waiting.find((one) => one.kind === kind) ?? [])[0] ?? null;

const judged = (word: StandingWord, tone: Tone, needsYou = false): Judged => ({ word, tone, needsYou });

function judge(row: DescribedRow, wait: Waiting | null, { can }: RunSentence): Judged {
  if (row.control === "compensating") return judged("cancelling", "busy");
  if (row.control === "pausing") return judged("pausing", "waits");
  switch (row.status) {
    case "completed":
      return judged("completed", "good");
    case "cancelled":
      return judged("cancelled", "calm");
    case "failed":
      if (row.prunedAt !== null) return judged("failed, dropped", "calm");
      return can.includes("resume") ? judged("failed, resumable", "bad", true) : judged("failed", "bad");
    case "paused":
      return judged("paused", "waits");
    case "running":
      return judged("running", "busy");
    case "queued":
      return judged("queued", "calm");
    case "waiting":
      return wait && needsPerson(wait.kind) ? judged("waiting", "waits", true) : judged("waiting", "calm");
  }
}
