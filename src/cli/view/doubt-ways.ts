/** Until when a step's worker may still be active, and the time now, both by the store's clock. */
export interface Rerun {
  readonly rerunAfter?: number | undefined;
  readonly now: number;
}

/** The commands that decide about a step with an unknown outcome. One that would be refused now comes with a wait. */
export function doubtWays(id: string, rerun: Rerun): string[] {
  const left = leftOf(rerun);
  const wait = left > 0 ? ` --after ${Math.ceil(left / 1_000) + 1}s` : "";
  return [`resume ${id} --in-doubt rerun${wait}`, `resume ${id} --in-doubt mark-done --result '<json>'`];
}

/** `; it can be run again from 00:39:17 UTC`, while it can't. */
export const rerunNote = (rerun: Rerun): string =>
  leftOf(rerun) > 0
    ? `it can be run again from ${new Date(rerun.rerunAfter ?? 0).toISOString().slice(11, 19)} UTC, because the process that started it may be active until then`
    : "";

const leftOf = ({ rerunAfter = 0, now }: Rerun): number => rerunAfter - now;
