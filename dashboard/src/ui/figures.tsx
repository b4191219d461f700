import type { ReactNode } from "react";

export interface Figure {
  readonly name: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
  readonly tone?: "good" | "bad" | "waits" | "plain";
}

const TONES = { good: "text-good", bad: "text-bad", waits: "text-waits", plain: "" } as const;

/** A few figures in a row: what it is, how much, and what to make of it. */
export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl className="mb-5 grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-surface sm:grid-cols-[repeat(auto-fit,minmax(11rem,1fr))]">
      {figures.map(({ name, value, note, tone = "plain" }) => (
        <div key={name} className="px-4 py-3 outline outline-line">
          <dt className="text-[0.87rem] text-soft">{name}</dt>
          <dd>
            <span className={`block text-xl font-semibold tracking-tight tabular-nums ${TONES[tone]}`}>
              {value}
            </span>
            {note === undefined ? null : (
              <span className="mt-0.5 block text-[0.87rem] text-soft">{note}</span>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A part of a whole as a bar. The text beside it says the same. */
export function Bar({
  part,
  tone = "accent",
  className = "",
}: {
  readonly part: number;
  readonly tone?: "accent" | "bad" | "waits";
  readonly className?: string;
}) {
  const FILLS = { accent: "bg-accent", bad: "bg-bad", waits: "bg-waits" } as const;
  return (
    <span aria-hidden className={`block h-1.5 overflow-hidden rounded-full bg-calm-soft ${className}`}>
      <span
        className={`block h-full rounded-full ${FILLS[tone]}`}
        style={{ width: `${Math.max(0, Math.min(1, part)) * 100}%` }}
      />
    </span>
  );
}
