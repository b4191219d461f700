import { detached } from "../../detached.ts";
import type { Ports } from "../../ports.ts";
import type { Store } from "../../store/contract.ts";
import { everyRun } from "../../store/query.ts";
import type { RunRow } from "../../types.ts";
import { untilThere } from "../../worker/away.ts";
import { describeRun } from "./status.ts";

/** The part of a worker that tells whether it has anything to do. */
interface Busy {
  readonly running: readonly unknown[];
  sweep(): Promise<readonly string[]>;
}

/** The workflows that this process has code for, by name. */
type Known = ReadonlyMap<string, unknown>;

/** How many waiting runs are named. */
const MOST = 3;

/** Starts a worker as soon as the store is there, unless `start` answers `true`. One that finds nothing to do says so once. */
export async function beginWork(
  ports: Ports,
  store: Store,
  workflows: Known,
  start: () => true | Promise<Busy>,
): Promise<void> {
  const worker = await untilThere(ports, async () => start());
  if (worker === true) return;
  const { logger } = ports;
  const telling = idleText(worker, store, workflows).then((text) => {
    if (text !== undefined) logger.info(text);
  });
  detached(telling, logger, "looking for work");
}

async function idleText(worker: Busy, store: Store, workflows: Known): Promise<string | undefined> {
  await worker.sweep();
  if (worker.running.length > 0) return undefined;
  const waiting: RunRow[] = [];
  for await (const row of everyRun(store, { status: ["waiting"] }, MOST + 1)) {
    if (workflows.has(row.workflow)) waiting.push(row);
    if (waiting.length > MOST) break;
  }
  const named = waiting.slice(0, MOST).map((row) => `${row.id}: ${describeRun(row).headline}`);
  const more = waiting.length > MOST ? ["and more"] : [];
  const what = waiting.length === 0 ? "" : ` (${[...named, ...more].join("; ")})`;
  return `nothing to do yet: no run of ${[...workflows.keys()].join(", ")} is due${what}`;
}
