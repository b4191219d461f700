import type { Injected, ReceivedSignal } from "../context.ts";
import { checkDeclared } from "../declared-checks.ts";
import type { JournalEvent } from "../journal/events.ts";
import type { NoteRecord } from "../journal/records.ts";
import { inboxNote } from "../keys.ts";
import { INJECT, injectTo } from "../names.ts";
import type { ActiveRun } from "./active-run.ts";
import { fitMessage, schemaOf, withValue } from "./fitting.ts";
import { type Address, place } from "./scope.ts";
import { received } from "./signal.ts";

/** Takes the messages under this name out of the mailbox, without waiting. The result is the same on every replay. */
export async function inbox<T>(execution: ActiveRun, name: string): Promise<ReceivedSignal<T>[]> {
  checkDeclared(execution.workflow, name);
  await execution.enter();
  const scope = execution.scope();
  const at = place(scope, inboxNote(name));
  if (schemaOf(execution, name)) return checkedInbox<T>(execution, name, at, scope.node?.notes.get(at.name));
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

/** Takes messages that have a schema. Those that don't match are set aside; the payloads of the others are recorded. */
async function checkedInbox<T>(
  execution: ActiveRun,
  name: string,
  { key }: Address,
  note: NoteRecord | undefined,
): Promise<ReceivedSignal<T>[]> {
  const { state, deps, runId } = execution;
  if (note?.took) {
    const { took } = note;
    const payloads = (await execution.read(() => deps.values.of(runId, note))) as readonly T[];
    const found = state.signals.filter(({ seq }) => took.includes(seq));
    return found.map(({ at }, index) => ({ name, payload: payloads[index] as T, at }));
  }
  const found = state.signals.filter((signal) => !signal.taken && signal.name === name);
  for (const signal of found) signal.taken = true;
  const taken: ReceivedSignal<T>[] = [];
  const took: number[] = [];
  for (const signal of found) {
    const message = await received<T>(execution, signal);
    const fitted = await fitMessage(execution, signal, message.payload);
    if (!fitted) continue;
    took.push(signal.seq);
    taken.push({ ...message, payload: fitted.value as T });
  }
  const payloads = taken.map(({ payload }) => payload);
  const event = { kind: "signals_taken", step: key, meta: { took } } as const;
  const written = withValue(execution, event, { of: payloads });
  execution.record(written.event, written.blobs);
  return taken;
}

/**
 * The context that people have injected after a position, for everyone or for one agent by name. It stays in the
 * mailbox for the others. The last check before an answer is durable before it counts, so no message acknowledged
 * before it goes unseen.
 */
export async function injected(
  execution: ActiveRun,
  agent: string,
  { after, isLast }: { readonly after: number; readonly isLast: boolean },
): Promise<Injected> {
  await execution.enter();
  const scope = execution.scope();
  const at = place(scope, inboxNote(INJECT));
  const names = [INJECT, injectTo(agent)];
  let took = scope.node?.notes.get(at.name)?.took;
  while (!took) {
    const found = execution.state.signals.filter(
      ({ seq, taken, name }) => seq > after && !taken && names.includes(name),
    );
    const seqs = found.map(({ seq }) => seq);
    const event = { kind: "signals_taken", step: at.key, meta: { took: seqs, kept: true } } as const;
    const isMore = ({ kind, meta }: JournalEvent) => kind === "signal_received" && names.includes(meta.name);
    if (isLast && !(await execution.contest(event, [], isMore))) continue;
    if (!isLast) execution.record(event);
    took = seqs;
  }
  const heard = took;
  const signals = execution.state.signals.filter(({ seq }) => heard.includes(seq));
  const messages = await Promise.all(signals.map((signal) => received(execution, signal)));
  return { messages, upTo: Math.max(after, ...heard) };
}
