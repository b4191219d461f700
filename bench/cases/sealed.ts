import { randomBytes } from "node:crypto";
import { createEngine, type Engine, workflow } from "holdfast";
import { envKeyring, packStore, sealStore } from "holdfast/security";
import { openSqliteStore } from "holdfast/stores/sqlite";
import type { Store } from "../../src/core/store/contract.ts";
import type { CaseReport } from "../run.ts";
import { fileBytes, inFolder, median } from "../workbench.ts";

const WORDS =
  "the step order customer was saved then asked model answer token agent tool found next plan note".split(
    " ",
  );

/** 2 KiB of text that is as hard to pack as what models write, and never the same twice. */
function prose(n: number): string {
  let [text, state] = ["", n + 1];
  while (text.length < 2048) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    text += `${WORDS[(state >>> 8) % WORDS.length]}${state % 7 === 0 ? (state >>> 16).toString(36) : ""} `;
  }
  return text.slice(0, 2048);
}

const steps = workflow("steps", async (ctx, count: number) => {
  for (let n = 0; n < count; n++) await ctx.step("step", () => prose(n));
});

const WAYS: Readonly<Record<string, (inner: Store) => Store | Promise<Store>>> = {
  plain: (inner) => inner,
  packed: (inner) => packStore(inner),
  "sealed, not packed": (inner) => sealStore(inner, { keyring: envKeyring(), compression: false }),
  sealed: (inner) => sealStore(inner, { keyring: envKeyring() }),
};

/** The same steps on four stores in turn, a few at a time: what encryption and packing cost and save. */
export async function sealed({ quick }: { quick: boolean }): Promise<CaseReport> {
  process.env["HOLDFAST_KEYS"] = `bench:${randomBytes(32).toString("base64")}`;
  const [rounds, count] = quick ? [15, 100] : [60, 200];
  return inFolder(async (folder) => {
    const sides = new Map<
      string,
      { file: string; engine: Engine; store: Store; ms: number[]; cpu: number[] }
    >();
    for (const [name, way] of Object.entries(WAYS)) {
      const file = `${folder}/${name.replace(/\W+/g, "-")}.db`;
      const store = await way(await openSqliteStore({ file }));
      sides.set(name, { file, store, engine: createEngine({ store, workflows: [steps] }), ms: [], cpu: [] });
    }
    for (let round = 0; round <= rounds; round++) {
      for (const { engine, ms, cpu } of sides.values()) {
        const [start, used] = [performance.now(), process.cpuUsage()];
        await engine.result((await engine.start(steps, count)).id);
        // The first round warms up.
        if (round === 0) continue;
        ms.push((performance.now() - start) / count);
        const { user, system } = process.cpuUsage(used);
        cpu.push((user + system) / count);
      }
    }
    const figures: Record<string, number> = {};
    for (const [name, { file, engine, store, ms, cpu }] of sides) {
      await engine.close();
      await store.close();
      figures[`${name}: bytes per step (2 KiB values)`] = fileBytes(file) / ((rounds + 1) * count);
      figures[`${name}: ms per step`] = median(ms);
      figures[`${name}: CPU µs per step`] = median(cpu);
      figures[`${name}: time ÷ plain`] = ratio(sides.get("plain")?.ms ?? [], ms);
    }
    const goal = (name: string, most: number) => {
      const measured = figures[`${name}: time ÷ plain`] as number;
      return { goal: `a step, ${name} ÷ plain ≤ ${most}`, measured, met: measured <= most };
    };
    return { figures, goals: [goal("sealed, not packed", 1.05), goal("sealed", 1.15)] };
  });
}

/** Of each round by itself, so that a slow minute counts for both. */
const ratio = (base: readonly number[], ours: readonly number[]): number =>
  median(ours.map((one, index) => one / (base[index] ?? Number.NaN)));
