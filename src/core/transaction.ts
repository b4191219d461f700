import { HoldfastError } from "./errors.ts";
import { type Execution, never } from "./execution.ts";
import { recordedValue, type StepPlace } from "./steps.ts";
import type { SqlHandle } from "./store.ts";
import type { PendingEvent } from "./writer.ts";

/** Exactly once: the user's writes and the step's outcome are one commit, so there is nothing to be in doubt about. */
export async function transaction<T>(
  execution: Execution,
  place: StepPlace,
  work: (sql: SqlHandle) => T,
): Promise<T> {
  await execution.enter();
  const record = place.scope.node?.records.get(place.name);
  if (record?.status === "completed") return (await recordedValue(execution, record)) as T;
  const { store, values } = execution.deps;
  if (!store.transaction)
    throw new HoldfastError("HF-1017", { store: store.name, feature: "ctx.transaction" });
  const run = store.transaction.bind(store);
  const meta = { type: "transaction", effect: "once", attempt: (record?.attempt ?? 0) + 1, call: 1 } as const;
  for (;;) {
    let value: unknown;
    const result = await execution.writer.exclusive(async (depart) => {
      const done = await run(work, (made) => {
        const { data, blobs } = values.encode(place.key, made);
        const events: PendingEvent[] = [
          { event: { kind: "step_started", step: place.key, meta }, intent: true },
          { event: { kind: "step_completed", step: place.key, meta: {}, data }, blobs },
        ];
        return depart(events);
      });
      value = done.value;
      return done.result;
    });
    if (result.ok) return value as T;
    // Somebody wrote to the run in between: everything was rolled back, so it may be done again.
    await execution.enter();
    if (execution.writer.row.control !== "none") await never();
  }
}
