import { parseEntry } from "../../src/core/journal/journal.ts";
import { undoKey } from "../../src/core/keys.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { ownEvents } from "../../src/testing/invariants/step-names.ts";
import type { Violation } from "../../src/testing/witness/log.ts";
import type { LoggedCall } from "../../src/testing/witness/wire.ts";
import { deedOf } from "./names.ts";

const UNDONE = ["reserve", "pay", "ship"];

/** Checks that a cancelled `undo` run has undone everything it did itself, in reverse order. */
export async function undoProblems(store: Store, calls: readonly LoggedCall[]): Promise<Violation[]> {
  const problems: Violation[] = [];
  const { runs } = await store.list({ workflow: "undo", status: ["cancelled"], limit: 200 });
  for (const { id } of runs) {
    const entries = await store.entries(id, { from: 1, limit: 10_000 });
    const events = ownEvents(entries.flatMap((entry) => parseEntry(id, entry).events));
    if (!events.some(({ kind }) => kind === "cancel_requested")) continue;
    const isDone = (step: string) =>
      events.some((event) => deedOf(event.step) === step && DONE.has(event.kind) && isOk(event));
    const done = UNDONE.filter(isDone);
    const missing = done.filter((step) => !isDone(undoKey(step)));
    const order = calls
      .filter(({ runId, outcome }) => runId === id && outcome === "done")
      .map(({ deed }) => deed);
    const firsts = done.map((step) => order.indexOf(undoKey(step))).filter((at) => at >= 0);
    for (const step of missing) {
      problems.push({
        invariant: "I7",
        runId: id,
        message: `The run was cancelled, but step ${step} was not undone.`,
      });
    }
    if (firsts.some((at, index) => at > (firsts[index - 1] ?? Number.POSITIVE_INFINITY))) {
      problems.push({
        invariant: "I7",
        runId: id,
        message: `The steps were undone out of order: ${order.join(", ")}.`,
      });
    }
  }
  return problems;
}

const DONE: ReadonlySet<string> = new Set(["step_completed", "step_resolved", "step_evidence"]);

function isOk({ meta }: { readonly meta: object }): boolean {
  const { action, instead } = meta as { action?: string; instead?: string };
  return (action === undefined || action === "done") && instead === undefined;
}
