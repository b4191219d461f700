import type { CancelOptions, Control, PauseOptions, ResumeOptions } from "../control/control.ts";
import type { Family } from "../control/family.ts";
import { unseen } from "../journal/act.ts";
import type { Run } from "../types.ts";

/** Acts on a run and, with `children`, on those below it. */
export interface FamilyLinks {
  readonly control: Control;
  readonly family: Family;
}

export function pauseFamily(
  { control, family }: FamilyLinks,
  runId: string,
  act: PauseOptions,
): Promise<Run> {
  const pause = (id: string): Promise<Run> => control.pause(id, id === runId ? act : unseen(act));
  return act.children ? family.withChildren(runId, pause, ({ id }) => pause(id)) : pause(runId);
}

/** Changes and the position that was seen are meant for the run itself. */
export function resumeFamily(
  { control, family }: FamilyLinks,
  runId: string,
  options: ResumeOptions & { children?: boolean },
): Promise<Run> {
  const resume = (id: string): Promise<Run> => control.resume(id, options);
  if (!options.children) return resume(runId);
  const { set: _, inject: __, budget: ___, seen: ____, ...plain } = options;
  return family.withChildren(runId, resume, ({ id }) => control.resume(id, plain));
}

export async function cancelFamily(
  { control, family }: FamilyLinks,
  runId: string,
  act: CancelOptions,
): Promise<Run> {
  const row = await control.cancel(runId, act);
  await family.cancelChildren(runId, act);
  return row;
}
