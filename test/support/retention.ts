import { HoldfastError } from "../../src/core/errors.ts";
import { isCheckpoint } from "../../src/core/journal/address.ts";
import type { EventDraft, JournalEvent } from "../../src/core/journal/events.ts";
import { buildEntry, ChainCheck, innerBlobs } from "../../src/core/journal/journal.ts";
import { loadRun } from "../../src/core/journal/load.ts";
import { projectRow } from "../../src/core/journal/project.ts";
import { viewState } from "../../src/core/journal/state-view.ts";
import { Values } from "../../src/core/journal/values.ts";
import { silentLogger } from "../../src/core/logger.ts";
import type { Blob, Entry, Store } from "../../src/core/store/contract.ts";
import type { RunRow } from "../../src/core/types.ts";
import { type Engine, type Run, workflow } from "../../src/index.ts";
import { withParts } from "../../src/testing/with-parts.ts";
import type { Lab } from "./lab.ts";

/** A new reader for each check, so that none remembers earlier values. */
const valuesOf = (store: Store): Values =>
  new Values(store, { valueBytes: Infinity, warnBytes: Infinity }, silentLogger);

export async function rowOf(store: Store, runId: string): Promise<RunRow> {
  const row = await store.read(runId);
  if (!row) throw new Error(`there is no run ${runId}`);
  return row;
}

export async function journal(store: Store, runId: string): Promise<readonly Entry[]> {
  return store.entries(runId, { from: 1, limit: 1_000_000 });
}

/** Verifies the whole chain; throws when it is broken. */
export async function verify(store: Store, runId: string): Promise<void> {
  const row = await rowOf(store, runId);
  const chain = new ChainCheck(runId, 1, "");
  for (const entry of await journal(store, runId)) chain.take(entry);
  chain.end(row.seq, row.head);
}

/** Everything known about a run at a position, including its decisions, agents, mailbox and open steps. */
export async function stateAt(store: Store, runId: string, upTo?: number): Promise<unknown> {
  const row = await rowOf(store, runId);
  const values = valuesOf(store);
  const state = await loadRun(store, values, row, upTo);
  const { facts, signals } = state;
  const of = async (list: Iterable<{ readonly seq: number; readonly data?: undefined }>) => {
    const found: unknown[] = [];
    for (const { seq } of list) found.push([seq, await values.at(runId, seq)]);
    return found;
  };
  const records = [...state.steps()].map(([key, record]) => ({ ...record, key, data: undefined }));
  const asked = new Set(records.map(({ took }) => took));
  return {
    view: await viewState(values, runId, state),
    records: records.sort((a, b) => a.seq - b.seq),
    open: await of(records.filter(({ status }) => status !== "completed") as { seq: number }[]),
    mailbox: await of(signals.filter(({ taken, seq }) => !taken || asked.has(seq)) as { seq: number }[]),
    decisions: await of(facts.decisions.map((seq) => ({ seq }))),
    agents: await of([...facts.agents.values()].map(({ seq }) => ({ seq }))),
    failure: facts.failure && (await values.at(runId, facts.failure.seq)),
    facts: { ...facts.save(), tags: [] },
  };
}

/** Positions of a run's checkpoints, oldest first. */
export async function checkpointsOf(store: Store, runId: string): Promise<number[]> {
  const chain = new ChainCheck(runId, 1, "");
  const entries = await journal(store, runId);
  return entries.flatMap((entry) =>
    chain
      .take(entry)
      .events.filter(isCheckpoint)
      .map(({ seq }) => seq),
  );
}

/** Every hash that a run's heads name, whether the blob is there or not. */
export async function namedBlobs(store: Store, runId: string): Promise<string[]> {
  const heads = (await journal(store, runId)).map(({ head }) => head);
  return [...new Set(heads.flatMap((head) => head.match(/"[\w-]{43}"/g) ?? []))].map((text) =>
    text.slice(1, -1),
  );
}

/** Collects the hash of every blob written from now on: the only way to know blobs that only a snapshot names. */
export function watchBlobs(store: Store): ReadonlySet<string> {
  const added = new Set<string>();
  const append = store.append.bind(store);
  Object.assign(store, {
    append: (batch: Parameters<Store["append"]>[0]) => {
      for (const { blobs } of batch) for (const { hash } of blobs) added.add(hash);
      return append(batch);
    },
  });
  return added;
}

/** The size of a run's stored values. */
export async function storedBytes(store: Store, runId: string): Promise<number> {
  const entries = await journal(store, runId);
  const blobs = await store.blobs(runId, await namedBlobs(store, runId));
  const lengths = [
    ...entries.map(({ data }) => data?.length ?? 0),
    ...[...blobs.values()].map((one) => one.length),
  ];
  return lengths.reduce((sum, length) => sum + length, 0);
}

/** Writes events to a run like an outside act. */
export async function act(
  store: Store,
  runId: string,
  drafts: readonly EventDraft[],
  blobs: readonly Blob[] = [],
) {
  const row = await rowOf(store, runId);
  const stamp = { at: row.updatedAt, epoch: row.claim.epoch };
  const events = drafts.map(
    (draft, index) => ({ ...draft, ...stamp, seq: row.seq + 1 + index }) as JournalEvent,
  );
  const named = innerBlobs(drafts, blobs);
  const { entry, head } = buildEntry(events, { ...stamp, prev: row.head, seq: row.seq + 1, blobs: named });
  const run = projectRow(row, events);
  const expect = { seq: row.seq, epoch: row.claim.epoch, token: null };
  const append = { run, expect, claim: { kind: "keep" } as const, entries: [entry], head, blobs };
  const [result] = await store.append([append]);
  if (!result?.ok) throw new Error("the run has moved on");
}

/** Pins or unpins a checkpoint. `pins`: the number of the run's pins after that. */
export const pin = (store: Store, runId: string, seq: number, pins: number): Promise<void> =>
  act(store, runId, [{ kind: "checkpoint_tagged", step: "", meta: { seq, pinned: pins > 0, pins } }]);

/** Replaces the run's input, or its config. */
export async function edit(
  store: Store,
  runId: string,
  what: "input" | "config",
  value: unknown,
): Promise<void> {
  const { data, blobs } = valuesOf(store).encode(what, value);
  await act(store, runId, [{ kind: "value_edited", step: "", meta: { what }, data }], blobs);
}

/** The store with an unreadable newest snapshot. */
export async function withoutNewestSnapshot(store: Store, runId: string): Promise<Store> {
  const { snapshotSeq } = await rowOf(store, runId);
  const [holder] = await store.entries(runId, { from: snapshotSeq, limit: 1 });
  const [[, , , blob]] = (
    JSON.parse(holder?.head ?? "") as { v: [[string, string, object, string | number]] }
  ).v;
  return withParts(store, {
    blobs: (id, hashes) =>
      store.blobs(
        id,
        hashes.filter((hash) => hash !== blob),
      ),
    entries: async (id, range) => {
      const entries = await store.entries(id, range);
      const isHolder = (seq: number) => seq === snapshotSeq && typeof blob === "number";
      return entries.map((entry) =>
        isHolder(entry.seq)
          ? { ...entry, head: entry.head.replace("snapshot_taken", "snapshot_token") }
          : entry,
      );
    },
  });
}

/** A chat of `turns` turns with messages of `size` characters; then it waits at a gate. */
export const chat = (turns: number, size = 3_000) =>
  workflow("chat", async (ctx, input: string) => {
    ctx.memory.set("input", input);
    await ctx.step("setup", () => ({ rules: "y".repeat(9_000) }));
    const state = await ctx.loop("turn", { messages: [] as string[] }, async (draft, turn) => {
      const answer = await ctx.step("ask", () => `${turn.index}:${"x".repeat(size)}`);
      draft.messages = [...draft.messages.slice(-4), answer];
      ctx.memory.set("last", { turn: turn.index, text: "m".repeat(2_000) });
      return turn.index === turns - 1 ? turn.done() : undefined;
    });
    const { choice } = await ctx.gate("ok", { show: "z".repeat(10_000), choices: ["yes", "no"] });
    return { choice, count: state.messages.length, last: ctx.memory.get("last") };
  });

/** Starts a run and lets it run as far as it can on its own. */
export async function run(
  lab: Lab,
  engine: Engine,
  flow: Parameters<Engine["start"]>[0],
  id: string,
  input?: unknown,
): Promise<Run> {
  await lab.drive(engine.start(flow, input, { id }));
  return lab.drive(engine.settled(id));
}

/** The code of the error that a promise is rejected with. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return HoldfastError.is(error) ? error.code : String(error);
  }
  return "none";
}
