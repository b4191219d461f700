import { HoldfastError } from "../core/errors.ts";
import type { ModelErrorKind } from "./model.ts";
import { isObject } from "./schema-rules.ts";

/** Answers for agents by name, as plain data. */
export interface Script {
  readonly agents?: Readonly<Record<string, readonly ScriptedReply[]>>;
  /** Refuses a request without an answer in the script (HF-4103) instead of making one up. */
  readonly strict?: boolean;
}

/**
 * One answer. Answers without `turn` and `when` are given one per turn, in order. An `error` or a `crash` isn't an
 * answer: the next one goes to the next attempt of the same turn.
 */
export interface ScriptedReply {
  /** Applies only to this start of the agent; the first is 1. */
  readonly visit?: number;
  /** Applies only to this turn; the first is 0. */
  readonly turn?: number;
  /** Applies only when the last message contains this. */
  readonly when?: string;
  readonly text?: string;
  /** The text is this value as JSON. */
  readonly json?: unknown;
  readonly calls?: readonly { readonly tool: string; readonly input?: unknown }[];
  readonly error?: {
    readonly status?: number;
    readonly kind?: ModelErrorKind;
    readonly retryAfterMs?: number;
    readonly message?: string;
  };
  /** Waits this long before answering. */
  readonly delayMs?: number;
  /** Ends the process instead of answering. */
  readonly crash?: boolean;
  readonly usage?: {
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly costUsd?: number;
  };
}

/** The answers to one turn, attempt by attempt; the last one is repeated. */
export interface Turn {
  readonly visit: number | undefined;
  readonly turn: number | undefined;
  readonly when: string | undefined;
  readonly replies: readonly ScriptedReply[];
}

const KEYS: Readonly<Record<keyof ScriptedReply, (value: unknown) => boolean>> = {
  visit: (value) => Number.isInteger(value) && (value as number) >= 1,
  turn: (value) => Number.isInteger(value) && (value as number) >= 0,
  when: (value) => typeof value === "string",
  text: (value) => typeof value === "string",
  json: () => true,
  calls: (value) =>
    Array.isArray(value) && value.every((call) => isObject(call) && typeof call["tool"] === "string"),
  error: (value) => isObject(value) && [value["status"], value["retryAfterMs"]].every(isAmount),
  delayMs: (value) => typeof value === "number" && isAmount(value),
  crash: (value) => typeof value === "boolean",
  usage: (value) => isObject(value) && Object.values(value).every(isAmount),
};

const isAmount = (value: unknown): boolean =>
  value === undefined || (typeof value === "number" && Number.isFinite(value) && value >= 0);

const refuse = (path: string, problem: string): HoldfastError =>
  new HoldfastError("HF-4104", { path, problem });

/** Parses the script into turns. Throws HF-4104 when it isn't valid, because it may come from a file. */
export function checkScript(script: unknown): {
  readonly strict: boolean;
  readonly agents: ReadonlyMap<string, readonly Turn[]>;
} {
  if (!isObject(script)) throw refuse("script", "it must be an object");
  const { agents = {}, strict = false, ...rest } = script;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw refuse(unknown, "there is no such setting");
  if (typeof strict !== "boolean") throw refuse("strict", "it must be true or false");
  if (!isObject(agents)) throw refuse("agents", "it must be an object of agents");
  const turns = Object.entries(agents).map(
    ([name, replies]) => [name, turnsOf(replies, `agents.${name}`)] as const,
  );
  return { strict, agents: new Map(turns) };
}

function turnsOf(replies: unknown, path: string): Turn[] {
  if (!Array.isArray(replies)) throw refuse(path, "it must be a list of answers");
  const turns: Turn[] = [];
  let open: ScriptedReply[] = [];
  for (const [index, given] of replies.entries()) {
    const reply = checkReply(given, `${path}[${index}]`);
    open.push(reply);
    const isAnswer = !reply.error && !reply.crash;
    if (!isAnswer && index < replies.length - 1) continue;
    turns.push({
      visit: open.find(({ visit }) => visit !== undefined)?.visit,
      turn: open.find(({ turn }) => turn !== undefined)?.turn,
      when: open.find(({ when }) => when !== undefined)?.when,
      replies: open,
    });
    open = [];
  }
  return turns;
}

function checkReply(given: unknown, path: string): ScriptedReply {
  if (!isObject(given)) throw refuse(path, "it must be an object");
  for (const [key, value] of Object.entries(given)) {
    const isValid = Object.hasOwn(KEYS, key) ? KEYS[key as keyof ScriptedReply] : undefined;
    if (!isValid) throw refuse(`${path}.${key}`, "there is no such setting");
    if (!isValid(value)) throw refuse(`${path}.${key}`, "its value is not of the right kind");
  }
  return given;
}
