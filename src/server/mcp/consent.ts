import { createHmac, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import { replaceUnseen } from "../../core/values/unseen.ts";
import type { McpTool } from "./tools.ts";

/** How long a question stays valid. */
const VALID_MS = 10 * 60_000;
const MOST_SHOWN = 600;

export type Arguments = Readonly<Record<string, unknown>>;

/**
 * Consent to one act. The answer of a person comes back through the client together with a state that only this process
 * can make, and that fits only this tool with these arguments: a yes to one act is no yes to another, and counts once.
 */
export class Consent {
  readonly #clock: Clock;
  readonly #secret = randomBytes(32);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The state of a question about this act. */
  ask(tool: McpTool, args: Arguments): string {
    const id = randomUUID();
    const until = this.#clock.now() + VALID_MS;
    return [id, until, this.#mark(tool, args, id, until)].join(".");
  }

  /** The name under which the act counts once, if the state belongs to a question about exactly this act. */
  check(tool: McpTool, args: Arguments, state: unknown): string | null {
    if (typeof state !== "string" || state.length > 300) return null;
    const [id = "", until = "", mark = ""] = state.split(".");
    const expected = Buffer.from(this.#mark(tool, args, id, Number(until)));
    const given = Buffer.from(mark);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
    return this.#clock.now() <= Number(until) ? id : null;
  }

  #mark(tool: McpTool, args: Arguments, id: string, until: number): string {
    const told = JSON.stringify([tool.name, sorted(args), id, until]);
    return createHmac("sha256", this.#secret).update(told).digest("base64url");
  }
}

/** The same arguments in whatever order. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, one]) => [key, sorted(one)]));
};

/** What a person is asked: the act, what it is about, and the assistant's own words marked as such. */
export function questionOf(tool: McpTool, args: Arguments, about: string): string {
  const { reason, run, ...rest } = args;
  const details = Object.keys(rest).length === 0 ? "" : `\nWith: ${line(JSON.stringify(rest))}`;
  return [
    `An assistant wants to ${tool.name.replaceAll("_", " ")}: ${line(String(run))}${about === "" ? "" : ` (${line(about)})`}.`,
    `${tool.operation.summary}${details}`,
    `The assistant's reason: "${line(String(reason))}"`,
    "It is recorded with your answer.",
  ].join("\n");
}

const line = (text: string): string =>
  replaceUnseen(text.replace(/\s+/g, " "), () => "�").slice(0, MOST_SHOWN);
