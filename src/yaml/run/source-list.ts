import { HoldfastError } from "../../core/errors.ts";
import { fromJson } from "../output.ts";
import { nameOfKind } from "../template/value.ts";
import type { FlowRun } from "./machine.ts";
import { follow } from "./state.ts";

/** The list at a dotted path; throws HF-4014 when there is none. A text from a command line may be a JSON list. */
export function listAt({ state }: FlowRun, source: string, step: string): readonly unknown[] {
  const found = follow(state.all(), source.split("."));
  const value =
    source.startsWith("workflow.input.") && typeof found === "string"
      ? (fromJson(found, source) ?? found)
      : found;
  if (Array.isArray(value)) return value;
  throw new HoldfastError("HF-4014", {
    source,
    step,
    found: value === undefined ? "not there" : nameOfKind(value),
  });
}
