import { isRecord } from "../core/check-options.ts";
import type { Context } from "../core/context.ts";
import { defined } from "../core/defined.ts";
import { HoldfastError } from "../core/errors.ts";
import type { DAGCommand, DAGStructure, StateUpdate, WorkflowState } from "./types.ts";

/** What a decision after a layer is based on. It is plain data: don't change it. */
export interface LayerView {
  readonly workflow_id: string;
  /** The number of finished layers. */
  readonly layer_index: number;
  /** The tasks of the layer that has just ended. */
  readonly finished: readonly string[];
  /** The tasks of the next layer, as planned. */
  readonly next: readonly string[];
  /** Speculative tasks that are being started ahead. */
  readonly speculative: readonly string[];
  readonly state: WorkflowState;
  readonly dag: DAGStructure;
}

/** What the AI in the loop decides after a layer. */
export interface AILDecision extends Pick<StateUpdate, "messages" | "context"> {
  readonly description?: string;
  readonly rationale?: string;
  readonly alternatives?: readonly string[];
  /** 0 to 1. */
  readonly confidence?: number;
  readonly commands?: readonly DAGCommand[];
}

/** Called after each layer, as a step: its decision is saved, and not asked for again. Return nothing to continue. */
export type AIL = (view: LayerView) => AILDecision | undefined | Promise<AILDecision | undefined>;

/** A question to a person after a layer. */
export interface HILQuestion {
  /** What the person sees. */
  readonly show: unknown;
  /** What each choice does to the plan. */
  readonly choices: Readonly<Record<string, readonly DAGCommand[]>>;
  /** Allows free text with the choice; it becomes the rationale. */
  readonly text?: boolean;
  readonly timeoutMs?: number;
  readonly onTimeout?: "fail" | { readonly choice: string };
}

/** Called after each layer, and again on a replay, so it must return the same for the same view. Return nothing to continue. */
export type HIL = (view: LayerView) => HILQuestion | undefined | Promise<HILQuestion | undefined>;

/** A decision that was made, before its commands are applied. */
export interface Made extends AILDecision {
  readonly at: number;
  readonly actor?: string;
}

export async function askAI(
  ctx: Context,
  ail: AIL,
  view: LayerView,
  now: () => number,
): Promise<Made | undefined> {
  const work = async (): Promise<{ at: number; decision: AILDecision | null }> => {
    const decision = (await ail(view)) ?? null;
    if (decision !== null) checkDecision(decision, view.layer_index);
    return { at: now(), decision };
  };
  const { at, decision } = await ctx.step("ai-decision", work);
  return decision === null ? undefined : { ...decision, at };
}

function checkDecision(decision: unknown, layer: number): void {
  const problem = problemOf(decision);
  if (problem !== undefined) throw new HoldfastError("HF-4563", { layer, problem });
}

function problemOf(decision: unknown): string | undefined {
  if (!isRecord(decision)) return "it must be an object";
  const { commands = [], messages = [], context = {}, confidence = 1 } = decision;
  if (!Array.isArray(commands)) return "its commands must be a list";
  if (!Array.isArray(messages)) return "its messages must be a list";
  if (!isRecord(context)) return "its context must be an object";
  if (typeof confidence !== "number" || !(confidence >= 0 && confidence <= 1))
    return "its confidence must be a number from 0 to 1";
  return undefined;
}

export async function askPerson(ctx: Context, question: HILQuestion): Promise<Made> {
  const { show, choices, text, timeoutMs, onTimeout } = question;
  const answer = await ctx.gate("human-decision", {
    show,
    choices: Object.keys(choices),
    ...defined({ text, timeoutMs, onTimeout }),
  });
  const others = Object.keys(choices).filter((choice) => choice !== answer.choice);
  return {
    description: answer.choice,
    alternatives: others,
    commands: choices[answer.choice] ?? [],
    at: answer.at,
    actor: answer.actor,
    ...(answer.text === undefined ? {} : { rationale: answer.text }),
  };
}
