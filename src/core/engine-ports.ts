import { AnswerSchemas } from "./answer-schemas.ts";
import { systemClock } from "./clock.ts";
import type { Workflow } from "./context.ts";
import { defined } from "./defined.ts";
import type { EngineOptions } from "./engine-options.ts";
import { systemIds } from "./ids.ts";
import { Folds } from "./journal/folds.ts";
import type { EngineParts } from "./journal/parts.ts";
import { engineActs } from "./journal/scratch-store.ts";
import { Values } from "./journal/values.ts";
import { terminalLogger, unfailing } from "./logger.ts";
import type { Ports } from "./ports.ts";
import { systemProcesses } from "./process-proof.ts";
import type { CommitQueue } from "./store/commit.ts";
import type { Store } from "./store/contract.ts";
import { StoreTime } from "./store/time.ts";
import { Redactor } from "./values/redact.ts";

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
  workflows: ReadonlyMap<string, Workflow>,
  written: EngineParts["written"],
): EngineParts {
  const { clock, logger, redactor } = ports;
  const { valueBytes = 100_000_000, warnBytes = 500_000 } = limits ?? {};
  const values = new Values(store, { valueBytes, warnBytes }, logger, redactor);
  const time = new StoreTime(store, clock);
  return {
    store,
    acts: engineActs(store, queue, time, redactor),
    values,
    folds: new Folds(store, values),
    ports,
    time,
    answerSchemas: new AnswerSchemas(),
    workflows,
    written,
  };
}
