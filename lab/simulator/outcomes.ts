import { isDeepStrictEqual } from "node:util";
import type { JournalEvent } from "../../src/core/journal/events.ts";
import { undoKey } from "../../src/core/keys.ts";
import type { Store } from "../../src/core/store/contract.ts";
import type { RunRow } from "../../src/core/types.ts";
import { decode } from "../../src/core/values/codec.ts";
import { ownEvents } from "../../src/testing/invariants/step-names.ts";
import { deedOf } from "./names.ts";
import { journal } from "./operator.ts";
import { expected, type ProgramInput } from "./sections.ts";
import type { SimulationFinding } from "./simulator.ts";
import type { World } from "./world.ts";

/** Far more than the waits of the longest program and the crashes of the worst seed. */
const MOST_CLAIMS = 120;

/** Faults may cost time but never change a result: every run ends as it would have without them. */
export async function checkOutcomes(world: World): Promise<SimulationFinding[]> {
  const { store } = world;
  const findings: SimulationFinding[] = [];
  for (const [runId, input] of [...world.wanted, ...(await forked(world))]) {
    const row = await store.read(runId);
    if (!row) {
      findings.push({
        invariant: "result",
        runId,
        message: "The run does not exist, though its start was repeated.",
      });
      continue;
    }
    const events = await journal(store, runId);
    const message =
      row.status === "cancelled" ? undefined : await wrongResult(store, row, events, expected(input.body));
    if (message !== undefined) findings.push({ invariant: "result", runId, message });
    const claims = events.filter((event) => event.kind === "run_claimed").length;
    if (claims > MOST_CLAIMS)
      findings.push({ invariant: "churn", runId, message: `The run was claimed ${claims} times.` });
    for (const step of notUndone(row, events)) {
      findings.push({
        invariant: "undo",
        runId,
        message: `The run was cancelled with undo, but ${step} was not undone.`,
      });
    }
  }
  return findings;
}

/** The forks, with the input of the run that each originates from. */
async function forked({ store, wanted }: World): Promise<[string, ProgramInput][]> {
  const { runs } = await store.list({ limit: 1_000 });
  const inputOf = (row: RunRow | undefined): ProgramInput | undefined =>
    row && (wanted.get(row.id) ?? inputOf(runs.find(({ id }) => id === row.origin?.runId)));
  return runs.flatMap((row): [string, ProgramInput][] => {
    const input = row.origin && row.parent === null ? inputOf(row) : undefined;
    return input ? [[row.id, input]] : [];
  });
}

/** Events that settle a step as done: its own outcome, or a late one from a worker that had lost the run. */
const DONE: ReadonlySet<string> = new Set(["step_completed", "step_evidence"]);

async function wrongResult(
  store: Store,
  row: RunRow,
  events: readonly JournalEvent[],
  wanted: unknown,
): Promise<string | undefined> {
  if (row.status !== "completed") {
    const waits = row.waiting.map(({ kind, step, detail }) => `${kind} ${step} ${detail ?? ""}`).join("; ");
    return `The run should have completed, but it is ${row.status} (${row.control}). ${row.error ?? ""} ${waits}`.trim();
  }
  const data = events.findLast((event) => event.kind === "run_completed")?.data;
  const text = typeof data === "object" ? (await store.blobs(row.id, [data.blob])).get(data.blob) : data;
  const result = text === undefined ? undefined : decode(text);
  if (isDeepStrictEqual(result, wanted)) return undefined;
  return `The run answered ${JSON.stringify(result)}, but without faults it answers ${JSON.stringify(wanted)}.`;
}

const isReused = (event: JournalEvent): boolean =>
  event.kind === "step_completed" && event.meta.instead !== undefined;

/** Bookings of a run cancelled with undo that were neither undone nor reported as impossible to undo. */
function notUndone(row: RunRow, journaled: readonly JournalEvent[]): string[] {
  // A fork doesn't undo what its source did.
  const events = ownEvents(journaled);
  const asked = events.findIndex((event) => event.kind === "cancel_requested");
  if (row.status !== "cancelled" || asked < 0) return [];
  // A person may still end the run at once, without undo; such a cancel has a reason.
  if (events.some((event) => event.kind === "run_cancelled" && event.meta.reason !== undefined)) return [];
  const done = (list: readonly JournalEvent[]): string[] =>
    list.flatMap((event) => (DONE.has(event.kind) && !isReused(event) ? [deedOf(event.step)] : []));
  const undone = new Set(done(events.slice(asked)));
  const booked = done(events.slice(0, asked)).filter((step) => /(^|\/)b\d+$/.test(step));
  const named = events.flatMap((event) => (event.kind === "run_waiting" ? event.meta.waiting : []));
  const told = deedOf(named.map(({ detail }) => detail ?? "").join());
  return booked.filter((step) => !undone.has(undoKey(step)) && !told.includes(step));
}
