import { CircleCheck, CircleDashed, CircleDot, CirclePause, OctagonX } from "lucide-react";
import type { ReactNode } from "react";

export type Tone = "good" | "bad" | "waits" | "busy" | "calm";

/** Written out, so that the style sheet holds them. */
export const TONES: Readonly<Record<Tone, string>> = {
  good: "bg-good-soft text-good",
  bad: "bg-bad-soft text-bad",
  waits: "bg-waits-soft text-waits",
  busy: "bg-busy-soft text-busy",
  calm: "bg-calm-soft text-calm",
};

const ICONS = { good: CircleCheck, bad: OctagonX, waits: CirclePause, busy: CircleDot, calm: CircleDashed };

/** A state: icon, word and colour, so that none of them alone carries it. */
export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  const Icon = ICONS[tone];
  return (
    <span
      className={`inline-flex items-center gap-1 rounded-full px-2 py-0.5 text-[0.82rem] font-medium whitespace-nowrap ${TONES[tone]}`}
    >
      <Icon aria-hidden className="size-3.5 shrink-0" />
      {children}
    </span>
  );
}
