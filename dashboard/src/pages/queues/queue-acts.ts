import { type Act, command } from "../../acts/act.ts";
import { type AnswerOf, type ArgsOf, client } from "../../api/client.ts";
import { TEXT } from "../../text.ts";
import { parseSpan } from "../spans.ts";

export type Queue = AnswerOf<"listQueues">["queues"][number];
export type RateLimit = AnswerOf<"listRateLimits">["limits"][number];

export const MANAGE = "flow:manage";

const act = (
  noun: "queues" | "rate-limits",
  text: { title: (name: string) => string; effect: string; verb: string; reasons: readonly string[] },
  words: readonly string[],
  perform: Act["perform"],
): Act => ({
  title: text.title(words[1] ?? ""),
  effect: text.effect,
  verb: text.verb,
  reasons: text.reasons,
  cli: (reason) => command([noun, ...words], reason),
  permission: MANAGE,
  isDangerous: words[0] === "delete",
  perform,
});

const Q = TEXT.queues;

export const pauseQueue = ({ name }: Queue): Act =>
  act("queues", Q.pause, ["pause", name], (reason) => client.pauseQueue({ name, reason }));
export const resumeQueue = ({ name }: Queue): Act =>
  act("queues", Q.resume, ["resume", name], (reason) => client.resumeQueue({ name, reason }));
export const deleteQueue = ({ name }: Queue): Act =>
  act("queues", Q.remove, ["delete", name], (reason) => client.deleteQueue({ name, reason }));

const HOLD_MS = 600_000;

export const holdLimit = ({ name }: RateLimit): Act =>
  act("rate-limits", Q.limits.hold, ["hold", name, "10m"], (reason) =>
    client.holdRateLimit({ name, ms: HOLD_MS, reason }),
  );
export const releaseLimit = ({ name }: RateLimit): Act =>
  act("rate-limits", Q.limits.release, ["hold", name, "0s"], (reason) =>
    client.holdRateLimit({ name, ms: 0, reason }),
  );
export const deleteLimit = ({ name }: RateLimit): Act =>
  act("rate-limits", Q.limits.remove, ["delete", name], (reason) => client.deleteRateLimit({ name, reason }));

/** A whole number from 1 on, nothing, or `null` for something else. */
export function readWhole(text: string): number | undefined | null {
  if (text.trim() === "") return undefined;
  const number = Number(text);
  return Number.isInteger(number) && number >= 1 ? number : null;
}

/** The limits of a form, as the API takes them; `null` while one isn't a number. */
export function queueLimits(form: {
  readonly concurrency: string;
  readonly perKey: string;
  readonly rate: string;
  readonly period: string;
}): Omit<ArgsOf<"setQueue">, "name" | "reason"> | null {
  const [concurrency, perKey, calls] = [
    readWhole(form.concurrency),
    readWhole(form.perKey),
    readWhole(form.rate),
  ];
  const periodMs = parseSpan(form.period);
  if (concurrency === null || perKey === null || calls === null || (calls !== undefined && periodMs === null))
    return null;
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(perKey === undefined ? {} : { perKey }),
    ...(calls === undefined ? {} : { rate: { calls, periodMs: periodMs ?? 60_000 } }),
  };
}
