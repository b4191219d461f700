import type { EventMeta, StepStarted, UsageMeta } from "../../core/journal/events.ts";
import { baseName, lastSegment } from "../../core/keys.ts";
import type { RunRow } from "../../core/types.ts";
import type { Attributes } from "./span.ts";

const TOOL = "tool:";

/** What every span of a run has. */
export const ofRun = ({ id, workflow }: Pick<RunRow, "id" | "workflow">): Attributes => ({
  "holdfast.run.id": id,
  "holdfast.workflow": workflow,
});

export const ofClaim = ({ owner, recovery }: EventMeta["run_claimed"]): Attributes => ({
  "holdfast.worker": owner,
  ...(recovery > 0 ? { "holdfast.recovery": recovery } : {}),
});

export function ofStep(step: string, { type, effect, attempt }: StepStarted): Attributes {
  const name = baseName(lastSegment(step));
  return {
    "holdfast.step": step,
    "holdfast.step.type": type,
    "holdfast.step.effect": effect,
    "holdfast.step.attempt": attempt,
    ...(name.startsWith(TOOL)
      ? { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name.slice(TOOL.length) }
      : {}),
  };
}

/** Tokens and money. The names of model calls are those of OpenTelemetry's conventions for generative AI. */
export function ofUsage(usage: UsageMeta | undefined): Attributes {
  if (!usage) return {};
  const { tokens, costUsd, model } = usage;
  return {
    ...(tokens > 0 ? { "holdfast.usage.tokens": tokens } : {}),
    ...(costUsd > 0 ? { "holdfast.usage.cost_usd": costUsd } : {}),
    ...(model === undefined ? {} : ofModel(model)),
  };
}

function ofModel(model: string): Attributes {
  const slash = model.indexOf("/");
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": slash < 0 ? model : model.slice(slash + 1),
    ...(slash > 0 ? { "gen_ai.provider.name": model.slice(0, slash) } : {}),
  };
}

/** A step's span is called like the step without its place in a loop, and a model call as the conventions say. */
export function nameOf(step: string, attributes: Attributes): string {
  const [operation, model, tool] = ["operation.name", "request.model", "tool.name"].map(
    (name) => attributes[`gen_ai.${name}`],
  );
  if (operation === "chat") return `chat ${String(model)}`;
  if (operation === "execute_tool") return `execute_tool ${String(tool)}`;
  return baseName(lastSegment(step));
}
