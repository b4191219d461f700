import { badOption, checkObject, isRecord } from "../check-options.ts";
import { defined } from "../defined.ts";
import { HoldfastError } from "../errors.ts";
import { isApproval, memoryNote } from "../keys.ts";
import { checkNamed, MOST_IN_KEY } from "../names.ts";
import type { Blob } from "../store/contract.ts";
import type { Edits } from "../types.ts";
import type { Act } from "./act.ts";
import type { EventDraft } from "./events.ts";
import type { StepRecord } from "./records.ts";
import type { RunState } from "./state.ts";
import type { Values } from "./values.ts";

export interface EditEvents {
  readonly events: readonly EventDraft[];
  readonly blobs: readonly Blob[];
}

const NAMED = ["memory", "steps", "loops", "config"];
const KEYS = [...NAMED, "input"];

function checkShape(edits: Edits): void {
  checkObject("set", edits, "an object of edits");
  for (const [key, value] of Object.entries(edits)) {
    if (!KEYS.includes(key)) throw badOption(key, "it cannot be edited");
    if (NAMED.includes(key) && value !== undefined)
      checkObject(`set.${key}`, value, "an object of new values by name");
  }
}

/** The events that make the edits; throws HF-1024 when something can't be edited. Writes nothing. */
export async function editEvents(
  values: Values,
  runId: string,
  state: RunState,
  edits: Edits,
  { actor = "unknown", reason }: Act = {},
): Promise<EditEvents> {
  checkShape(edits);
  const events: EventDraft[] = [];
  const blobs: Blob[] = [];
  const why = defined({ reason });
  const edit = (what: "step" | "loop" | "input" | "config", step: string, value: unknown): void => {
    const encoded = values.encode(step === "" ? what : step, value);
    blobs.push(...encoded.blobs);
    events.push({ kind: "value_edited", step, meta: { what, ...why }, data: encoded.data });
  };
  for (const [name, value] of Object.entries(edits.memory ?? {})) {
    checkNamed("memory key", name, MOST_IN_KEY);
    const encoded = value === undefined ? undefined : values.encode(memoryNote(name), value);
    blobs.push(...(encoded?.blobs ?? []));
    const meta = { name, ...(encoded ? {} : { deleted: true }) };
    events.push({ kind: "memory_written", step: "", meta, ...(encoded ? { data: encoded.data } : {}) });
  }
  for (const [step, value] of Object.entries(edits.steps ?? {})) {
    const { type } = checkStep(runId, state, step);
    edit("step", step, type === "gate" ? answeredBy(actor, step, value) : value);
  }
  for (const [loop, value] of Object.entries(edits.loops ?? {})) {
    checkLoop(runId, state, loop, value);
    edit("loop", loop, { state: value });
  }
  if ("input" in edits) edit("input", "", edits.input);
  if (edits.config) {
    const { config } = state.facts;
    const before = config ? ((await values.of(runId, config)) as object) : {};
    edit("config", "", { ...before, ...edits.config });
  }
  return { events, blobs };
}

function checkStep(run: string, state: RunState, step: string): StepRecord {
  const record = state.find(step);
  if (!record) throw new HoldfastError("HF-1010", { run, step });
  // An answered gate stays in the name of a person, even if it was edited since.
  const isAnswer = record.type === "gate" && record.status === "completed";
  if (isApproval(step) || isAnswer) throw new HoldfastError("HF-1037", { run, step });
  if (record.status === "completed" || (record.status === "failed" && record.retryAt === undefined))
    return record;
  throw new HoldfastError("HF-1024", {
    what: `Step ${step}`,
    run,
    why: "It has not finished.",
    fix: record.status === "in_doubt" ? "Resolve it instead." : "Wait until it has.",
  });
}

/** An answer that the editor invents is the editor's, whatever its text says. */
function answeredBy(actor: string, step: string, value: unknown): unknown {
  if (isRecord(value)) return { ...value, actor };
  throw badOption(`set.steps.${step}`, "it must be an answer to a gate, such as { choice }");
}

function checkLoop(run: string, state: RunState, loop: string, value: unknown): void {
  const known = [...state.loops()].some(([key, { iteration }]) => key === loop && iteration > 0);
  if (!known) throw new HoldfastError("HF-1010", { run, step: loop });
  if (typeof value === "object" && value !== null) return;
  throw new HoldfastError("HF-1024", {
    what: `Loop ${loop}`,
    run,
    why: "Its state must be an object.",
    fix: "Give the whole new state.",
  });
}
