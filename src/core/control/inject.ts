import type { NamedAct } from "../journal/act.ts";
import { INJECT, injectTo } from "../names.ts";
import type { Control } from "./control.ts";
import type { Family } from "./family.ts";

export interface InjectOptions extends NamedAct {
  /** The runs below it, too, as far as they are there by now. */
  readonly children?: boolean;
  /** The agent it is meant for, by name. Default: every agent of the run. */
  readonly to?: string;
}

/** Puts context into the mailbox of a run, and where asked of those below it. Sent again under its id, it reaches who was missed. */
export async function injectInto(
  control: Control,
  family: Family,
  runId: string,
  context: unknown,
  { children, to, ...act }: InjectOptions,
): Promise<void> {
  const mailbox = to === undefined ? INJECT : injectTo(to);
  const inject = (id: string): Promise<void> => control.signal(id, mailbox, context, act);
  if (children) await family.withChildren(runId, inject, ({ id }) => inject(id));
  else await inject(runId);
}
