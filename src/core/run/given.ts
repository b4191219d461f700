import { checkObject } from "../check-options.ts";
import type { Workflow } from "../context.ts";
import { defined } from "../defined.ts";
import { checkAct } from "../journal/act.ts";
import type { EventDraft } from "../journal/events.ts";
import type { Values } from "../journal/values.ts";
import type { StartOptions } from "../options.ts";
import { checkBudget } from "../options.ts";
import type { Blob } from "../store/contract.ts";
import type { Budget } from "../types.ts";

/** What a run gets besides its input. */
export interface Given {
  readonly budget: Budget | undefined;
  readonly config: Readonly<Record<string, unknown>> | undefined;
  /** Who starts it, if anybody says so. */
  readonly actor?: string | undefined;
}

/** From the caller that starts it: a limit given here takes precedence over the workflow's own. */
export function givenAtStart(
  { budget: own }: Workflow,
  { budget: limits, config, actor }: StartOptions,
): Given {
  checkAct(defined({ actor }));
  if (config !== undefined) checkObject("config", config);
  const given = checkBudget(limits);
  return { budget: own || given ? { ...own, ...given } : undefined, config, actor };
}

/**
 * From its parent: the unchanged config. The limits of its own workflow apply besides those of the runs above, which
 * are looked up there.
 */
export function givenByParent(
  { config }: { readonly config: Readonly<Record<string, unknown>> },
  { budget }: Workflow,
): Given {
  const hasConfig = Object.keys(config).length > 0;
  return { budget, config: hasConfig ? config : undefined };
}

/** As events of the write that creates the run. */
export function givenEvents(
  values: Values,
  { budget, config }: Given,
): { events: readonly EventDraft[]; blobs: readonly Blob[] } {
  const encoded = config && values.encode("config", config);
  const events: EventDraft[] = [];
  if (budget) events.push({ kind: "budget_set", step: "", meta: budget });
  if (encoded) events.push({ kind: "value_edited", step: "", meta: { what: "config" }, data: encoded.data });
  return { events, blobs: encoded?.blobs ?? [] };
}
