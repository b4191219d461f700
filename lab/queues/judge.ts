/**
 * A line of the witness's file: a run's work begins or ends, or a process is dead, and all of its work with it. Lines
 * are in the order in which they were written.
 */
export interface WitnessLine {
  readonly what: "begin" | "end" | "dead";
  readonly run: string;
  readonly key: string;
  readonly pid: number;
  readonly at: number;
}

export interface Promised {
  readonly concurrency: number;
  readonly perKey: number;
  readonly calls: number;
  readonly periodMs: number;
}

export interface Judgement {
  /** The most at once, in all and of one key. */
  readonly most: number;
  readonly mostOfKey: number;
  /** The shortest time in which one more than `calls` began; `Infinity` when there were no more. */
  readonly tightestMs: number;
  readonly begun: number;
  /** The time that the rate alone asks for, as a share of the time that it took. */
  readonly share: number;
  readonly problems: readonly string[];
}

/** Judges what the witness saw. */
export function judge(
  lines: readonly WitnessLine[],
  promised: Promised,
  killed: ReadonlySet<number>,
): Judgement {
  const open = new Map<string, WitnessLine>();
  const unfinished = new Set<string>();
  const problems: string[] = [];
  let [most, mostOfKey] = [0, 0];
  for (const line of lines) {
    const { what, run, key, pid } = line;
    if (what === "dead") for (const one of open.values()) if (one.pid === pid) open.delete(one.run);
    if (what === "dead") continue;
    const before = open.get(run);
    unfinished.add(run);
    if (before && before.pid !== pid && !killed.has(before.pid))
      problems.push(`${run} was advanced by ${before.pid} and ${pid} at once.`);
    if (what === "end") {
      unfinished.delete(run);
      open.delete(run);
      continue;
    }
    open.set(run, line);
    const ofKey = [...open.values()].filter((one) => one.key === key).length;
    [most, mostOfKey] = [Math.max(most, open.size), Math.max(mostOfKey, ofKey)];
  }
  if (most > promised.concurrency) problems.push(`${most} runs were advanced at once.`);
  if (mostOfKey > promised.perKey) problems.push(`${mostOfKey} runs of one key were advanced at once.`);
  for (const run of unfinished) problems.push(`${run} didn't end.`);
  const pace = paceOf(lines, promised);
  if (pace.tightestMs < promised.periodMs)
    problems.push(`${promised.calls + 1} calls began within ${pace.tightestMs} ms.`);
  return { most, mostOfKey, problems, ...pace };
}

function paceOf(lines: readonly WitnessLine[], { calls, periodMs }: Promised) {
  const begins = lines.flatMap(({ what, at }) => (what === "begin" ? [at] : [])).sort((a, b) => a - b);
  const spans = begins.slice(calls).map((at, index) => at - (begins[index] ?? 0));
  const tookMs = (begins.at(-1) ?? 0) - (begins[0] ?? 0);
  const leastMs = Math.floor((begins.length - 1) / calls) * periodMs;
  return {
    tightestMs: spans.reduce((least, span) => Math.min(least, span), Infinity),
    begun: begins.length,
    share: tookMs === 0 ? 1 : leastMs / tookMs,
  };
}
