import type { AnswerOf, ArgsOf } from "../api/client.ts";

export type BulkAct = ArgsOf<"actOnRuns">["act"];
type Answer = AnswerOf<"actOnRuns">;
export type Refusal = Answer["refused"][number];

/** What has been done so far, and what was refused. */
export interface Outcome {
  readonly total: number;
  readonly done: readonly string[];
  readonly refused: readonly Refusal[];
  readonly usage: Answer["usage"];
}

/** How fast: so many runs, then a pause. */
export interface Pace {
  readonly id: string;
  readonly runs: number;
  readonly everyMs: number;
}

/** The most that the API takes at once. */
const MOST = 100;

export const PACES = [
  { id: "fast", runs: MOST, everyMs: 0 },
  { id: "perSecond10", runs: 10, everyMs: 1_000 },
  { id: "perSecond1", runs: 1, everyMs: 1_000 },
  { id: "perMinute10", runs: 10, everyMs: 60_000 },
] as const satisfies readonly Pace[];

export const nothing = (total: number): Outcome => ({
  total,
  done: [],
  refused: [],
  usage: { tokens: 0, costUsd: 0 },
});

/** What is known of a sum; `null` when something was used and nothing of it has a price. */
const known = (sum: number | null, { costUsd, tokens }: Answer["usage"]): number | null =>
  tokens === 0 ? sum : sum ? sum + (costUsd ?? 0) : costUsd;

const added = (sum: Outcome, { done, refused, usage }: Answer): Outcome => ({
  total: sum.total,
  done: [...sum.done, ...done],
  refused: [...sum.refused, ...refused],
  usage: {
    tokens: sum.usage.tokens + usage.tokens,
    costUsd: known(sum.usage.costUsd, usage),
  },
});

export interface BulkOptions {
  readonly pace?: Pace;
  readonly signal?: AbortSignal;
  readonly onProgress?: (outcome: Outcome) => void;
  readonly pause?: (ms: number) => Promise<void>;
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Acts on runs, some at a time. Stops after the request under way when it is told to. */
export async function inBulk(
  runs: readonly string[],
  act: (runs: readonly string[]) => Promise<Answer>,
  { pace = PACES[0], signal, onProgress, pause = wait }: BulkOptions = {},
): Promise<Outcome> {
  let outcome = nothing(runs.length);
  for (let at = 0; at < runs.length && !signal?.aborted; at += pace.runs) {
    if (at > 0 && pace.everyMs > 0) await pause(pace.everyMs);
    if (signal?.aborted) break;
    outcome = added(outcome, await act(runs.slice(at, at + pace.runs)));
    onProgress?.(outcome);
  }
  return outcome;
}

/** How long it takes at this pace, without the time of the requests themselves. */
export const durationOf = (runs: number, { runs: some, everyMs }: Pace): number =>
  Math.max(0, Math.ceil(runs / some) - 1) * everyMs;

export interface RefusalGroup {
  readonly what: string;
  readonly code: string;
  readonly runs: readonly string[];
}

/** Ids have nothing that a pattern would take for more than itself. */
const withoutRun = ({ run, what }: Refusal): string =>
  what.replaceAll(new RegExp(`(?<![\\w-])${run}(?![\\w-])`, "g"), "…");

/** The same refusals together: their sentences differ only in the run's id. */
export function groupedRefusals(refused: readonly Refusal[]): RefusalGroup[] {
  const groups = new Map<string, Refusal[]>();
  for (const one of refused) {
    const shape = `${one.code}\n${withoutRun(one)}`;
    const group = groups.get(shape);
    if (group) group.push(one);
    else groups.set(shape, [one]);
  }
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    const { what, code, run } = first;
    return [
      {
        what: others.length === 0 ? what : withoutRun(first),
        code,
        runs: [run, ...others.map((one) => one.run)],
      },
    ];
  });
}

/** The most runs that one act takes on. */
export const MOST_RUNS = 10_000;

/** The ids of all runs of a list, page by page. */
export async function allIds(
  ask: (cursor: string | undefined) => Promise<AnswerOf<"listRuns">>,
): Promise<string[]> {
  const ids = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await ask(cursor);
    for (const { id } of page.runs) ids.add(id);
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined && ids.size < MOST_RUNS);
  return [...ids].slice(0, MOST_RUNS);
}
