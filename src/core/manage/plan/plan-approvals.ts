import type { StepRecord } from "../../journal/records.ts";
import { approvalOf } from "../../keys.ts";
import type { Met } from "../replay/replay-run.ts";
import type { Approval } from "./plan-types.ts";

/** The state of the approvals that a replay has reached. `records`: as they were before it. */
export function approvals(met: Met, records: ReadonlyMap<string, StepRecord>): Approval[] {
  const stops = new Map(met.stoppedAt.map((stop) => [stop.step, stop]));
  const refused = new Set(met.uncalled.flatMap(({ step, became }) => (became === "refused" ? [step] : [])));
  const gates = [...new Set([...records.keys(), ...stops.keys()])];
  return gates.flatMap((gate): Approval[] => {
    const step = approvalOf(gate)?.step;
    if (step === undefined || !met.hasMet(gate)) return [];
    const stop = stops.get(gate);
    if (stop?.action === "wait") return [{ step, gate, state: "open" }];
    if (stop) return [{ step, gate, state: records.has(gate) ? "void" : "needed" }];
    // An approval that led to a call was consumed by it.
    if (!met.intents.has(step)) return [];
    return [{ step, gate, state: refused.has(step) ? "refused" : "given" }];
  });
}
