import type { StepRecord } from "../../journal/records.ts";
import type { Met } from "../replay/replay-run.ts";
import type { Approval } from "./plan-types.ts";

/** The gate before a call, or before what a fork might do again. */
const APPROVAL = /^((?:.*\/)?)approve:(.+?)(?:#fork|##\d+)?$/;

/** The step that a gate is about, when somebody is asked there whether to call it. */
export function approvedStep(gate: string): string | undefined {
  const [, prefix = "", name] = APPROVAL.exec(gate) ?? [];
  return name === undefined ? undefined : prefix + name;
}

/** How it stands with the approvals that a replay has come to. `records`: as they were before it. */
export function approvals(met: Met, records: ReadonlyMap<string, StepRecord>): Approval[] {
  const stops = new Map(met.stoppedAt.map((stop) => [stop.step, stop]));
  const refused = new Set(met.uncalled.flatMap(({ step, became }) => (became === "refused" ? [step] : [])));
  const gates = [...new Set([...records.keys(), ...stops.keys()])];
  return gates.flatMap((gate): Approval[] => {
    const step = approvedStep(gate);
    if (step === undefined || !met.hasMet(gate)) return [];
    const stop = stops.get(gate);
    if (stop?.action === "wait") return [{ step, gate, state: "open" }];
    if (stop) return [{ step, gate, state: records.has(gate) ? "void" : "needed" }];
    // One that led to a call was used up by it.
    if (!met.intents.has(step)) return [];
    return [{ step, gate, state: refused.has(step) ? "refused" : "given" }];
  });
}
