import { AnswerSchemas } from "../answer-schemas.ts";
import { systemClock } from "../clock.ts";
import { defined } from "../defined.ts";
import { systemIds } from "../ids.ts";
import type { JournalEvent } from "../journal/events.ts";
import { Folds } from "../journal/folds.ts";
import { parseEntry } from "../journal/journal.ts";
import { JustRead } from "../journal/just-read.ts";
import {
  type Observable,
  type ObservedEngine,
  type Observer,
  observers,
  unfailingObserver,
} from "../journal/observer.ts";
import type { EngineParts } from "../journal/parts.ts";
import { entriesOf, headEvents } from "../journal/read.ts";
import { RunLogs } from "../journal/run-logs.ts";
import { engineActs } from "../journal/scratch-store.ts";
import { Values } from "../journal/values.ts";
import { terminalLogger, unfailing } from "../logger.ts";
import type { Ports } from "../ports.ts";
import { systemProcesses } from "../process-proof.ts";
import type { CommitQueue } from "../store/commit.ts";
import type { Entry, Store } from "../store/contract.ts";
import { StoreTime } from "../store/time.ts";
import { Redactor } from "../values/redact.ts";
import type { EngineOptions } from "./options.ts";

/** The impure parts of an engine: given, or the system's. */
export function enginePorts(options: EngineOptions): Ports {
  const { redact, secrets, logger = terminalLogger } = options;
  // Secrets that runs ask for are kept out of the store even without other redaction.
  const redactor = redact || secrets ? new Redactor(redact ?? { builtIn: false }) : undefined;
  return {
    clock: options.clock ?? systemClock,
    ids: options.ids ?? systemIds,
    logger: unfailing(redactor ? redactor.logger(logger) : logger),
    probe: options.probe ?? (() => undefined),
    processes: options.processes ?? systemProcesses,
    ...defined({ redactor, secrets }),
  };
}

/** What works on stored runs from outside. */
export function engineParts(
  { limits }: EngineOptions,
  store: Store,
  queue: CommitQueue,
  ports: Ports,
  around: Pick<EngineParts, "workflows" | "written" | "observer">,
): EngineParts {
  const { clock, redactor } = ports;
  const values = valuesOf(store, ports, limits);
  const time = new StoreTime(store, clock);
  return {
    store,
    acts: engineActs(store, queue, time, redactor),
    values,
    folds: new Folds(store, values),
    justRead: new JustRead(),
    ports,
    time,
    answerSchemas: new AnswerSchemas(),
    logs: new RunLogs(store.documents, ports),
    ...around,
  };
}

function valuesOf(store: Store, { logger, redactor }: Ports, limits: EngineOptions["limits"] = {}): Values {
  const { valueBytes = 100_000_000, warnBytes = 500_000 } = limits;
  return new Values(store, { valueBytes, warnBytes }, logger, redactor);
}

/** What watches an engine, if anything does. A fault of an observer is logged and does no harm. */
export function engineObserver({ observe }: EngineOptions, store: Store, ports: Ports): Observer | undefined {
  const all = [observe ?? []].flat();
  if (all.length === 0) return undefined;
  const values = valuesOf(store, ports, undefined);
  const engine: ObservedEngine = {
    store: store.name,
    read: (runId) => store.read(runId),
    async *events(runId, from, upTo) {
      for await (const entry of entriesOf(store, runId, from, upTo))
        for (const event of eventsIn(runId, entry)) if (event.seq >= from && event.seq <= upTo) yield event;
    },
    async value(runId, { data }) {
      try {
        return await values.decode(runId, data);
      } catch {
        return undefined;
      }
    },
  };
  return observers(all.map((one: Observable) => unfailingObserver(one.observe(engine), ports.logger)));
}

function eventsIn(runId: string, entry: Entry): readonly JournalEvent[] {
  try {
    return parseEntry(runId, entry).events;
  } catch {
    return headEvents(runId, entry);
  }
}
