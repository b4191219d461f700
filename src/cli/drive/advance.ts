import type { Engine } from "../../core/engine/engine.ts";
import type { Act } from "../../core/journal/act.ts";
import type { Store } from "../../core/store/contract.ts";
import type { CommandContext } from "../context.ts";
import type { Outcome } from "../outcome.ts";
import type { Code } from "../workflows.ts";
import { type Decide, settleDoubts } from "./doubts.ts";
import { drive } from "./drive.ts";
import { ending } from "./ending.ts";
import { engineFor, readUnheld } from "./ready.ts";

interface Advance {
  readonly store: Store;
  readonly code: Code;
  readonly runId: string;
  readonly act: Act;
  readonly breakAt?: readonly string[] | undefined;
  /** Starts it; by default it is only taken up. */
  readonly go?: (engine: Engine) => Promise<unknown>;
  /** True when it is being cancelled, so that a cancelled end is the expected one. */
  readonly isCancel?: boolean;
  /** How to decide about steps with an unknown outcome. */
  readonly decide?: Decide;
}

/** Takes up a stored run in this process and stays with it. Refused while another live process has it (HF-4311). */
export async function advance(context: CommandContext<unknown>, wanted: Advance): Promise<Outcome> {
  const { store, runId, act, decide } = wanted;
  const row = await readUnheld(store, runId);
  const engine = await engineFor(context, wanted);
  const { go = (one: Engine) => one.recover() } = wanted;
  const isAsked = decide ? await settleDoubts(context, { engine, store }, row, decide) : false;
  let driven = await drive(context, {
    engine,
    store,
    runId,
    act,
    go: () => (isAsked ? engine.recover() : go(engine)),
  });
  const first = driven;
  while (
    decide &&
    driven.exit === undefined &&
    (await settleDoubts(context, { engine, store }, driven.view.row, decide))
  ) {
    const more = await drive(context, { engine, store, runId, act, go: () => engine.recover() });
    driven = { ...more, before: first.before, from: first.from, ms: first.ms + more.ms };
  }
  return ending(context, engine, driven, { code: wanted.code, isCancel: wanted.isCancel ?? false });
}
