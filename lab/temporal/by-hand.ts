import { scheduleActivity } from "@temporalio/workflow";

/** A workflow as somebody writes it for Temporal alone: an activity for each step, one after the other. */
export async function byHand(steps: number): Promise<number> {
  let sum = 0;
  for (let n = 0; n < steps; n++)
    sum += await scheduleActivity<number>("work", [n], {
      startToCloseTimeout: 60_000,
      retry: { maximumAttempts: 1 },
    });
  return sum;
}
