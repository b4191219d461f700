import { describe, expect, it } from "vitest";
import { createLab, type Lab } from "../../../../test/support/lab.ts";
import { type Engine, workflow } from "../../../index.ts";
import type { Validation } from "../../../manage.ts";
import { digest } from "../../hash.ts";
import type { Entry, Store } from "../../store/contract.ts";
import type { RunRow } from "../../types.ts";

const small = workflow("small", async (ctx) => {
  for (const name of ["a", "b", "c", "d"]) await ctx.step(name, () => `${name}!`);
  return "end";
});

/** Long enough for snapshots, with strings that are shared as blobs. */
const chat = workflow("chat", (ctx) =>
  ctx.loop("turn", { texts: [] as string[] }, async (state, turn) => {
    ctx.memory.set("last", turn.index);
    state.texts.push(await ctx.step("ask", () => `${turn.index}:`.padEnd(1_500, "x")));
    return turn.index === 299 ? turn.done() : undefined;
  }),
);

async function ran(flow: typeof small | typeof chat): Promise<{ lab: Lab; engine: Engine }> {
  const lab = createLab();
  const engine = lab.engine([flow]);
  await lab.drive(engine.start(flow as typeof small, undefined, { id: "r" }));
  await lab.drive(engine.result("r"));
  return { lab, engine };
}

interface Damage {
  readonly entries?: (entries: readonly Entry[]) => readonly Entry[];
  readonly row?: (row: RunRow) => RunRow;
  readonly blobs?: (blobs: Map<string, string>) => void;
}

/** The same store, read with other eyes. */
function damaged(store: Store, { entries = (all) => all, row = (one) => one, blobs }: Damage): Store {
  return {
    ...store,
    read: async (runId) => {
      const found = await store.read(runId);
      return found && row(found);
    },
    entries: async (runId, { from, limit }) => {
      const all = entries(await store.entries(runId, { from: 1, limit: 100_000 }));
      return all.filter(({ seq, count }) => seq + count > from).slice(0, limit);
    },
    blobs: async (runId, hashes) => {
      const found = new Map(await store.blobs(runId, hashes));
      blobs?.(found);
      return found;
    },
  };
}

const validated = (lab: Lab, damage: Damage, address = "r"): Promise<Validation> =>
  lab.engine([], { store: damaged(lab.store, damage), execute: false }).checkpoints.validate(address);

const at = (seq: number, change: (entry: Entry) => Entry): Damage => ({
  entries: (all) => all.map((entry) => (entry.seq === seq ? change(entry) : entry)),
});

const journal = (lab: Lab): Promise<readonly Entry[]> => lab.store.entries("r", { from: 1, limit: 100_000 });

/** The newest checkpoint before a position, as the list tells it. */
async function before(engine: Engine, seq: number): Promise<string | null> {
  return (await engine.checkpoints.list("r", { before: seq, limit: 1 }))[0]?.id ?? null;
}

describe("validating a run", () => {
  it("finds nothing wrong with one that is as it was written", async () => {
    for (const flow of [small, chat]) {
      const { engine } = await ran(flow);
      const row = await engine.get("r");
      const found = await engine.checkpoints.validate("r");
      expect(found).toEqual({
        ok: true,
        restorable: true,
        problems: [],
        checkpoints: (await engine.checkpoints.list("r", { limit: 1_000 })).length,
        lastGood: `r@${row?.seq}`,
      });
    }
  });

  it("names a changed value and the last checkpoint before it (S4-24)", async () => {
    const { lab, engine } = await ran(small);
    const { seq } = (await journal(lab))[3] as Entry;
    const found = await validated(
      lab,
      at(seq, (entry) => ({ ...entry, data: `${entry.data} ` })),
    );
    expect(found).toMatchObject({ ok: false, lastGood: await before(engine, seq) });
    expect(found.problems).toEqual([{ seq, kind: "entry", problem: expect.stringContaining("digest") }]);
  });

  it("names a changed header, which the entry after it gives away", async () => {
    const { lab, engine } = await ran(small);
    const { seq } = (await journal(lab))[3] as Entry;
    const found = await validated(
      lab,
      at(seq, (entry) => ({ ...entry, head: entry.head.replace('"t":', '"t":1') })),
    );
    expect(found.problems).toEqual([
      { seq, kind: "chain", problem: expect.stringContaining("does not follow") },
    ]);
    expect(found.lastGood).toBe(await before(engine, seq));
  });

  it("names a changed last header, which the run's head gives away", async () => {
    const { lab, engine } = await ran(small);
    const { seq } = (await journal(lab)).at(-1) as Entry;
    const found = await validated(
      lab,
      at(seq, (entry) => ({ ...entry, head: entry.head.replace('"t":', '"t":1') })),
    );
    expect(found.problems).toEqual([
      { seq, kind: "chain", problem: expect.stringContaining("does not end") },
    ]);
    expect(found.lastGood).toBe(await before(engine, seq));
  });

  it("names what is not in the journal's format and goes on behind it", async () => {
    const { lab } = await ran(small);
    const entries = await journal(lab);
    const [third, fifth] = [entries[2] as Entry, entries[4] as Entry];
    const found = await validated(lab, {
      entries: (all) =>
        all.map((entry) => {
          if (entry.seq === third.seq) return { ...entry, head: "{" };
          return entry.seq === fifth.seq ? { ...entry, data: "x" } : entry;
        }),
    });
    expect(found.problems.map(({ seq }) => seq)).toContain(third.seq);
    expect(found.problems.map(({ seq }) => seq)).toContain(fifth.seq);
  });

  it("names a missing entry, in the middle and at the end", async () => {
    const { lab, engine } = await ran(small);
    const entries = await journal(lab);
    for (const gone of [entries[2] as Entry, entries.at(-1) as Entry]) {
      const found = await validated(lab, { entries: (all) => all.filter(({ seq }) => seq !== gone.seq) });
      expect(found.problems).toEqual([{ seq: gone.seq, kind: "chain", problem: "An entry is missing." }]);
      expect(found.lastGood).toBe(await before(engine, gone.seq));
    }
    const found = await validated(lab, { entries: () => [] });
    expect(found).toMatchObject({ ok: false, lastGood: null, problems: [{ seq: 1 }] });
  });

  it("names values that are gone although nobody has dropped them", async () => {
    const { lab } = await ran(small);
    const { seq } = (await journal(lab))[2] as Entry;
    const found = await validated(
      lab,
      at(seq, (entry) => ({ ...entry, data: null })),
    );
    expect(found.problems).toEqual([{ seq, kind: "missing", problem: "Its values are missing." }]);
  });

  it("has nothing against values that retention has dropped", async () => {
    for (const [flow, policy] of [
      [small, { maxAge: 0 }],
      [chat, { keepLast: 2 }],
      [chat, { maxAge: 0 }],
    ] as const) {
      const { lab, engine } = await ran(flow);
      await lab.clock.advance(1_000);
      const { runs } = await lab.drive(engine.retention.prune(policy));
      expect(runs).toHaveLength(1);
      expect(await engine.checkpoints.validate("r")).toMatchObject({ ok: true, problems: [] });
    }
  });

  it("has nothing against a fork, also one of a pruned run, and a fork of that", async () => {
    const { lab, engine } = await ran(chat);
    const [, kept] = await engine.checkpoints.list("r");
    await lab.drive(engine.retention.prune({ keepLast: 5 }));
    await lab.drive(engine.fork(kept?.id ?? "", { id: "f", set: { memory: { last: 7 } } }));
    await lab.drive(engine.result("f"));
    await lab.drive(engine.fork("f", { id: "g" }));
    for (const run of ["r", "f", "g"])
      expect(await engine.checkpoints.validate(run)).toMatchObject({ ok: true, problems: [] });
  });

  it("names changed and missing blobs", async () => {
    const { lab } = await ran(chat);
    const changed = await validated(lab, {
      blobs: (blobs) => {
        for (const [hash, text] of blobs) if (text.startsWith("7:")) blobs.set(hash, `${text}!`);
      },
    });
    expect(changed.problems[0]?.problem).toMatch(/^Blob [\w-]{43} is changed\.$/);
    const missing = await validated(lab, {
      blobs: (blobs) => {
        for (const [hash, text] of blobs) if (text.startsWith("7:")) blobs.delete(hash);
      },
    });
    expect(missing.problems[0]?.problem).toMatch(/^Blob [\w-]{43} is missing\.$/);
  });

  it("names a row that is not what its journal adds up to, and holds nothing against the checkpoints", async () => {
    const { lab } = await ran(small);
    const found = await validated(lab, {
      row: (row) => ({ ...row, status: "running", usage: { tokens: 1, costUsd: 0 } }),
    });
    const seq = (await lab.store.read("r"))?.seq as number;
    expect(found).toEqual({
      ok: false,
      checkpoints: 5,
      lastGood: `r@${seq}`,
      restorable: true,
      problems: [{ seq, kind: "row", problem: "The run's row differs from its journal: status, usage." }],
    });
  });

  it("names a snapshot that differs from what is before it, however well it is chained", async () => {
    const { lab, engine } = await ran(chat);
    const entries = await journal(lab);
    const taken = entries.find(({ head }) => head.includes("snapshot_taken")) as Entry;
    const blob = (JSON.parse(taken.head) as { v: string[][] }).v[0]?.[3] as string;
    const text = (await lab.store.blobs("r", [blob])).get(blob)?.replace(/"turns":\d/, '"turns":9') as string;
    // A forger who knows the format: one number is another, and everything after it is chained anew.
    let hash = "";
    const forged = entries.map((entry): Entry => {
      const head = entry.head.replace(blob, digest(text)).replace(/"p":"[\w-]*"/, `"p":"${hash}"`);
      hash = digest(head);
      return { ...entry, head };
    });
    const found = await validated(lab, {
      entries: () => forged,
      row: (row) => ({ ...row, head: hash }),
      blobs: (blobs) => blobs.set(digest(text), text),
    });
    expect(found.problems).toEqual([
      { seq: taken.seq, kind: "snapshot", problem: "The snapshot differs from what is before it." },
    ]);
    expect(found.lastGood).toBe(await before(engine, taken.seq));
  });

  it("says of one checkpoint only what counts for it", async () => {
    const { lab, engine } = await ran(small);
    const { seq } = (await journal(lab))[3] as Entry;
    const damage = at(seq, (entry) => ({ ...entry, data: `${entry.data} ` }));
    const good = (await before(engine, seq)) as string;
    expect(await validated(lab, damage, good)).toMatchObject({ ok: true, lastGood: good });
    const [bad] = (await engine.checkpoints.list("r")).slice(-3);
    expect(await validated(lab, damage, bad?.id)).toMatchObject({ ok: false, lastGood: good });
    await expect(engine.checkpoints.validate("none")).rejects.toThrowError(
      expect.objectContaining({ code: "HF-1001" }),
    );
  });

  it("finds nothing wrong while the run is at work", async () => {
    const lab = createLab();
    const engine = lab.engine([chat]);
    await lab.drive(engine.start(chat, undefined, { id: "r" }));
    for (let n = 0; n < 20; n++) {
      expect(await engine.checkpoints.validate("r")).toMatchObject({ ok: true });
      await lab.clock.advance(1);
    }
  });
});
