import { describe, expect, it } from "vitest";
import { createLab, type Lab } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";
import type { Checkpoints, Validation } from "../../../manage.ts";
import type { Entry, Store } from "../../store/contract.ts";
import type { RunRow } from "../../types.ts";

const LARGE = "large ".repeat(1_500);

const flow = workflow("flow", { budget: { tokens: 100 } }, async (ctx, input: { n: number }) => {
  ctx.memory.set("n", input.n);
  await ctx.step("large", () => LARGE);
  ctx.decide({ description: "go on", rationale: "why not" });
  await ctx.loop("turn", { texts: [] as string[] }, async (state, turn) => {
    state.texts.push(await ctx.step("ask", () => `${turn.index}:`.padEnd(1_100, "x"), { effect: "keyed" }));
    return turn.index === 1 ? turn.done() : undefined;
  });
  return ctx.step("last", () => (ctx.usage({ tokens: 3 }), "end"), { effect: "once" });
});

/** What is stored of a run, to be changed and looked at. */
interface Stored {
  row: RunRow;
  entries: readonly Entry[];
  blobs: ReadonlyMap<string, string>;
}

async function stored(lab: Lab): Promise<Stored> {
  const entries = await lab.store.entries("r", { from: 1, limit: 1_000 });
  const named = entries.flatMap(({ head, data }) => `${head} ${data ?? ""}`.match(/[\w-]{43}/g) ?? []);
  const blobs = new Map(await lab.store.blobs("r", [...new Set(named)]));
  // Parts of values that are blobs themselves.
  const inner = [...blobs.values()].flatMap((text) => text.match(/[\w-]{43}/g) ?? []);
  for (const [hash, text] of await lab.store.blobs("r", [...new Set(inner)])) blobs.set(hash, text);
  return { row: (await lab.store.read("r")) as RunRow, entries, blobs };
}

function holding(store: Store, what: () => Stored): Store {
  return {
    ...store,
    read: async () => what().row,
    entries: async (_, { from, limit }) =>
      what()
        .entries.filter(({ seq, count }) => seq + count > from)
        .slice(0, limit),
    blobs: async (_, hashes) =>
      new Map(
        hashes.flatMap((hash) => (what().blobs.has(hash) ? [[hash, what().blobs.get(hash) as string]] : [])),
      ),
  };
}

/** The same text with one character changed. */
const flipped = (text: string, at: number): string =>
  text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);

/** Every change of one character, blobs by samples. */
function* changes(whole: Stored): Generator<{ at: string; changed: Stored }> {
  const withEntry = (index: number, entry: Entry): Stored => ({
    ...whole,
    entries: whole.entries.with(index, entry),
  });
  for (const [index, entry] of whole.entries.entries()) {
    for (let at = 0; at < entry.head.length; at++)
      yield {
        at: `head ${index} ${at}`,
        changed: withEntry(index, { ...entry, head: flipped(entry.head, at) }),
      };
    for (let at = 0; at < (entry.data?.length ?? 0); at += 3)
      yield {
        at: `data ${index} ${at}`,
        changed: withEntry(index, { ...entry, data: flipped(entry.data as string, at) }),
      };
    yield { at: `gone ${index}`, changed: { ...whole, entries: whole.entries.toSpliced(index, 1) } };
    yield { at: `count ${index}`, changed: withEntry(index, { ...entry, count: entry.count + 1 }) };
    if (entry.data !== null)
      yield { at: `values ${index}`, changed: withEntry(index, { ...entry, data: null }) };
  }
  for (const [hash, text] of whole.blobs) {
    for (let at = 0; at < text.length; at += 499)
      yield {
        at: `blob ${hash} ${at}`,
        changed: { ...whole, blobs: new Map([...whole.blobs, [hash, flipped(text, at)]]) },
      };
    yield {
      at: `no blob ${hash}`,
      changed: { ...whole, blobs: new Map([...whole.blobs].filter(([one]) => one !== hash)) },
    };
  }
}

async function ran() {
  const lab = createLab();
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow, { n: 5 }, { id: "r" }));
  await lab.drive(engine.result("r"));
  const whole = await stored(lab);
  let seen = whole;
  /** A new engine each time: one that has seen a run does not take it back. */
  const fresh = () => lab.engine([], { store: holding(lab.store, () => seen), execute: false }).checkpoints;
  return { whole, checkpoints: fresh(), fresh, look: (other: Stored) => void (seen = other) };
}

/** Fails unless whatever is called good can be restored, as it was. */
async function checkGood(
  checkpoints: Checkpoints,
  digests: ReadonlyMap<string, string>,
  found: Validation,
  at: string,
): Promise<void> {
  if (found.lastGood !== null)
    expect(await checkpoints.digest(found.lastGood), at).toBe(digests.get(found.lastGood));
  for (const [id, before] of digests) {
    const { ok, restorable } = await checkpoints.validate(id).catch(() => ({ ok: false, restorable: false }));
    const digest = await checkpoints.digest(id).catch(() => undefined);
    if (ok) expect(digest, `${at}: ${id}`).toBe(before);
    if (digest === undefined) expect([ok, restorable], `${at}: ${id}`).toEqual([false, false]);
  }
}

describe("validating a store in which one character is another", () => {
  it("always notices, never throws, and calls nothing good that cannot be restored as it was", async () => {
    const { whole, checkpoints, look } = await ran();
    const list = await checkpoints.list("r", { limit: 100 });
    const digests = new Map<string, string>();
    for (const { id } of list) digests.set(id, await checkpoints.digest(id));
    expect(await checkpoints.validate("r")).toMatchObject({ ok: true, restorable: true });
    let count = 0;
    for (const { at, changed } of changes(whole)) {
      look(changed);
      const found = await checkpoints.validate("r");
      expect(found.ok, at).toBe(false);
      if (count++ % 40 === 0) await checkGood(checkpoints, digests, found, at);
    }
    expect(count).toBeGreaterThan(1_500);
  }, 240_000);

  it("tells damage of each kind apart", async () => {
    const { whole, checkpoints, look } = await ran();
    const kinds = new Map<string, Set<string>>();
    for (const { at, changed } of changes(whole)) {
      const [what = ""] = at.split(/ (?=\d|[\w-]{43})/);
      if (!/^(data|gone|blob|no blob|values)$/.test(what) || kinds.has(what)) continue;
      look(changed);
      kinds.set(what, new Set((await checkpoints.validate("r")).problems.map(({ kind }) => kind)));
    }
    expect(Object.fromEntries([...kinds].map(([what, found]) => [what, [...found]]))).toEqual({
      data: ["entry"],
      gone: ["chain"],
      values: ["missing"],
      blob: ["blob"],
      "no blob": ["missing"],
    });
  });

  it("notices a row with any field changed that the journal knows", async () => {
    const { whole, fresh, look } = await ran();
    const other: Partial<RunRow> = {
      workflow: "other",
      lineage: "other",
      parent: { runId: "x", step: "y" },
      version: "2",
      schema: 2,
      status: "running",
      control: "pausing",
      waiting: [{ kind: "gate", step: "x", since: 0 }],
      wakeAt: 5,
      recoveries: 1,
      stepsDone: 9,
      usage: { tokens: 9, costUsd: 0 },
      turns: 9,
      activeMs: 9_999,
      activeAt: 1,
      budget: { tokens: 1 },
      openChildren: 1,
      pinned: true,
      error: "x",
      updatedAt: 1,
      finishedAt: 1,
      claim: { epoch: 0, owner: null, token: null, until: 0 },
    };
    for (const [field, value] of Object.entries(other)) {
      look({ ...whole, row: { ...whole.row, [field]: value } });
      const { ok, problems, restorable } = await fresh().validate("r");
      expect([ok, restorable, problems.map(({ kind }) => kind)], field).toEqual([false, true, ["row"]]);
      expect(problems[0]?.problem, field).toContain(field);
    }
    for (const change of [
      { seq: whole.row.seq - 1 },
      { seq: whole.row.seq + 1 },
      { head: "x" },
      { snapshotSeq: 3 },
    ]) {
      look({ ...whole, row: { ...whole.row, ...change } });
      expect((await fresh().validate("r")).ok, JSON.stringify(change)).toBe(false);
    }
  });
});

describe("validating where retention has dropped values", () => {
  const chat = workflow("chat", (ctx) =>
    ctx.loop("turn", { texts: [] as string[] }, async (state, turn) => {
      state.texts.push(await ctx.step("ask", () => `${turn.index}:`.padEnd(1_500, "x")));
      return turn.index === 299 ? turn.done() : undefined;
    }),
  );

  it("tells a dropped checkpoint from a damaged one, and a value that nobody may drop from one that was", async () => {
    const lab = createLab();
    const engine = lab.engine([chat]);
    await lab.drive(engine.start(chat, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    const [oldest] = (await engine.checkpoints.list("r", { limit: 1_000 })).slice(-1);
    expect((await lab.drive(engine.retention.prune({ keepLast: 2 }))).runs).toHaveLength(1);
    expect(await engine.checkpoints.validate("r")).toMatchObject({
      ok: true,
      restorable: true,
      problems: [],
    });
    expect(await engine.checkpoints.validate(oldest?.id ?? "")).toMatchObject({
      ok: false,
      restorable: false,
      problems: [{ kind: "dropped" }],
      lastGood: null,
    });
    const whole = await stored(lab);
    const [needed] = [...whole.blobs].filter(([, text]) => text.startsWith("7:")).map(([hash]) => hash);
    expect(needed).toBeDefined();
    const lost = { ...whole, blobs: new Map([...whole.blobs].filter(([hash]) => hash !== needed)) };
    const { checkpoints } = lab.engine([], { store: holding(lab.store, () => lost), execute: false });
    expect(await checkpoints.validate("r")).toMatchObject({
      ok: false,
      restorable: false,
      problems: [{ kind: "missing" }],
    });
  });

  it("says of a run without values that it is as it was written and cannot be restored", async () => {
    const lab = createLab();
    const engine = lab.engine([chat]);
    await lab.drive(engine.start(chat, undefined, { id: "r" }));
    await lab.drive(engine.result("r"));
    await lab.clock.advance(1_000);
    expect((await lab.drive(engine.retention.prune({ maxAge: 0 }))).runs).toHaveLength(1);
    expect(await engine.checkpoints.validate("r")).toMatchObject({
      ok: true,
      restorable: false,
      lastGood: null,
    });
  });
});
