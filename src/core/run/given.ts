import { badOption, checkObject, checkWhole } from "../check-options.ts";
import type { Workflow } from "../context.ts";
import { defined } from "../defined.ts";
import { checkAct } from "../journal/act.ts";
import type { EventDraft } from "../journal/events.ts";
import { isTraceparent } from "../journal/observer.ts";
import type { Values } from "../journal/values.ts";
import type { StartDefaults, StartOptions } from "../options.ts";
import { checkBudget } from "../options.ts";
import type { Alone, Blob } from "../store/contract.ts";
import { checkTags, type TagMeta, tagsOfChild } from "../tags.ts";
import type { Budget, EffectPolicy, RunTags } from "../types.ts";

/** The things that a run gets besides its input. */
export interface Given {
  readonly budget: Budget | undefined;
  readonly config: Readonly<Record<string, unknown>> | undefined;
  /** Who starts it, if anybody says so. */
  readonly actor?: string | undefined;
  /** Why, if anybody says so. */
  readonly reason?: string | undefined;
  readonly tags: RunTags;
  /** When it begins; `undefined`: at once. */
  readonly startAt?: number | undefined;
  /** How it stands to other runs of its key. */
  readonly alone?: AloneOptions | undefined;
  /** For a child of a fork whose source has none: how it treats what the source's will have done. */
  readonly effects?: EffectPolicy | undefined;
  /** The trace context of whoever starts it. */
  readonly traceparent?: string | undefined;
}

export interface AloneOptions extends Alone {
  /** True when the start is refused instead of joining the other run. */
  readonly isRefused: boolean;
  /** How long it waits for other starts. */
  readonly debounceMs: number | undefined;
}

/** From the caller that starts it: what is given here takes precedence over what the workflow says. */
export function givenAtStart(workflow: Workflow, input: unknown, asked: StartOptions): Given {
  const { budget: own } = workflow;
  const options = { ...defaultsOf(workflow, input, asked), ...defined(asked) };
  const { budget: limits, config, startAt, actor, reason, traceparent } = options;
  if (traceparent !== undefined && !isTraceparent(traceparent))
    throw badOption(
      "traceparent",
      "it must have the form of W3C Trace Context: 00-<trace id>-<span id>-<flags>",
    );
  checkAct(defined({ actor, reason }));
  if (config !== undefined) checkObject("config", config);
  const given = checkBudget(limits);
  return {
    budget: own || given ? { ...own, ...given } : undefined,
    config,
    actor,
    reason,
    tags: checkTags(options),
    startAt: checkStartAt(startAt),
    alone: checkAlone(options),
    traceparent,
  };
}

/** A caller that says when it begins, or how it stands to others of its key, decides that alone. */
function defaultsOf(
  { starts }: Workflow,
  input: unknown,
  { singleton, debounceMs, startAt }: StartOptions,
): StartDefaults {
  const { singleton: once, debounceMs: pause, ...tags } = starts?.(input) ?? {};
  if (singleton !== undefined || debounceMs !== undefined) return tags;
  return { ...tags, ...defined({ singleton: once, debounceMs: startAt === undefined ? pause : undefined }) };
}

/**
 * From a schedule, or from the run that it repeats. Neither joins another run: a schedule says itself how its runs stand
 * to each other.
 */
export function givenAnew(workflow: Workflow, input: unknown, asked: StartOptions): Omit<Given, "alone"> {
  const { alone: _, ...given } = givenAtStart(workflow, input, asked);
  return given;
}

const DAY = 86_400_000;

/** How a run stands to others of its key, as given. */
export function checkAlone({ key, singleton, debounceMs, startAt }: StartOptions): AloneOptions | undefined {
  const option = singleton !== undefined ? "singleton" : "debounceMs";
  if (singleton === undefined && debounceMs === undefined) return undefined;
  if (key === undefined) throw badOption(option, "it goes by key, and none is given");
  if (singleton !== undefined && singleton !== "join" && singleton !== "refuse")
    throw badOption(option, 'it must be "join" or "refuse"');
  if (debounceMs !== undefined) checkWhole("debounceMs", debounceMs, 1, DAY);
  if (debounceMs !== undefined && (singleton !== undefined || startAt !== undefined))
    throw badOption("debounceMs", "it can't be combined with singleton or startAt");
  const among = singleton === undefined ? "unbegun" : "unended";
  return { key, among, isRefused: singleton === "refuse", debounceMs };
}

/** The last moment that a Date can name. */
const LAST = 8.64e15;

function checkStartAt(startAt: StartOptions["startAt"]): number | undefined {
  if (startAt === undefined) return undefined;
  const at = startAt instanceof Date ? startAt.getTime() : startAt;
  if (typeof at === "number" && Number.isFinite(at) && Math.abs(at) <= LAST) return at;
  throw badOption("startAt", "it must be a Date, or a time in milliseconds");
}

/**
 * From its parent: the unchanged config, and its tags unless the workflow or the caller says otherwise. The limits of its
 * own workflow apply besides those of the runs above, which are looked up there.
 */
export function givenByParent(
  { config, writer }: { readonly config: Given["config"]; readonly writer: { readonly row: RunTags } },
  { budget, starts }: Workflow,
  input: unknown,
  given: TagMeta = {},
): Given {
  const hasConfig = config !== undefined && Object.keys(config).length > 0;
  const tags = checkTags({ ...starts?.(input), ...defined(given) }, tagsOfChild(writer.row));
  return { budget, config: hasConfig ? config : undefined, tags };
}

/** As events of the write that creates the run. */
export function givenEvents(
  values: Values,
  { budget, config }: Pick<Given, "budget" | "config">,
): { events: readonly EventDraft[]; blobs: readonly Blob[] } {
  const encoded = config && values.encode("config", config);
  const events: EventDraft[] = [];
  if (budget) events.push({ kind: "budget_set", step: "", meta: budget });
  if (encoded) events.push({ kind: "value_edited", step: "", meta: { what: "config" }, data: encoded.data });
  return { events, blobs: encoded?.blobs ?? [] };
}
