import { badOption } from "../check-options.ts";
import type { Workflow } from "../context.ts";
import type { ScheduleOptions } from "../schedule-options.ts";
import { isWorkflow } from "../workflow.ts";
import { checkSchedule, checkScheduleName } from "./check-schedule.ts";
import type { ScheduleDefinition } from "./schedule-types.ts";

/** A schedule that code declares, for an engine's `schedules`. */
export interface ScheduleDeclaration {
  readonly name: string;
  readonly workflow: Workflow<never, unknown>;
  readonly options: ScheduleOptions;
}

/**
 * Declares a schedule in code. The engine creates it if it is missing, and replaces it only when the declaration itself
 * has changed: what an operator edits in between lasts.
 *
 * @example
 * ```ts
 * import { createEngine, schedule, workflow } from "holdfast";
 * import { createMemoryStore } from "holdfast/stores/memory";
 *
 * const report = workflow("report", async (ctx) => ctx.step("write", () => "done"));
 *
 * const engine = createEngine({
 *   store: createMemoryStore(),
 *   schedules: [schedule("nightly", report, { cron: "0 2 * * *", timezone: "Europe/Berlin" })],
 * });
 * await engine.work();
 * ```
 */
export function schedule<I>(
  name: string,
  workflow: Workflow<I, unknown>,
  options: ScheduleOptions & { readonly input?: I },
): ScheduleDeclaration {
  checkScheduleName(name);
  if (!isWorkflow(workflow)) throw badOption("workflow", "it was not made by workflow()");
  definitionOf({ name, workflow: workflow as Workflow<never, unknown>, options });
  return { name, workflow: workflow as Workflow<never, unknown>, options };
}

/** Its complete definition. Refuses options that aren't valid. */
export const definitionOf = ({ name, workflow, options }: ScheduleDeclaration): ScheduleDefinition =>
  checkSchedule(name, workflow.name, options);
