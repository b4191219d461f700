import { workflow } from "holdfast";
import { chooseDriver } from "../../src/stores/sqlite/driver.ts";
import type { CaseReport } from "../run.ts";
import { inFolder, median, payload, rawCommits, withEngine } from "../workbench.ts";

const steps = workflow("steps", async (ctx, count: number) => {
  for (let n = 0; n < count; n++) await ctx.step("step", () => payload(n));
});

/** What one round measured: steps or rows a second, and processor time for each, in µs. */
interface Round {
  readonly rate: number;
  readonly cpu: number;
}

/** Runs of ten steps and one long run on SQLite, in turns with what no engine can beat on the same disk. */
export async function limits({ quick }: { quick: boolean }): Promise<CaseReport> {
  const rounds = quick ? 3 : 7;
  const found: Record<string, Round[]> = {};
  await inFolder((folder) =>
    withEngine(`${folder}/runs.db`, [steps], async (engine) => {
      const runs = (count: number, length: number, width: number) =>
        timed(count * length, () =>
          lanes(count, width, async () => {
            await engine.result((await engine.start(steps, length)).id);
          }),
        );
      // Once round without counting: compilers and caches.
      for (let round = -1; round < rounds; round++) {
        const scale = quick ? 1 : 3;
        const raw = await rawCommits(`${folder}/raw-${round}.db`, 500 * scale);
        const measured = {
          raw: { rate: raw, cpu: Number.NaN },
          prototype: await groupCommits(`${folder}/group-${round}.db`, 100, 4_000 * scale),
          ten: await runs(50 * scale, 10, 1),
          long: await runs(1, 500 * scale, 1),
          hundred: await runs(400 * scale, 10, 100),
          none: await timed(100, () =>
            lanes(100, 1, async () => {
              await engine.result((await engine.start(steps, 0)).id);
            }),
          ),
        };
        if (round < 0) continue;
        for (const [name, one] of Object.entries(measured)) (found[name] ??= []).push(one);
      }
    }),
  );
  return report(found);
}

function report(found: Readonly<Record<string, readonly Round[]>>): CaseReport {
  const of = (name: string) => found[name] ?? [];
  const rate = (name: string) => median(of(name).map((one) => one.rate));
  const cpu = (name: string) => median(of(name).map((one) => one.cpu));
  const ratio = (name: string, limit: string) =>
    median(of(name).map((one, round) => one.rate / (of(limit)[round]?.rate ?? Number.NaN)));
  const [ten, long, hundred] = [ratio("ten", "raw"), ratio("long", "raw"), ratio("hundred", "prototype")];
  return {
    figures: {
      "raw one-row commits/s": rate("raw"),
      "group-commit prototype, 100 writers, rows/s": rate("prototype"),
      "group-commit prototype, processor µs a row": cpu("prototype"),
      "1 run of ten steps, steps/s": rate("ten"),
      "one long run, steps/s": rate("long"),
      "100 runs of ten steps, steps/s": rate("hundred"),
      "1 run of ten steps, processor µs a step": cpu("ten"),
      "one long run, processor µs a step": cpu("long"),
      "100 runs of ten steps, processor µs a step": cpu("hundred"),
      "a run of no steps, processor µs": cpu("none"),
    },
    goals: [
      { goal: "1 run of ten steps ÷ raw one-row commits ≥ 0.65", measured: ten, met: ten >= 0.65 },
      { goal: "one long run ÷ raw one-row commits ≥ 0.8", measured: long, met: long >= 0.8 },
      { goal: "100 runs ÷ group-commit prototype ≥ 0.5", measured: hundred, met: hundred >= 0.5 },
      {
        goal: "100 runs, processor time a step ≤ 45 µs",
        measured: cpu("hundred"),
        met: cpu("hundred") <= 45,
      },
    ],
  };
}

/** Processor time counts what this process did, however busy the machine is. */
async function timed(steps: number, work: () => Promise<unknown>): Promise<Round> {
  const [cpu, start] = [process.cpuUsage(), performance.now()];
  await work();
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  return { rate: (steps / ms) * 1000, cpu: (user + system) / steps };
}

/** Does a number of things, `width` at a time. */
async function lanes(count: number, width: number, one: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await one(next++);
  };
  await Promise.all(Array.from({ length: width }, lane));
}

/** A bare write path without any feature: rows that arrive in one turn are one transaction. */
async function groupCommits(file: string, writers: number, count: number): Promise<Round> {
  const db = (await chooseDriver("auto")).connect(file);
  db.exec(
    "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; CREATE TABLE steps (id INTEGER PRIMARY KEY, run INTEGER, seq INTEGER, out TEXT)",
  );
  const insert = db.prepare("INSERT INTO steps (run, seq, out) VALUES (?, ?, ?)");
  let queue: { readonly row: readonly [number, number, string]; readonly done: () => void }[] = [];
  const flush = () => {
    const batch = queue;
    queue = [];
    db.exec("BEGIN IMMEDIATE");
    for (const { row } of batch) insert.run(...row);
    db.exec("COMMIT");
    for (const { done } of batch) done();
  };
  const append = (row: readonly [number, number, string]) =>
    new Promise<void>((done) => {
      if (queue.push({ row, done }) === 1) setImmediate(flush);
    });
  const round = await timed(count, () => lanes(count, writers, (n) => append([n % writers, n, payload(n)])));
  db.close();
  return round;
}
