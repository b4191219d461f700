import type { RunRow } from "../../src/core/types.ts";
import type { Engine, OpenGate } from "../../src/index.ts";
import type { Lab } from "./lab.ts";

export const allRuns = async (lab: Lab): Promise<readonly RunRow[]> =>
  (await lab.store.list({ limit: 1_000 })).runs;

/** Resolves everything in doubt as done, and answers every gate of every run. Expired ones are left alone. */
export async function answerAll(
  lab: Lab,
  engine: Engine,
  choose: (gate: OpenGate) => string = ({ choices: [first = ""] }) => first,
): Promise<void> {
  for (const row of await allRuns(lab)) {
    for (const { kind, step } of row.waiting)
      if (kind === "decision")
        await lab.drive(engine.resolve(row.id, step, { action: "done", value: "told" }));
    for (const gate of await engine.gates(row.id))
      await lab.drive(engine.answer(row.id, gate.gate, { choice: choose(gate) }).catch(() => undefined));
  }
}

/** Answers every question and lets time pass, until the runs are as they should be. */
export async function answerUntil(
  lab: Lab,
  engine: Engine,
  isDone: () => Promise<boolean>,
  choose?: (gate: OpenGate) => string,
): Promise<void> {
  for (let turn = 0; turn < 100; turn++) {
    if (await isDone()) return;
    await answerAll(lab, engine, choose);
    await lab.clock.advance(turn < 80 ? 1_000 : 1_000_000);
  }
  throw new Error("it does not end");
}
