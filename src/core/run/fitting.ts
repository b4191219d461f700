import { HoldfastError } from "../errors.ts";
import { isQuarantined } from "../guards/content.ts";
import type { EventDraft } from "../journal/events.ts";
import type { Signal } from "../journal/records.ts";
import { isInjected } from "../names.ts";
import { conform, type StandardSchema } from "../standard-schema.ts";
import type { Blob } from "../store/contract.ts";
import type { ActiveRun } from "./active-run.ts";

/** The result of checking a value from outside against its schema. */
interface Fitted {
  readonly value: unknown;
  /** True when that isn't the value as it came, so that it must be recorded. */
  readonly isOther: boolean;
}

/**
 * Checks a value that came from outside: what the schema makes of it, or the problem (HF-1042) when it doesn't match. Asked
 * once for each value: the journal says that it was accepted, and as what.
 */
async function fit(
  execution: ActiveRun,
  schema: StandardSchema,
  value: unknown,
  what: string,
): Promise<Fitted | HoldfastError> {
  // The content check has put a marker in its place.
  if (isQuarantined(value)) return { value, isOther: false };
  const { values } = execution.deps;
  try {
    const made = await execution.busy(conform(schema, value, what));
    return { value: made, isOther: values.digest(made) !== values.digest(value) };
  } catch (error) {
    if (HoldfastError.is(error, "HF-1042")) return error;
    throw error;
  }
}

/** The schema that the workflow declares for messages of this name. */
export function schemaOf({ workflow }: ActiveRun, name: string): StandardSchema | undefined {
  return isInjected(name) ? undefined : workflow.signals?.[name];
}

/** The payload as the run may see it; `undefined` when the message doesn't match and was set aside. */
export async function fitMessage(
  execution: ActiveRun,
  signal: Signal,
  payload: unknown,
): Promise<Fitted | undefined> {
  const schema = schemaOf(execution, signal.name);
  if (!schema) return { value: payload, isOther: false };
  const fitted = await fit(execution, schema, payload, `Signal ${signal.name}`);
  await execution.enter();
  if (!(fitted instanceof Error)) return fitted;
  const { runId, deps } = execution;
  const words = { signal: signal.name, run: runId, problems: fitted.message };
  const { code, message } = new HoldfastError("HF-2124", words);
  execution.record({
    kind: "signals_taken",
    step: "",
    meta: { took: [signal.seq], refused: fitted.message.slice(0, MOST_SAID) },
  });
  deps.ports.logger.warn(message, { runId, code });
  return undefined;
}

/** The data of an answer as the run may see it, or why it doesn't match. */
export const fitAnswer = (
  execution: ActiveRun,
  gate: string,
  schema: StandardSchema,
  data: unknown,
): Promise<Fitted | HoldfastError> => fit(execution, schema, data, answerOf(gate));

export const answerOf = (gate: string): string => `The data of the answer at gate ${gate}`;

/** The event, with the value if there is one to record. */
export function withValue(
  { deps }: ActiveRun,
  event: EventDraft,
  value: { readonly of: unknown } | undefined,
): { readonly event: EventDraft; readonly blobs: readonly Blob[] } {
  if (!value) return { event, blobs: [] };
  const { data, blobs } = deps.values.encode(event.step, value.of);
  return { event: { ...event, data }, blobs };
}

/** The maximum length of a reason in the journal. */
export const MOST_SAID = 500;
