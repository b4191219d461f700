import { defined } from "../../core/defined.ts";
import { levelOf } from "../../core/journal/event-level.ts";
import { wordsOf } from "../../core/journal/event-words.ts";
import type { JournalEvent } from "../../core/journal/events.ts";
import type { Observable } from "../../core/journal/observer.ts";
import type { Logger } from "../../core/logger.ts";
import type { RunRow } from "../../core/types.ts";

/**
 * Logs what this engine writes to journals, an event a line, with the ids of the run and the step and without values:
 * for `createEngine({ observe })`. Each event is logged once, by the process that wrote it, and never on a replay.
 *
 * @example
 * ```ts
 * import { jsonLogger, logEvents } from "holdfast/observe";
 *
 * export const observe = [logEvents(jsonLogger({ level: "warn" }))];
 * ```
 */
export const logEvents = (logger: Logger): Observable => ({
  observe: () => ({
    wrote: (run, events) => {
      for (const event of events) logger[levelOf(event)](sentence(event), fieldsOf(run, event));
    },
  }),
});

const sentence = (event: JournalEvent): string =>
  `${event.step === "" ? "run" : event.step} ${wordsOf(event)}`;

function fieldsOf({ id, workflow }: RunRow, event: JournalEvent): Readonly<Record<string, unknown>> {
  const { kind, seq, step, actor, meta } = event;
  const attempt = "attempt" in meta && typeof meta.attempt === "number" ? meta.attempt : undefined;
  return {
    runId: id,
    workflow,
    seq,
    event: kind,
    ...(step === "" ? {} : { step }),
    ...defined({ attempt, actor }),
  };
}
