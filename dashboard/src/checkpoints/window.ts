/** Checkpoints that the slider has at once; a long run is scrubbed window by window. */
export const WINDOW = 200;

interface Place {
  readonly seq: number;
}

/**
 * The end of the window to look at, a position or `undefined` for now, if the one that is shown doesn't have the
 * checkpoint that is asked for: its address may have been copied from somewhere else. `null`: this one has it.
 */
export function otherWindow(
  shown: readonly Place[],
  at: number | null,
  end: number | undefined,
  newest: number,
): number | undefined | null {
  const [first, last] = [shown[0], shown.at(-1)];
  if (!first || !last) return null;
  if (at === null) return end === undefined ? null : undefined;
  const isOlder = shown.length === WINDOW && at < first.seq;
  const isNewer = end !== undefined && at >= end;
  return isOlder || isNewer ? within(at + 1 + WINDOW / 2, newest) : null;
}

/** The end of the window after the one that is shown. Every checkpoint has a position of its own, so none is left out. */
export const newerWindow = (shown: readonly Place[], newest: number): number | undefined =>
  within((shown.at(-1)?.seq ?? newest) + WINDOW, newest);

const within = (end: number, newest: number): number | undefined => (end > newest ? undefined : end);
