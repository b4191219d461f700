import type { Engine } from "../../core/engine/engine.ts";
import type { Act } from "../../core/journal/act.ts";
import { isApproval } from "../../core/keys.ts";
import type { Store } from "../../core/store/contract.ts";
import type { CommandContext } from "../context.ts";
import { type Driven, drive } from "./drive.ts";

interface Driving {
  readonly engine: Engine;
  readonly store: Store;
  readonly runId: string;
  readonly act: Act;
}

const LOOK_MS = 250;
/** Choices that proceed without saying anything, if a gate offers them. */
const PASSING = ["finish", "skip", "proceed", "stop"];

/** Stays with a run and answers its questions with the first choice. Approvals of calls are never given this way. */
export async function driveSkipping(context: CommandContext<unknown>, driving: Driving): Promise<Driven> {
  const { engine, runId } = driving;
  // On a terminal the command stays at a gate, which is answered while the person watches.
  let answering = Promise.resolve(false);
  const timer = setInterval(() => {
    answering = answering.then(() => answerAll(driving)).catch(() => false);
  }, LOOK_MS);
  try {
    let driven = await drive(context, driving);
    while (driven.exit === undefined && driven.view.row.status === "waiting" && (await answerAll(driving))) {
      const more = await drive(context, { ...driving, go: () => engine.recover() });
      driven = { ...more, before: driven.before, from: driven.from, ms: driven.ms + more.ms };
    }
    return driven;
  } finally {
    clearInterval(timer);
    await answering;
  }

  async function answerAll({ act }: Driving): Promise<boolean> {
    let isAnswered = false;
    for (const { gate, choices, digest } of await engine.gates(runId)) {
      const choice = PASSING.find((one) => choices.includes(one)) ?? choices[0];
      if (choice === undefined || choice === "answer" || isApproval(gate)) continue;
      await engine.answer(runId, gate, { ...act, reason: "--skip-gates", choice, digest });
      isAnswered = true;
    }
    return isAnswered;
  }
}
