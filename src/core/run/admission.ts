import type { StepOptions } from "../context.ts";
import type { Admission } from "../guards/guard.ts";
import type { StepStarted } from "../journal/events.ts";
import type { ActiveRun } from "./active-run.ts";
import { Handle, type StepPlace } from "./call.ts";
import { gate } from "./gate.ts";

/** Describes a call to the guards. */
export const admissionOf = (
  execution: ActiveRun,
  place: StepPlace,
  options: Admission["options"],
  intent: StepStarted,
): Admission & { readonly place: StepPlace } => ({
  execution,
  place,
  options,
  grants: [],
  intent,
  ask: (at, shown) => gate(execution, { ...at, scope: place.scope }, shown, true),
  async simulate() {
    const handle = new Handle(execution, place, options as StepOptions, intent);
    execution.calls.start();
    try {
      return await options.simulate?.(handle);
    } finally {
      execution.callEnded(handle.frame);
    }
  },
});
