import { countedName, memberName, prefixOf } from "../core/keys.ts";
import type { StateView } from "../core/types.ts";
import { toolMessage } from "./call-tools.ts";
import type { Message, ModelReply, ToolCall } from "./model.ts";
import { render } from "./render.ts";
import { takenReply, withOwnIds } from "./reply.ts";
import { isObject } from "./schema-rules.ts";

/**
 * An agent's conversation at a checkpoint, with what its unfinished turns have recorded so far. `agent` is the key of
 * its loop: its name, and before it the steps around it. Pass the result to `transcript`, which also answers the calls
 * that have no result yet.
 *
 * @example
 * ```ts
 * import type { Engine } from "holdfast";
 * import { messagesAt } from "holdfast/agent";
 *
 * export const saidSoFar = async (engine: Engine, runId: string) =>
 *   messagesAt(await engine.checkpoints.state(runId), "clerk").map(({ text }) => text);
 * ```
 */
export function messagesAt(state: Pick<StateView, "loops" | "steps">, agent: string): Message[] {
  const talk = Object.hasOwn(state.loops, agent) ? state.loops[agent] : undefined;
  const saved: unknown = isObject(talk) ? talk["messages"] : undefined;
  const messages = Array.isArray(saved) ? [...(saved as Message[])] : [];
  for (const turn of openTurns(state.steps, agent)) {
    const inside = prefixOf(memberName(agent, turn));
    // Native data stays behind: the step's result doesn't say which model it is for.
    const { text, calls } = takenReply(state.steps[`${inside}model`] as ModelReply, "");
    const own = withOwnIds(calls, messages, turn);
    messages.push({ role: "assistant", text, ...(own.length > 0 ? { calls: own } : {}) });
    messages.push(...resultsOf(state.steps, inside, own));
  }
  return messages;
}

/** The turns whose answer is recorded and that aren't part of the loop's state yet. */
function openTurns(steps: StateView["steps"], agent: string): number[] {
  return Object.keys(steps)
    .map((key) => (key.startsWith(`${agent}[`) ? /^\[(\d+)\]\/model$/.exec(key.slice(agent.length)) : null))
    .flatMap((found) => (found ? [Number(found[1])] : []))
    .sort((a, b) => a - b);
}

/**
 * Results belong to calls only if it is certain which: a refused call isn't a step, so of several calls of one tool it
 * is known only when all have ended.
 */
function resultsOf(steps: StateView["steps"], inside: string, calls: readonly ToolCall[]): Message[] {
  return calls.flatMap((call) => {
    const alike = calls.filter(({ tool }) => tool === call.tool);
    const key = (nth: number) => inside + countedName(`tool:${call.tool}`, nth);
    const isCertain = alike.every((_, index) => Object.hasOwn(steps, key(index + 1)));
    if (!isCertain) return [];
    const value = steps[key(alike.indexOf(call) + 1)];
    const isError = isObject(value) && value["isError"] === true && typeof value["text"] === "string";
    return [toolMessage(call, isError ? String(value["text"]) : render(value), isError)];
  });
}
