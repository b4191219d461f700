import { expect, it } from "vitest";
import { sampled } from "../../../../test/support/exhaustive.ts";
import { forged } from "../../../../test/support/forgery.ts";
import { createLab } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";
import { auditKey, newAuditKey } from "../../../security/audit-key.ts";
import { digest } from "../../hash.ts";
import type { Entry } from "../../store/contract.ts";
import { BundleCheck } from "./bundle.ts";
import { type NotedHead, parseHeads } from "./checkpoint.ts";
import { parseLeaf } from "./leaf.ts";
import { parsePublicKey } from "./note.ts";
import type { AuditVerification } from "./result.ts";

const COUNT = sampled(2_000, 100_000);
/** All of them take minutes. */
const LONGEST_MS = 1_200_000;

interface StoredRun {
  row: { run: string; created: number; seq: number; head: string };
  entries: Entry[];
}

interface Copy {
  heads: string[];
  leaves: string[];
  runs: StoredRun[];
}

const flow = workflow("pay", async (ctx, n: number) => {
  for (let step = 0; step < n; step++) await ctx.step(`s${step}`, () => step);
});

/** A log with an anchor in its middle, and copies of the store from before it and of today. */
async function stage() {
  const made = newAuditKey("example.com/audit");
  const lab = createLab();
  const engine = lab.engine([flow], { audit: { key: auditKey(made.privateKey) } });
  const more = async (ids: readonly string[]) => {
    for (const id of ids) {
      await lab.drive(engine.start(flow, 3, { id }));
      await lab.drive(engine.result(id));
      await engine.audit.record({ act: "thing_done", actor: "Ada", what: id });
    }
    return (await engine.audit.anchor()).head.note;
  };
  await more(["a", "b"]);
  const older = await copyOf(engine.audit.export({ journals: "full" }));
  const anchor = await more(["c", "d", "e", "f"]);
  await more(["g", "h"]);
  const today = await copyOf(engine.audit.export({ journals: "full" }));
  const key = parsePublicKey(made.publicKey);
  if (!key) throw new Error("it is a key");
  return { key, older, today, anchor: parseHeads(anchor).heads };
}

async function copyOf(lines: AsyncIterable<string>): Promise<Copy> {
  const copy: Copy = { heads: [], leaves: [], runs: [] };
  for await (const text of lines) {
    const line = JSON.parse(text) as Record<string, never>;
    if (line["sth"]) copy.heads.push(line["sth"]);
    else if (line["leaf"]) copy.leaves.push(line["leaf"]);
    else if (line["run"]) copy.runs.push({ row: line as unknown as StoredRun["row"], entries: [] });
    else if (line["entry"]) {
      const { seq, count, entry: head, data } = line as unknown as Entry & { entry: string };
      copy.runs.at(-1)?.entries.push({ seq, count, head, data });
    }
  }
  return copy;
}

function verify(
  { heads, leaves, runs }: Copy,
  key: NonNullable<ReturnType<typeof parsePublicKey>>,
  anchor: readonly NotedHead[],
): AuditVerification {
  const check = new BundleCheck({ keys: [key], anchors: [{ name: "outside", heads: anchor }] });
  const say = (line: object) => check.take(JSON.stringify(line));
  say({ format: "holdfast-audit-1", journals: "full" });
  for (const sth of heads) say({ sth });
  for (const leaf of leaves) say({ leaf });
  let entries = 0;
  for (const { row, entries: own } of runs) {
    say(row);
    for (const { seq, count, head, data } of own) say({ seq, count, entry: head, data });
    entries += own.length;
  }
  say({ end: { leaves: leaves.length, runs: runs.length, entries } });
  return check.finish();
}

/** A seeded sequence of whole numbers. */
function dice(seed: number): (sides: number) => number {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

const flip = (text: string, at: number): string =>
  `${text.slice(0, at)}${String.fromCharCode(text.charCodeAt(at) ^ 1)}${text.slice(at + 1)}`;

it(`finds every change that an anchor covers, of ${COUNT} (S1-54, U3)`, { timeout: LONGEST_MS }, async () => {
  const { key, older, today, anchor } = await stage();
  expect(verify(today, key, anchor)).toMatchObject({ ok: true, anchored: { size: anchor[0]?.size } });
  const size = anchor[0]?.size ?? 0;
  /** The last position of each run that the anchor covers. */
  const covered = new Map<string, number>();
  for (const text of today.leaves.slice(0, size)) {
    const leaf = parseLeaf(text);
    if (leaf?.act === "run_head") covered.set(leaf.run ?? "", leaf.seq ?? 0);
  }
  const roll = dice(7);
  const outcome = { found: 0, newer: 0 };
  const missed: string[] = [];
  for (let nth = 0; nth < COUNT; nth++) {
    const copy: Copy = {
      heads: [...today.heads],
      leaves: [...today.leaves],
      runs: today.runs.map(({ row, entries }) => ({ row: { ...row }, entries: [...entries] })),
    };
    const { what, isCovered } = mutate(copy, older, roll, size, covered);
    const found = verify(copy, key, anchor);
    if (!found.ok) outcome.found++;
    else if (isCovered) missed.push(what);
    else outcome.newer++;
    if (found.ok && found.anchored?.size !== size) missed.push(`${what}: it claims another anchor`);
  }
  expect(missed).toEqual([]);
  expect(outcome.found + outcome.newer).toBe(COUNT);
});

type Mutation = { readonly what: string; readonly isCovered: boolean };

function mutate(
  copy: Copy,
  older: Copy,
  roll: (sides: number) => number,
  size: number,
  covered: ReadonlyMap<string, number>,
): Mutation {
  const { leaves, runs } = copy;
  const kind = roll(12);
  const at = roll(leaves.length);
  const run = runs[roll(runs.length)] as StoredRun;
  const place = roll(run.entries.length);
  const entry = run.entries[place] as Entry;
  const ofRun = (what: string, from: number): Mutation => ({
    what: `${what} ${run.row.run}#${from}`,
    isCovered: from <= (covered.get(run.row.run) ?? 0),
  });
  const ofLeaf = (what: string, from = at): Mutation => ({
    what: `${what} leaf ${from}`,
    isCovered: from < size,
  });
  switch (kind) {
    case 0:
      leaves[at] = flip(leaves[at] ?? "", roll(leaves[at]?.length ?? 1));
      return ofLeaf("edit");
    case 1:
      leaves.splice(at, 1);
      return ofLeaf("delete");
    case 2:
      leaves.splice(at, 0, leaves[roll(leaves.length)] ?? "");
      return ofLeaf("insert");
    case 3: {
      const other = roll(leaves.length);
      [leaves[at], leaves[other]] = [leaves[other] ?? "", leaves[at] ?? ""];
      return {
        ...ofLeaf("reorder", Math.min(at, other)),
        isCovered: at !== other && Math.min(at, other) < size,
      };
    }
    case 4:
      leaves.length = at;
      return ofLeaf("truncate");
    case 5:
      run.entries[place] = { ...entry, head: flip(entry.head, roll(entry.head.length)) };
      return ofRun("edit", entry.seq);
    case 6:
      run.entries.splice(place, 1);
      return ofRun("delete", entry.seq);
    case 7:
      run.entries.length = place;
      Object.assign(run.row, endOf(run.entries));
      return ofRun("truncate", entry.seq);
    case 8: {
      const { entries } = forged(run.entries);
      run.entries = entries;
      Object.assign(run.row, endOf(entries));
      return ofRun("re-hash", 1);
    }
    case 9: {
      const other = runs[roll(runs.length)] as StoredRun;
      [run.entries, other.entries] = [other.entries, run.entries];
      [run.row.seq, other.row.seq] = [other.row.seq, run.row.seq];
      [run.row.head, other.row.head] = [other.row.head, run.row.head];
      const isSwapped = other !== run;
      return {
        what: "swap",
        isCovered: isSwapped && (covered.has(run.row.run) || covered.has(other.row.run)),
      };
    }
    case 10:
      // A fork of the history: the same run goes on differently from here, and everything fits together.
      run.entries = [...run.entries.slice(0, place), ...rechained(run.entries, place)];
      Object.assign(run.row, endOf(run.entries));
      return ofRun("fork", entry.seq);
    default:
      Object.assign(copy, { heads: [...older.heads], leaves: [...older.leaves], runs: older.runs });
      return { what: "rollback of the whole store", isCovered: true };
  }
}

const endOf = (entries: readonly Entry[]) => {
  const last = entries.at(-1);
  return { seq: last ? last.seq + last.count - 1 : 0, head: last ? digest(last.head) : "" };
};

function rechained(entries: readonly Entry[], from: number): Entry[] {
  let prev = from === 0 ? "" : digest(entries[from - 1]?.head ?? "");
  return entries.slice(from).map((entry) => {
    const head = JSON.stringify({ ...(JSON.parse(entry.head) as object), p: prev, a: "somebody else" });
    prev = digest(head);
    return { ...entry, head };
  });
}
