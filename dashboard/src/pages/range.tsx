import { useState } from "react";
import { TEXT } from "../text.ts";
import { Segments } from "../ui/field.tsx";

const DAY = 86_400_000;
const SPANS = { day: DAY, week: 7 * DAY, month: 30 * DAY, all: null } as const;
export type RangeName = keyof typeof SPANS;

const NAMES = Object.keys(SPANS) as RangeName[];

export interface Range {
  readonly name: RangeName;
  /** Missing: from the beginning. Full minutes, so that the same question isn't asked anew every moment. */
  readonly since?: number;
  readonly choose: (name: RangeName) => void;
}

/** A time range that somebody chooses. */
export function useRange(first: RangeName = "week"): Range {
  const [{ name, since }, set] = useState(() => from(first));
  return { name, choose: (chosen) => set(from(chosen)), ...(since === null ? {} : { since }) };
}

function from(name: RangeName): { readonly name: RangeName; readonly since: number | null } {
  const span = SPANS[name];
  const now = Date.now();
  return { name, since: span === null ? null : now - (now % 60_000) - span };
}

export function RangePicker({ range: { name, choose } }: { readonly range: Range }) {
  return (
    <Segments
      label={TEXT.range.label}
      value={name}
      choices={NAMES.map((value) => ({ value, name: TEXT.range[value] }))}
      onChange={choose}
    />
  );
}
