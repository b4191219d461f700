import { createEngine, workflow } from "holdfast";
import { packStore } from "holdfast/security";
import { openSqliteStore } from "holdfast/stores/sqlite";
import type { Store } from "../../src/core/store/contract.ts";
import type { CaseReport } from "../run.ts";
import { fileBytes, inFolder, median, payload, withEngine } from "../workbench.ts";

const times: number[] = [];

/** A conversation that grows by 2 KiB with each turn. */
const conversation = workflow("conversation", (ctx, turns: number) =>
  ctx
    .loop("turn", { messages: [] as string[] }, (state, turn) => {
      state.messages.push(payload(turn.index));
      times.push(performance.now());
      return turn.index === turns - 1 ? turn.done() : undefined;
    })
    .then((state) => state.messages.length),
);

/** The same with the message made by a step, as an agent does. */
const agent = workflow("agent", (ctx, turns: number) =>
  ctx
    .loop("turn", { messages: [] as string[] }, async (state, turn) => {
      state.messages.push(await ctx.step("ask", () => payload(turn.index)));
      return turn.index === turns - 1 ? turn.done() : undefined;
    })
    .then((state) => state.messages.length),
);

export async function growth({ quick }: { quick: boolean }): Promise<CaseReport> {
  const figures: Record<string, number> = {};
  let last = Number.NaN;
  let packed = Number.NaN;
  let slowdown = Number.NaN;
  for (const turns of quick ? [10, 100, 500] : [10, 100, 1000, 2000]) {
    times.length = 0;
    const bytes = await storedBytes(conversation, turns);
    last = bytes / (turns * 2048);
    figures[`bytes ÷ unique bytes, ${turns} iterations`] = last;
    const gaps = times.slice(1).map((time, index) => time - (times[index] as number));
    packed = (await storedBytes(conversation, turns, packStore)) / (turns * 2048);
    figures[`the same, packed, ${turns} iterations`] = packed;
    figures[`ms per iteration around ${turns}`] = median(gaps.slice(-Math.min(100, gaps.length)));
    if (turns > 100) slowdown = median(gaps.slice(-200)) / median(gaps.slice(10, 210));
    figures[`the same with a step in each, ${turns} iterations`] =
      (await storedBytes(agent, turns)) / (turns * 2048);
  }
  return {
    figures,
    goals: [
      { goal: "loop bytes ≤ 1.3 × unique bytes at the last size", measured: last, met: last <= 1.3 },
      { goal: "the same, packed ≤ 0.7", measured: packed, met: packed <= 0.7 },
      {
        goal: "time per iteration at the end ≤ 1.2 × at the start",
        measured: slowdown,
        met: slowdown <= 1.2,
      },
    ],
  };
}

function storedBytes(
  flow: typeof conversation,
  turns: number,
  wrap: (store: Store) => Store = (store) => store,
): Promise<number> {
  return inFolder(async (folder) => {
    const file = `${folder}/loop.db`;
    // What an empty database takes is a constant, and is subtracted.
    await withEngine(file, [flow], async (engine) => engine.list({ limit: 1 }));
    const empty = fileBytes(file);
    const store = wrap(await openSqliteStore({ file }));
    const engine = createEngine({ store, workflows: [flow] });
    await engine.result((await engine.start(flow, turns)).id);
    await engine.close({ drainMs: 0 });
    await store.close();
    return fileBytes(file) - empty;
  });
}
