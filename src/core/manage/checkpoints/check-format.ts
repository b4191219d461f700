import { isRecord } from "../../check-options.ts";

const STATUSES = ["in_progress", "paused", "completed", "failed", "cancelled"];
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Checks a checkpoint in version 1.0 of the interchange format, as `checkpointToJson` and the checkpoint system design
 * write it. Returns the problems, one sentence each; none for a healthy checkpoint.
 *
 * @example
 * ```ts
 * import { checkCheckpointJson } from "holdfast/manage";
 *
 * const problems = checkCheckpointJson(JSON.parse('{ "version": "1.0" }'));
 * console.log(problems[0]); // checkpoint_id is missing.
 * ```
 */
export function checkCheckpointJson(value: unknown): readonly string[] {
  if (!isRecord(value)) return ["It isn't an object."];
  return [...problemsOf(value)];
}

const VALUES = ["agents", "decisions", "metrics"] as const;

/** The checkpoint as far as it can be read without a key: an encrypted store seals the values of its files. */
export function unsealedPart(value: Json): { readonly json: Json; readonly sealed: boolean } {
  const blank = { agents: {}, decisions: [], metrics: {} };
  const sealed = VALUES.filter((key) => isSealedValue(value[key]));
  const open = Object.fromEntries(sealed.map((key) => [key, blank[key]]));
  return { json: { ...value, ...open }, sealed: sealed.length > 0 };
}

const isSealedValue = (value: unknown): boolean =>
  isRecord(value) && typeof value["sealed"] === "string" && Object.keys(value).length === 1;

/** True for an object that is meant to be such a checkpoint, healthy or not. */
export const looksLikeCheckpoint = (value: Readonly<Record<string, unknown>>): boolean =>
  ["checkpoint_id", "workflow_id", "agents", "decisions", "metrics"].filter((key) => key in value).length >=
  3;

type Json = Readonly<Record<string, unknown>>;

function* problemsOf(value: Json): Generator<string> {
  const { version, timestamp, phase, status, agents, decisions, metrics } = value;
  for (const key of ["checkpoint_id", "workflow_id"]) yield* text(key, value[key]);
  if (typeof version !== "string" || !/^1(\.|$)/.test(version)) yield said("version", version, '"1.0"');
  yield* time("timestamp", timestamp);
  if (typeof phase !== "string" && !(Number.isInteger(phase) && Number(phase) >= 0))
    yield said("phase", phase, "a number or a name");
  if (typeof status !== "string" || !STATUSES.includes(status))
    yield said("status", status, `one of ${STATUSES.join(", ")}`);
  if (!isRecord(agents)) yield said("agents", agents, "an object of agents by name");
  else for (const [name, agent] of Object.entries(agents)) yield* agentProblems(`agents.${name}`, agent);
  if (!Array.isArray(decisions)) yield said("decisions", decisions, "a list");
  else for (const [index, one] of decisions.entries()) yield* decisionProblems(`decisions[${index}]`, one);
  if (!isRecord(metrics)) yield said("metrics", metrics, "an object of numbers");
  else
    for (const [key, amount] of Object.entries(metrics))
      if (amount !== null && !(typeof amount === "number" && amount >= 0))
        yield said(`metrics.${key}`, amount, "a number of 0 or more");
}

function* agentProblems(path: string, agent: unknown): Generator<string> {
  if (!isRecord(agent)) return yield said(path, agent, "an object");
  yield* text(`${path}.status`, agent["status"]);
  yield* confidence(`${path}.confidence`, agent["confidence"]);
  const state = agent["state"] ?? "";
  if (typeof state !== "string" || !BASE64.test(state)) yield said(`${path}.state`, state, "base64");
}

function* decisionProblems(path: string, decision: unknown): Generator<string> {
  if (!isRecord(decision)) return yield said(path, decision, "an object");
  yield* text(`${path}.description`, decision["description"]);
  yield* time(`${path}.timestamp`, decision["timestamp"]);
  yield* confidence(`${path}.confidence`, decision["confidence"]);
}

function* text(path: string, value: unknown): Generator<string> {
  if (typeof value !== "string" || value === "") yield said(path, value, "a text");
}

function* time(path: string, value: unknown): Generator<string> {
  if (typeof value !== "string" || Number.isNaN(Date.parse(value))) yield said(path, value, "an ISO time");
}

function* confidence(path: string, value: unknown): Generator<string> {
  if (value === undefined || value === null) return;
  if (!(typeof value === "number" && value >= 0 && value <= 1))
    yield said(path, value, "a number from 0 to 1");
}

const said = (path: string, value: unknown, wanted: string): string =>
  value === undefined ? `${path} is missing.` : `${path} must be ${wanted}.`;
