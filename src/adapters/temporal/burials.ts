import { type Burial, MEMO, workerOf } from "./contract.ts";
import { freed, signalled } from "./life.ts";
import { isMissing, type Link } from "./link.ts";

/** The activity `bury`: tells the runs of a worker that its life is over. Telling them twice does no harm. */
export async function bury(link: Link, { life, held }: Burial): Promise<void> {
  await Promise.all(
    held.map(async (runId) => {
      try {
        // Its sandbox was most likely in the process that is gone.
        await freed(link, runId);
      } catch (error) {
        if (isMissing(error)) return;
        throw error;
      }
      await signalled(link, runId, { life });
    }),
  );
}

/** The activity `probe`: true while the life lasts, as far as Temporal knows. */
export async function lasts(link: Link, life: string): Promise<boolean> {
  const worker = workerOf(life);
  try {
    const { status, memo } = await link.ask(worker, (client) => client.workflow.getHandle(worker).describe());
    return status.name === "RUNNING" && memo?.[MEMO.life] === life;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
