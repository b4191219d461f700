import { systemClock } from "./clock.ts";
import { defined } from "./defined.ts";
import type { EngineOptions } from "./engine-options.ts";
import { systemIds } from "./ids.ts";
import { Values } from "./journal/values.ts";
import { terminalLogger, unfailing } from "./logger.ts";
import type { Ports } from "./ports.ts";
import { systemProcesses } from "./process-proof.ts";
import type { Store } from "./store/contract.ts";
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

/** Converts between values and the store's form. */
export function engineValues(store: Store, { limits }: EngineOptions, { logger, redactor }: Ports): Values {
  const { valueBytes = 100_000_000, warnBytes = 500_000 } = limits ?? {};
  return new Values(store, { valueBytes, warnBytes }, logger, redactor);
}
