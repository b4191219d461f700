import { createEngine, workflow } from "holdfast";
import { auditKey, newAuditKey } from "holdfast/security";
import { createMemoryStore } from "holdfast/stores/memory";
import { BundleCheck } from "../../src/core/audit/proof/bundle.ts";
import { LogCheck } from "../../src/core/audit/proof/log-check.ts";
import { parsePublicKey } from "../../src/core/audit/proof/note.ts";
import { RunCheck } from "../../src/core/audit/proof/run-check.ts";
import type { CaseReport } from "../run.ts";
import { inFolder, median, withEngine } from "../workbench.ts";

const GOAL = 200_000;

const steps = workflow("steps", async (ctx, count: number) => {
  for (let n = 0; n < count; n++) await ctx.step(`step-${n % 10}`, () => n);
});

/** Processor time of this process in milliseconds. */
function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** How many records a second of the processor's time are verified, and what signing costs a step. */
export async function audit({ quick }: { quick: boolean }): Promise<CaseReport> {
  const [runs, count, rounds] = quick ? [20, 500, 5] : [100, 1_000, 9];
  const made = newAuditKey("example.com/audit");
  const key = parsePublicKey(made.publicKey);
  if (!key) throw new Error("it is a key");
  const store = createMemoryStore();
  const engine = createEngine({ store, workflows: [steps], audit: { key: auditKey(made.privateKey) } });
  for (let run = 0; run < runs; run++) await engine.result((await engine.start(steps, count)).id);
  for (let act = 0; act < runs * 10; act++) await engine.audit.record({ act: "thing_done", what: `${act}` });
  const anchor = (await engine.audit.anchor()).head;
  const figures: Record<string, number> = {};
  for (const journals of ["heads", "full"] as const) {
    const lines: string[] = [];
    for await (const line of engine.audit.export({ journals })) lines.push(line);
    const times: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      const check = new BundleCheck({ keys: [key], anchors: [] });
      const ms = cpuMs(() => {
        for (const line of lines) check.take(line);
      });
      const found = check.finish();
      if (!found.ok || found.signed?.size !== anchor.size) throw new Error("the bundle must verify");
      if (round > 0) times.push(ms);
    }
    figures[`offline, ${journals}: records/s`] = (lines.length / median(times)) * 1_000;
    figures[`offline, ${journals}: bytes per record`] =
      lines.reduce((sum, line) => sum + line.length, 0) / lines.length;
  }
  figures["in the store, journals' heads: records/s"] = await inStore(engine, store, rounds);
  figures["leaves of the log: records/s"] = await leavesOnly(engine, key, rounds);
  await engine.close();
  await overhead(figures, made.privateKey, quick);
  const rate = Math.min(
    ...["offline, heads", "offline, full"].map((way) => figures[`${way}: records/s`] as number),
  );
  return {
    figures,
    goals: [
      { goal: `records verified per second of processor time ≥ ${GOAL}`, measured: rate, met: rate >= GOAL },
      ...[1, 100].map((width) => {
        const share = figures[`signing, ${width} runs: CPU of a step, signed ÷ unsigned`] ?? Number.NaN;
        return {
          goal: `${width} runs: a step, signed ÷ unsigned ≤ 1.01`,
          measured: share,
          met: share <= 1.01,
        };
      }),
    ],
  };
}

/** The same check on what a store holds, without an export's lines around it. */
async function inStore(
  engine: ReturnType<typeof createEngine>,
  store: ReturnType<typeof createMemoryStore>,
  rounds: number,
): Promise<number> {
  const found = (await engine.list({ limit: 1_000 })).runs;
  const all = await Promise.all(
    found.map(async (row) => ({
      row: {
        run: row.id,
        created: row.createdAt,
        seq: row.seq,
        head: (await store.read(row.id))?.head ?? "",
      },
      entries: (await store.entries(row.id, { from: 1, limit: 1_000_000 })).map(({ seq, count, head }) => ({
        seq,
        count,
        head,
      })),
    })),
  );
  const records = all.reduce((sum, { entries }) => sum + entries.length, 0);
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const check = new RunCheck(new Map(), 0);
    const ms = cpuMs(() => {
      for (const { row, entries } of all) {
        check.begin(row);
        for (const entry of entries) check.entry(entry);
      }
      check.finish();
    });
    if (check.problems.length > 0) throw new Error(`the journals must verify: ${check.problems[0]?.problem}`);
    if (round > 0) times.push(ms);
  }
  return (records / median(times)) * 1_000;
}

async function leavesOnly(
  engine: ReturnType<typeof createEngine>,
  key: NonNullable<ReturnType<typeof parsePublicKey>>,
  rounds: number,
): Promise<number> {
  const leaves: string[] = [];
  for await (const line of engine.audit.export({ journals: "none" })) {
    const { leaf } = JSON.parse(line) as { leaf?: string };
    if (leaf !== undefined) leaves.push(leaf);
  }
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const check = new LogCheck({ keys: [key], anchors: [], heads: [] });
    const ms = cpuMs(() => {
      for (const leaf of leaves) check.take(leaf);
    });
    if (round > 0) times.push(ms);
  }
  return (leaves.length / median(times)) * 1_000;
}

/** The same steps with and without signing, in turns that change their order: processor time and flushes. */
async function overhead(figures: Record<string, number>, privateKey: string, quick: boolean): Promise<void> {
  const rounds = quick ? 6 : 40;
  const signing = { audit: { key: auditKey(privateKey) } };
  for (const width of [1, 100])
    await inFolder((folder) =>
      withEngine(
        `${folder}/signed.db`,
        [steps],
        (signed) =>
          withEngine(`${folder}/unsigned.db`, [steps], async (unsigned) => {
            const sides = [
              { name: "signed", engine: signed, us: 0 },
              { name: "unsigned", engine: unsigned, us: 0 },
            ];
            for (let round = 0; round <= rounds; round++)
              for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
                const flushes = side.engine.flushes;
                const us = await turn(side.engine, width);
                if (round > 0) side.us += us;
                figures[`${side.name}, ${width} runs: flushes per step`] =
                  (side.engine.flushes - flushes) / STEPS;
              }
            const [one, other] = sides.map(({ us }) => us);
            figures[`signing, ${width} runs: CPU of a step, signed ÷ unsigned`] = (one ?? 0) / (other ?? 0);
          }),
        signing,
      ),
    );
}

const STEPS = 2_000;

/** The processor's microseconds for so many steps. */
async function turn(engine: ReturnType<typeof createEngine>, width: number): Promise<number> {
  const before = process.cpuUsage();
  await Promise.all(
    Array.from({ length: width }, async () => engine.result((await engine.start(steps, STEPS / width)).id)),
  );
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
