import type { ReceivedSignal } from "../context.ts";
import type { Execution } from "./execution.ts";
import { place } from "./scope.ts";
import { received } from "./waits.ts";

/** Takes out of the mailbox what has come under this name, without waiting. What was found is the same on every replay. */
export async function inbox<T>(execution: Execution, name: string): Promise<ReceivedSignal<T>[]> {
  await execution.enter();
  const scope = execution.scope();
  const at = place(scope, `inbox:${name}`);
  const known = scope.node?.notes.get(at.name)?.took;
  const { signals } = execution.state;
  const found = known
    ? signals.filter(({ seq }) => known.includes(seq))
    : signals.filter((signal) => !signal.taken && signal.name === name);
  if (!known) {
    for (const signal of found) signal.taken = true;
    const took = found.map(({ seq }) => seq);
    execution.record({ kind: "signals_taken", step: at.key, meta: { took } });
  }
  return Promise.all(found.map((signal) => received<T>(execution, signal)));
}
