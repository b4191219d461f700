import { checkText } from "../check-options.ts";
import { type NamedAct, unseen } from "../journal/act.ts";
import { INJECT, injectTo } from "../names.ts";
import type { Control } from "./control.ts";
import type { Family } from "./family.ts";

export interface InjectOptions extends NamedAct {
  /** Includes the runs below it that exist by now. */
  readonly children?: boolean;
  /** The name of the agent it is meant for. Default: every agent of the run. */
  readonly to?: string;
}

/**
 * Puts context into the mailbox of a run and, if asked, of the runs below it. Sending it again under its id reaches
 * those that were missed.
 */
export async function injectInto(
  control: Control,
  family: Family,
  runId: string,
  context: unknown,
  { children, to, ...act }: InjectOptions,
): Promise<void> {
  const mailbox = to === undefined ? INJECT : injectTo(checkText("to", to, 1));
  const inject = (id: string): Promise<void> => control.signal(id, mailbox, context, act);
  const below = (id: string): Promise<void> => control.signal(id, mailbox, context, unseen(act));
  if (children) await family.withChildren(runId, inject, ({ id }) => below(id));
  else await inject(runId);
}
