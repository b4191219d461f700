import type { AnswerOf } from "../../api/client.ts";
import { TEXT } from "../../text.ts";

type Progress = AnswerOf<"getOutline">["progress"];

/** How far a run is. Without a known total there is no bar: it would be a guess. */
export function ProgressBar({ progress, tone }: { readonly progress: Progress; readonly tone: string }) {
  const { percent, text } = progress;
  if (percent === undefined) return <span className="text-soft">{text}</span>;
  return (
    <span className="flex items-center gap-2">
      <progress aria-label={TEXT.run.head.progress} value={percent} max={100} className="sr-only" />
      <span aria-hidden className="h-1.5 w-40 overflow-hidden rounded-full bg-calm-soft">
        <span className={`block h-full rounded-full ${tone}`} style={{ width: `${percent}%` }} />
      </span>
      <span className="whitespace-nowrap tabular-nums">{text}</span>
    </span>
  );
}
