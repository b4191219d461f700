import { describe, expect, it } from "vitest";
import type { EventDraft } from "../../core/journal/events.ts";
import { buildEntry } from "../../core/journal/journal.ts";
import { newProjection, projectAll } from "../../core/journal/project.ts";
import type { Entry, Store } from "../../core/store/contract.ts";
import { NO_TAGS } from "../../core/tags.ts";
import type { RunRow } from "../../core/types.ts";
import { createMemoryStore } from "../../stores/memory.ts";
import type { WitnessCall } from "../witness/log.ts";
import { checkInvariants, type Evidence } from "./invariants.ts";

type Short = EventDraft | [kind: EventDraft["kind"], step: string, meta?: object];

/** A run as the engine would have written it: one entry per list of events. `epochs` has one number per entry. */
function history(
  entries: readonly (readonly Short[])[],
  epochs: readonly number[] = [],
): { row: RunRow; entries: Entry[] } {
  const written: Entry[] = [];
  let [prev, seq] = ["", 0];
  let run = newProjection(0, "1", 1);
  const all = [[["run_created", "", { workflow: "w", version: "1", lineage: "r" }]], ...entries] as Short[][];
  all.forEach((list, index) => {
    const drafts = list.map((one) =>
      Array.isArray(one) ? ({ kind: one[0], step: one[1], meta: one[2] ?? {} } as EventDraft) : one,
    );
    const epoch = epochs[index - 1] ?? 1;
    const built = buildEntry(drafts, { prev, seq: seq + 1, at: index, epoch });
    const events = drafts.map((draft, at) => ({ ...draft, seq: seq + 1 + at, at: index, epoch }));
    run = projectAll(run, events as never, false);
    written.push(built.entry);
    prev = built.head;
    seq += drafts.length;
  });
  const identity = {
    id: "r",
    workflow: "w",
    lineage: "r",
    parent: null,
    origin: null,
    createdAt: 0,
    ...NO_TAGS,
  };
  const claim = { epoch: Math.max(1, ...epochs), owner: null, token: null, until: 0 };
  return { row: { ...identity, ...run, claim, seq, head: prev }, entries: written };
}

const storeOf = ({ row, entries }: { row: RunRow; entries: readonly Entry[] }): Store => ({
  ...createMemoryStore(),
  list: async () => ({ runs: [row], cursor: null }),
  entries: async (_, { from, limit }) =>
    entries.filter(({ seq, count }) => seq + count > from).slice(0, limit),
});

const call = (step: string, change: Partial<WitnessCall> = {}): WitnessCall => ({
  n: 0,
  runId: "r",
  step,
  effect: "repeatable",
  attempt: 1,
  epoch: 1,
  key: "key",
  args: "args",
  caller: "worker",
  ...change,
});

const check = async (
  entries: readonly (readonly Short[])[],
  evidence: Partial<Evidence> = {},
  epochs?: readonly number[],
): Promise<string[]> => {
  const violations = await checkInvariants(storeOf(history(entries, epochs)), { calls: [], ...evidence });
  return violations.map(({ invariant, message }) => `${invariant} ${message}`);
};

const started = (step: string, meta: object = {}): Short => [
  "step_started",
  step,
  { type: "call", effect: "repeatable", attempt: 1, call: 1, ...meta },
];
const completed = (step: string): Short => ["step_completed", step];
const claimed: Short = ["run_claimed", "", { owner: "worker", recovery: 0 }];

describe("checkInvariants", () => {
  it("finds nothing in an empty store or a good history", async () => {
    expect(await checkInvariants(createMemoryStore(), { calls: [], healed: true })).toEqual([]);
    const good = [
      [claimed],
      [started("a")],
      [completed("a"), started("b", { effect: "once" })],
      [completed("b"), ["run_completed", ""]],
    ] as Short[][];
    const calls = [call("a"), call("b", { effect: "once" })];
    expect(await check(good, { calls, healed: true, effectRows: [] })).toEqual([]);
  });

  it("I1: notices a changed, missing or reordered entry, and a head that is not the journal's", async () => {
    const base = history([[claimed], [started("a")], [completed("a")]]);
    const [first, second, third, fourth] = base.entries as [Entry, Entry, Entry, Entry];
    const broken: Entry[][] = [
      [first, second, third],
      [first, second, fourth],
      [first, second, fourth, third],
      [first, second, { ...third, head: third.head.replace('"a"', '"b"') }, fourth],
      [first, second, { ...third, head: "no JSON" }, fourth],
    ];
    for (const entries of broken) {
      const violations = await checkInvariants(storeOf({ ...base, entries }), { calls: [] });
      expect(violations.map(({ invariant }) => invariant)).toContain("I1");
    }
  });

  it("I1: notices an epoch that falls, in the journal or in the run", async () => {
    expect(await check([[claimed], [started("a")]], {}, [3, 2])).toEqual([
      "I1 The entry at #3 has epoch 2, but one before it has epoch 3.",
    ]);
    const { row, entries } = history([[claimed]], [4]);
    const [violation] = await checkInvariants(
      storeOf({ row: { ...row, claim: { ...row.claim, epoch: 3 } }, entries }),
      { calls: [] },
    );
    expect(violation?.message).toBe("The run's epoch is 3, but its journal reached 4.");
  });

  it("I2: notices an acknowledged write that is gone or replaced", async () => {
    const head = history([[claimed]]).entries[1]?.head ?? "";
    expect(await check([[claimed]], { acked: [{ runId: "r", seq: 2, head }] })).toEqual([]);
    const acked = [
      { runId: "r", seq: 2, head: "other" },
      { runId: "r", seq: 3, head },
      { runId: "gone", seq: 1, head },
    ];
    expect(await check([[claimed]], { acked })).toEqual([
      "I2 The write at #2 was acknowledged, but something else is there.",
      "I2 The write at #3 was acknowledged, but nothing is there.",
      "I2 The store holds no run gone, but 1 write(s) of it were acknowledged.",
    ]);
  });

  it("I3: notices a call without an intent, whatever its class", async () => {
    const calls = [
      call("a"),
      call("a", { attempt: 2 }),
      call("b", { effect: "keyed" }),
      call("c", { runId: "gone" }),
    ];
    expect(await check([[started("a")]], { calls })).toEqual([
      "I3 Step a called the outside world as attempt 2, which the journal never announced.",
      "I3 Step b called the outside world as attempt 1, which the journal never announced.",
      "I6 Step a was announced 1 time(s) but called 2 times.",
      "I3 The store holds no run gone, but 1 call(s) of it were received.",
    ]);
  });

  it("I3: notices a second call of one `once` attempt", async () => {
    const once = call("a", { effect: "once" });
    const violations = await check([[started("a", { effect: "once" })]], { calls: [once, once] });
    expect(violations[0]).toBe("I3 Step a may be called once, but attempt 1 called twice.");
    const again = [[started("a", { effect: "once" })], [started("a", { effect: "once", attempt: 2 })]];
    expect(await check(again, { calls: [once, call("a", { effect: "once", attempt: 2 })] })).toEqual([]);
  });

  it("I4: notices keyed calls with another key or other arguments", async () => {
    const keyed = (attempt: number) => started("a", { effect: "keyed", attempt, key: "key" });
    const entries = [[keyed(1)], [keyed(2)]];
    const second = (change: Partial<WitnessCall>) => [
      call("a", { effect: "keyed" }),
      call("a", { effect: "keyed", attempt: 2, ...change }),
    ];
    expect(await check(entries, { calls: second({}) })).toEqual([]);
    expect(await check(entries, { calls: second({ args: "other" }) })).toEqual([
      "I4 Attempts 1 and 2 of step a carried different arguments under one key.",
    ]);
    expect(await check(entries, { calls: second({ key: "other" }) })).toEqual([
      "I4 Attempt 2 of step a carried a key other than the one its intent announced.",
      "I4 Attempts 1 and 2 of step a carried different keys.",
    ]);
  });

  it("I5: notices transaction rows without an outcome, outcomes without a row, and double rows", async () => {
    const done = [[started("t", { type: "transaction" }), completed("t")]];
    const row = { runId: "r", step: "t" };
    expect(await check(done, { effectRows: [row] })).toEqual([]);
    expect(await check(done, { effectRows: [] })).toEqual([
      "I5 Transaction t is recorded as done, but its row is not there.",
    ]);
    expect(await check(done, { effectRows: [row, row] })).toEqual([
      "I5 Transaction t left 2 rows instead of one.",
    ]);
    expect(await check([], { effectRows: [row] })).toEqual([
      "I5 Transaction t left a row, but the journal does not say that it happened.",
    ]);
  });

  it("I6: notices a step that is started or decided again after it was done", async () => {
    const ways: Short[] = [
      completed("a"),
      ["gate_answered", "a", { digest: "", choice: "yes" }],
      ["step_resolved", "a", { action: "done" }],
      ["step_evidence", "a", { attempt: 1 }],
      ["child_finished", "a", { child: "c", status: "completed" }],
    ];
    for (const way of ways) {
      expect(await check([[started("a")], [way], [started("a", { attempt: 2 })]])).toEqual([
        "I6 Step a was started again at #4 after it was done.",
      ]);
    }
    expect(await check([[started("a")], [completed("a")], [completed("a")]])).toEqual([
      "I6 Step a was decided a second time at #4.",
    ]);
  });

  it("I6: lets a step start again after a failure, a doubt, a rerun or stale evidence", async () => {
    const ways: Short[] = [
      ["step_failed", "a", { attempt: 1 }],
      ["step_in_doubt", "a", { attempt: 1, rerunAfter: 0 }],
      ["step_resolved", "a", { action: "rerun" }],
      ["step_evidence", "a", { attempt: 7 }],
    ];
    for (const way of ways)
      expect(await check([[started("a")], [way], [started("a", { attempt: 2 })]])).toEqual([]);
  });

  it("I6: notices an outcome that the outside world knows nothing of", async () => {
    const entries = [
      [started("a"), started("b")],
      [completed("a"), completed("b")],
    ];
    const message = "I6 Step b is recorded as completed, but the outside world never saw it.";
    expect(await check(entries, { calls: [call("a")] })).toEqual([]);
    expect(await check(entries, { calls: [call("a")], witnessed: () => true })).toEqual([message]);
    expect(await check(entries, { calls: [call("a"), call("b", { runId: "x" })] })).toContain(message);
  });

  it("I7: notices what starts after a pause, a failure, a cancel or the end", async () => {
    const after = (event: Short, step = "a") => check([[claimed], [event], [started(step)]]);
    expect(await after(["pause_requested", ""])).toEqual([
      "I7 Step a was started at #4 after a pause was accepted at #3.",
    ]);
    expect(await after(["run_failed", "", { message: "", steps: [] }])).toEqual([
      "I7 Step a was started at #4 after the run failed at #3.",
    ]);
    expect(await after(["cancel_requested", ""])).toEqual([
      "I7 Step a was started at #4 after a cancel was accepted at #3.",
    ]);
    expect(await after(["cancel_requested", ""], "compensate/a")).toEqual([]);
    expect(await after(["run_cancelled", ""])).toEqual([
      "I7 Step a was started at #4 after the run was cancelled at #3.",
    ]);
    expect(await after(["run_completed", ""])).toEqual([
      "I7 step_started at #4 came after the run was completed at #3.",
    ]);
    expect(
      await check([[claimed], [["pause_requested", ""]], [["run_resumed", ""]], [started("a")]]),
    ).toEqual([]);
    expect(await check([[claimed], [["run_completed", ""]], [["family_told", ""]]])).toEqual([]);
  });

  it("lets a fork stand on what another run did, and holds it to what it does itself", async () => {
    const forked: Short = ["run_forked", "", { from: { runId: "source", seq: 6 }, at: 0, effects: "block" }];
    const copied = [
      [claimed],
      [started("a"), started("b"), started("t", { type: "transaction" })],
      [completed("a"), completed("t"), ["pause_requested", ""]],
    ] as Short[][];
    const own = [[claimed], [started("b")], [completed("b")]] as Short[][];
    const epochs = [7, 7, 7, 0, 1, 1, 1];
    const calls = [call("b")];
    const good = { calls, witnessed: () => true, effectRows: [] };
    expect(await check([...copied, [forked], ...own], good, epochs)).toEqual([]);
    const edited = [forked, ["value_edited", "a", { what: "step" }]] as Short[];
    expect(await check([...copied, edited, ...own], good, epochs)).toEqual([]);
    expect(await check([...copied, [forked], ...own, [started("a")]], good, [...epochs, 0])).toEqual([
      "I1 The entry at #13 has epoch 0, but one before it has epoch 1.",
      "I6 Step a was started again at #13 after it was done.",
    ]);
    const missing = await check([...copied, [forked], ...own], { ...good, calls: [call("x")] }, epochs);
    expect(missing).toContain("I6 Step b is recorded as completed, but the outside world never saw it.");
    const instead = [
      [claimed],
      [started("b"), started("d")],
      [["step_completed", "b", { instead: "simulated" }], completed("d")],
    ] as Short[][];
    expect(await check([...copied, [forked], ...instead], { ...good, calls: [call("d")] }, epochs)).toEqual(
      [],
    );
  });

  it("I8: notices a run that is not what its journal says", async () => {
    const { row, entries } = history([[claimed], [started("a")]]);
    const wrong = storeOf({ row: { ...row, status: "queued", stepsDone: 3 }, entries });
    expect(
      (await checkInvariants(wrong, { calls: [] })).map(
        ({ invariant, message }) => `${invariant} ${message}`,
      ),
    ).toEqual([
      'I8 The run\'s status is "queued", but its journal says "running".',
      "I8 The run's stepsDone is 3, but its journal says 0.",
    ]);
    const changed = { version: "2", schema: 2, turns: 1, openChildren: 1, activeMs: 5 } as const;
    const settings = { budget: { turns: 1 }, pinned: true, prunedAt: 7 } as const;
    const fields = await checkInvariants(storeOf({ row: { ...row, ...changed, ...settings }, entries }), {
      calls: [],
    });
    expect(fields.map(({ message }) => /run's (\w+) is/.exec(message)?.[1] ?? message).sort()).toEqual(
      Object.keys({ ...changed, ...settings }).sort(),
    );
    const ahead = await checkInvariants(storeOf({ row: { ...row, seq: 9 }, entries }), { calls: [] });
    expect(ahead.map(({ invariant }) => invariant)).toEqual(["I1", "I8"]);
  });

  it("I10: notices a run that has not come to rest once the faults are over", async () => {
    const waiting: Short = ["run_waiting", "", { waiting: [{ kind: "gate", step: "g", since: 0 }] }];
    expect(await check([[claimed], [waiting]], { healed: true })).toEqual([]);
    expect(await check([[claimed]], { healed: true })).toEqual([
      "I10 The faults are over, but the run is still running.",
    ]);
    expect(await check([[claimed]])).toEqual([]);
    const silent: Short = ["run_waiting", "", { waiting: [] }];
    expect(await check([[claimed], [silent]], { healed: true })).toEqual([
      "I10 The faults are over, but the run is waiting without saying for what.",
    ]);
  });

  it("reads every page of runs and entries", async () => {
    const { row, entries } = history(Array.from({ length: 1_200 }, (_, index) => [started(`s${index}`)]));
    const rows = ["a", "b", "c"].map((id): RunRow => ({ ...row, id }));
    const store: Store = {
      ...storeOf({ row, entries }),
      list: async ({ cursor }) => {
        const at = Number(cursor ?? 0);
        return { runs: rows.slice(at, at + 1), cursor: at + 1 < rows.length ? String(at + 1) : null };
      },
    };
    const violations = await checkInvariants(store, { calls: [], healed: true });
    expect(violations.map(({ runId, invariant }) => `${runId} ${invariant}`)).toEqual([
      "a I10",
      "b I10",
      "c I10",
    ]);
  });

  it("knows a step by its first name, whatever migrations call it since", async () => {
    const there: Short = ["run_migrated", "", { from: "1", to: "2", schema: 1, renamed: { pay: "charge" } }];
    const back: Short = ["run_migrated", "", { from: "2", to: "1", schema: 1, renamed: { charge: "pay" } }];
    const keyed = { effect: "keyed", key: "key" };
    const calls = [
      call("pay", { effect: "keyed" }),
      call("charge", { effect: "keyed", attempt: 2 }),
      call("pay", { effect: "keyed", attempt: 3 }),
    ];
    const good: Short[][] = [
      [claimed, started("pay", keyed)],
      [there, started("charge", { ...keyed, attempt: 2 })],
      [back, started("pay", { ...keyed, attempt: 3 }), completed("pay")],
    ];
    expect(await check(good, { calls })).toEqual([]);
    const [first, second] = calls as [WitnessCall, WitnessCall];
    expect(await check(good, { calls: [first, { ...second, args: "other" }] })).toEqual([
      "I4 Attempts 1 and 2 of step charge carried different arguments under one key.",
    ]);
    expect(
      await check([
        [claimed, started("pay"), completed("pay")],
        [there, started("charge")],
      ]),
    ).toEqual(["I6 Step charge was started again at #6 after it was done."]);
  });

  it("I8: notices a migration that is there twice, or that begins somewhere else", async () => {
    const there: Short = ["run_migrated", "", { from: "1", to: "2", schema: 1 }];
    expect(await check([[claimed], [there], [there]])).toEqual([
      "I8 It was migrated from version 1 at #4, but was of version 2.",
    ]);
  });

  it("lets an approval be asked for again only when what is shown has changed", async () => {
    const asked = (args: string) => started("approve:pay", { type: "gate", args });
    const answered: Short = ["gate_answered", "approve:pay", { digest: "", choice: "approve" }];
    expect(await check([[claimed, asked("a")], [answered], [asked("b")]])).toEqual([]);
    expect(await check([[claimed, asked("a")], [answered], [asked("a")]])).toEqual([
      "I6 Step approve:pay was started again at #5 after it was done.",
    ]);
  });

  it("takes entries whose values were dropped for what they are", async () => {
    const { row, entries } = history([
      [claimed, started("a")],
      [{ kind: "step_completed", step: "a", meta: {}, data: '"value"' }],
      [["values_dropped", "", { entries: 1, blobs: 0 }]],
    ]);
    const pruned = entries.map((entry) => ({ ...entry, data: null }));
    const evidence = {
      calls: [call("a")],
      acked: entries.map(({ seq, head }) => ({ runId: "r", seq, head })),
    };
    expect(await checkInvariants(storeOf({ row, entries: pruned }), evidence)).toEqual([]);
  });
});
