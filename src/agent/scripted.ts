import { checkFunction, checkKeys } from "../core/check-options.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import {
  kindOfStatus,
  ModelError,
  type ModelErrorKind,
  type ModelProvider,
  type ModelReply,
  type ModelRequest,
} from "./model.ts";
import { sampleOf } from "./sample.ts";
import { checkScript, type Script, type ScriptedReply, type Turn } from "./script.ts";

/** Hooks of a scripted provider. */
export interface ScriptedOptions {
  /** Called with every call before it is answered, to prove that nothing is asked twice. */
  readonly onCall?: (call: ScriptedCall) => void;
  /** Ends the process, for answers with `crash`. */
  readonly crash?: () => void;
  /** Waits, for answers with `delayMs`. Default: a timer. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A call that a scripted provider has received. */
export interface ScriptedCall {
  readonly agent: string;
  readonly turn: number;
  readonly attempt: number;
  readonly model: string;
}

/**
 * A provider that answers from a script: plain data, which a YAML or JSON file can hold. The answer depends only on
 * agent, turn and attempt, so a run that continues in another process gets the same answers as if it had never stopped.
 * If the script has no answer, one is made up that matches the requested schema, unless the script is `strict`.
 *
 * @example
 * ```ts
 * import { scriptedProvider } from "holdfast/agent";
 *
 * export const provider = scriptedProvider({
 *   agents: {
 *     planner: [
 *       { error: { status: 429, retryAfterMs: 1_000 } },
 *       { calls: [{ tool: "search", input: { query: "bolts" } }] },
 *       { json: { steps: ["order bolts"] } },
 *     ],
 *   },
 * });
 * ```
 */
export function scriptedProvider(script: Script, options: ScriptedOptions = {}): ModelProvider {
  checkKeys(options, ["onCall", "crash", "sleep"]);
  for (const [name, hook] of Object.entries(options)) if (hook !== undefined) checkFunction(name, hook);
  const { strict, agents } = checkScript(script);
  const { sleep = timer } = options;
  return {
    name: "scripted",
    async generate(request) {
      const { agent, turn, attempt, model, signal } = request;
      options.onCall?.({ agent, turn, attempt, model });
      const found = findTurn(agents.get(agent) ?? [], request);
      if (!found && strict) {
        const problem = agents.has(agent) ? "none is left" : "there is no such agent in it";
        throw nothing(request, problem, "The script is strict.");
      }
      const reply = found ? (found.replies[attempt - 1] ?? found.replies.at(-1)) : undefined;
      if (reply?.delayMs !== undefined) await sleep(reply.delayMs, signal);
      if (reply?.crash) crash(request, options);
      if (reply?.error) throw failure(reply.error);
      return answer(request, reply);
    },
  };
}

/**
 * The first answer for the last message or for this turn; otherwise the next one without a turn. Answers for this visit
 * come before general ones.
 */
function findTurn(all: readonly Turn[], { visit, turn, messages }: ModelRequest): Turn | undefined {
  const said = messages.at(-1)?.text ?? "";
  const ofVisit = visit === undefined ? [] : all.filter((one) => one.visit === visit);
  const turns = ofVisit.length > 0 ? ofVisit : all.filter((one) => one.visit === undefined);
  const meant = turns.find(({ when, turn: only }) => {
    if (when === undefined && only === undefined) return false;
    return (when === undefined || said.includes(when)) && (only === undefined || only === turn);
  });
  return meant ?? turns.filter(({ when, turn: only }) => when === undefined && only === undefined)[turn];
}

function timer(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(id);
      reject(signal.reason as Error);
    };
    const id = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

function crash(request: ModelRequest, options: ScriptedOptions): void {
  if (!options.crash) throw nothing(request, "it asks for a crash", "No crash function was given.");
  options.crash();
}

const nothing = ({ agent, turn }: ModelRequest, problem: string, why: string): HoldfastError =>
  new HoldfastError("HF-4103", { agent, turn, problem, why });

function failure({ status, kind, retryAfterMs, message }: NonNullable<ScriptedReply["error"]>): ModelError {
  const known: ModelErrorKind = kind ?? (status === undefined ? "network" : kindOfStatus(status));
  return new ModelError(message ?? `The script answers ${status ?? known}.`, {
    kind: known,
    status,
    retryAfterMs,
  });
}

function answer(request: ModelRequest, reply: ScriptedReply | undefined): ModelReply {
  const calls = (reply?.calls ?? []).map(({ tool, input = {} }, index) => ({
    id: `call-${request.turn}-${index}`,
    tool,
    input,
  }));
  const text = textOf(request, reply);
  const usage = {
    inputTokens: reply?.usage?.inputTokens ?? tokens(JSON.stringify(request.messages)),
    outputTokens: reply?.usage?.outputTokens ?? tokens(text + JSON.stringify(calls)),
    ...defined({ costUsd: reply?.usage?.costUsd }),
  };
  return { text, calls, usage, model: request.model, finish: calls.length > 0 ? "tool-calls" : "stop" };
}

function textOf(request: ModelRequest, reply: ScriptedReply | undefined): string {
  if (reply?.text !== undefined) return reply.text;
  if (reply?.json !== undefined) return JSON.stringify(reply.json);
  if (reply?.calls) return "";
  if (!request.schema) return `Answer of ${request.agent}.`;
  const made = sampleOf(request.schema);
  if (!made)
    throw nothing(
      request,
      "none can be made up that fits",
      "No value could be made up that fits the schema asked for.",
    );
  return JSON.stringify(made.value);
}

/** About four characters to a token. */
const tokens = (text: string): number => Math.ceil(text.length / 4);
