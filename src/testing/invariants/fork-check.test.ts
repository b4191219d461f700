import { describe, expect, it } from "vitest";
import type { EventDraft, JournalEvent } from "../../core/journal/events.ts";
import type { WitnessCall } from "../witness/log.ts";
import { repeatedByForks } from "./fork-check.ts";

const intent = (step: string, args = "a"): EventDraft => ({
  kind: "step_started",
  step,
  meta: { type: "call", effect: "keyed", attempt: 1, call: 1, args },
});
const done = (step: string, instead?: "reused"): EventDraft => ({
  kind: "step_completed",
  step,
  meta: instead ? { instead } : {},
});
const forked = (from: string, effects: "reuse" | "allow" = "reuse"): EventDraft => ({
  kind: "run_forked",
  step: "",
  meta: { from: { runId: from, seq: 1 }, at: 0, effects },
});
const created: EventDraft = {
  kind: "run_created",
  step: "",
  meta: { workflow: "w", version: "1", lineage: "l" },
};

interface Given {
  readonly events: readonly EventDraft[];
  readonly origin?: string;
  readonly parent?: { readonly runId: string; readonly step: string };
  /** The time of its first event; each following event is 1 later. */
  readonly from: number;
  readonly calls?: readonly string[];
}

/** The violations in these runs, one line each. */
function check(runs: Readonly<Record<string, Given>>, deed = (step: string) => step): string[] {
  const said: string[] = [];
  const cases = new Map(
    Object.entries(runs).map(([id, { events, origin, parent = null, from, calls = [] }]) => [
      id,
      {
        row: { id, origin: origin === undefined ? null : { runId: origin, seq: 1 }, parent },
        events: events.map((event, at): JournalEvent => ({ ...event, seq: at + 1, at: from + at, epoch: 1 })),
        calls: calls.map((step, n) => ({ n, runId: id, step, effect: "keyed", attempt: 1 }) as WitnessCall),
        report: (rule: string, message: string) => void said.push(`${rule} ${id} ${message}`),
      },
    ]),
  );
  repeatedByForks(cases, deed, (_, { at }) => at);
  return said;
}

const source: Given = { events: [created, intent("pay"), done("pay")], from: 0, calls: ["pay"] };
const repeating: Given = {
  events: [created, forked("r"), intent("pay"), done("pay")],
  origin: "r",
  from: 10,
  calls: ["pay"],
};
const COMPLAINT = "I4 f Step pay was called as attempt 1, though the run it was forked from had done it.";

describe("what forks do again", () => {
  it("is noticed when the source had done it before the fork was made, also by a source of the source", () => {
    expect(check({ r: source, f: repeating })).toEqual([COMPLAINT]);
    const between: Given = { events: [created, forked("r")], origin: "r", from: 5 };
    expect(check({ r: source, g: between, f: { ...repeating, origin: "g" } })).toEqual([COMPLAINT]);
  });

  it("is noticed under another name that the code has for it by now", () => {
    const renamed = { ...source, events: [created, intent("charge"), done("charge")], calls: ["charge"] };
    const first = (step: string) => step.replace("charge", "pay");
    expect(check({ r: renamed, f: repeating }, first)).toEqual([COMPLAINT]);
    expect(check({ r: renamed, f: repeating })).toEqual([]);
  });

  it("is noticed in a child that was not forked although the source had one in its place", () => {
    const at = { runId: "r", step: "team" };
    const runs = {
      r: { events: [created], from: 0 },
      c: { ...source, parent: at },
      f: { events: [created, forked("r")], origin: "r", from: 8 },
      d: { events: [created, intent("pay")], from: 10, calls: ["pay"], parent: { ...at, runId: "f" } },
    };
    expect(check(runs)).toEqual([COMPLAINT.replace(" f ", " d ")]);
    expect(check({ ...runs, c: { ...source, parent: { ...at, step: "other" } } })).toEqual([]);
  });

  it("is none of it when it was done later, with other arguments, by permission, or when all calls are allowed", () => {
    const answered: EventDraft = {
      kind: "gate_answered",
      step: "approve:pay#fork",
      meta: { digest: "", choice: "call" },
    };
    const late = { ...source, from: 20 };
    const other = { ...repeating, events: [created, forked("r"), intent("pay", "b"), done("pay")] };
    const asked = { ...repeating, events: [created, forked("r"), answered, intent("pay"), done("pay")] };
    const free = { ...repeating, events: [created, forked("r", "allow"), intent("pay"), done("pay")] };
    const reused = { ...repeating, events: [created, forked("r"), done("pay", "reused")], calls: [] };
    expect(check({ r: late, f: repeating })).toEqual([]);
    for (const f of [other, asked, free, reused]) expect(check({ r: source, f })).toEqual([]);
  });
});
