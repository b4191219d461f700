/** What of a run is shown, and where: the whole of it is in the address, so that everything can be linked to. */
export interface RunPlace {
  readonly run: string;
  readonly view: View;
  readonly below: Below;
  /** The key of the step in the inspector. */
  readonly step: string | null;
  readonly attempt: number | null;
  /** A checkpoint: a position, a label, or the name of a phase. */
  readonly at: string | null;
}

export const VIEWS = ["outline", "graph", "timeline"] as const;
export const BELOW = ["events", "logs", "conversation", "audit", "cost"] as const;
export type View = (typeof VIEWS)[number];
export type Below = (typeof BELOW)[number];

const oneOf = <T extends string>(known: readonly T[], value: string | null): T | undefined =>
  known.find((one) => one === value);

/**
 * Reads `/r/<run>`, `/r/<run>:<step>`, `/r/<run>/<step>` and `/r/<run>@<checkpoint>`. What the query says counts more than the
 * path.
 */
export function readPlace(path: string, search: string): RunPlace {
  const [, run = "", sign = "", rest = ""] = /^\/r\/([\w-]+)(?:([:/@])(.*))?$/s.exec(path) ?? [];
  const query = new URLSearchParams(search);
  const named = rest === "" ? null : decoded(rest);
  const attempt = Number(query.get("attempt") ?? "");
  return {
    run,
    view: oneOf(VIEWS, query.get("view")) ?? "outline",
    below: oneOf(BELOW, query.get("below")) ?? "events",
    step: query.get("step") ?? (sign === "@" ? null : named),
    attempt: Number.isInteger(attempt) && attempt > 0 ? attempt : null,
    at: query.get("at") ?? (sign === "@" ? named : null),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of a place. What is as usual isn't in it. */
export function writePlace({ run, view, below, step, attempt, at }: RunPlace): string {
  const query = new URLSearchParams();
  if (view !== "outline") query.set("view", view);
  if (below !== "events") query.set("below", below);
  if (step !== null) query.set("step", step);
  if (step !== null && attempt !== null) query.set("attempt", String(attempt));
  if (at !== null) query.set("at", at);
  const text = query.toString();
  return `/r/${run}${text === "" ? "" : `?${text}`}`;
}
