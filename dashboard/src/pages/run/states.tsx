import {
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CirclePause,
  LoaderCircle,
  type LucideIcon,
  OctagonX,
} from "lucide-react";
import { TEXT } from "../../text.ts";
import type { Tone } from "../../ui/badge.tsx";
import { relativeText } from "../../ui/time.tsx";
import type { Node, State, Step } from "./outline/tree.ts";

/** How a state looks. */
export interface Look {
  readonly word: string;
  readonly tone: Tone;
  readonly icon: LucideIcon;
}

const LOOKS: Readonly<Record<State, Look>> = {
  done: { word: TEXT.run.states.done, tone: "good", icon: CircleCheck },
  failed: { word: TEXT.run.states.failed, tone: "bad", icon: OctagonX },
  "in doubt": { word: TEXT.run.states.inDoubt, tone: "waits", icon: CircleHelp },
  "under way": { word: TEXT.run.states.underWay, tone: "busy", icon: LoaderCircle },
  "not started": { word: TEXT.run.states.notStarted, tone: "calm", icon: CircleDashed },
};

/** A wait isn't work: it looks different. */
const WAITS: Readonly<Partial<Record<Step["type"], string>>> = {
  gate: TEXT.run.states.gate,
  signal: TEXT.run.states.signal,
  timer: TEXT.run.states.timer,
  child: TEXT.run.states.child,
};

export function lookOf({ state, step }: Pick<Node, "state" | "step">, now: number): Look {
  const look = LOOKS[state];
  if (state !== "under way" || !step) return look;
  const wait = WAITS[step.type];
  const retryAt = step.attempts.at(-1)?.retryAt;
  if (retryAt !== undefined) {
    const word = retryAt > now ? TEXT.run.states.retry(relativeText(retryAt, now)) : TEXT.run.states.retries;
    return { word, tone: "waits", icon: CirclePause };
  }
  if (step.type === "timer" && step.until !== undefined)
    return { word: TEXT.run.states.until(relativeText(step.until, now)), tone: "waits", icon: CirclePause };
  return wait === undefined ? look : { word: wait, tone: "waits", icon: CirclePause };
}

/** Written out, so that the style sheet holds them. */
export const INK: Readonly<Record<Tone, string>> = {
  good: "text-good",
  bad: "text-bad",
  waits: "text-waits",
  busy: "text-busy",
  calm: "text-faint",
};

export function StateIcon({ look: { icon: Icon, tone, word } }: { readonly look: Look }) {
  const spin = Icon === LoaderCircle ? "motion-safe:animate-spin" : "";
  return (
    <>
      <Icon aria-hidden className={`size-4 shrink-0 ${INK[tone]} ${spin}`} />
      <span className="sr-only">{word}</span>
    </>
  );
}
