import type { Workflow } from "../core/context.ts";
import type { CommandContext } from "./context.ts";

/** The parts that commands share which serve until somebody stops them. */

/** The workflows in all files that the command names. */
export async function givenWorkflows(context: CommandContext<unknown>): Promise<readonly Workflow[]> {
  const found = await context.workflows();
  const all: Workflow[] = [];
  for (const file of context.args) all.push(...(await found.fromFile(file, context.host.cwd, "any")).all);
  return all;
}

/**
 * Says that it is ready, waits for a signal, then stops. A second signal ends the process at once. Signals are heard before
 * anybody is told that they are.
 */
export async function untilSignal(
  { host, out }: CommandContext<unknown>,
  { ready, stop }: { readonly ready: () => void; readonly stop: () => Promise<unknown> },
): Promise<void> {
  let signals = 0;
  let hear = (): void => undefined;
  const asked = new Promise<void>((resolve) => (hear = resolve));
  const off = host.onSignal((signal) => {
    signals++;
    hear();
    if (signals > 1) host.exit(signal === "SIGINT" ? 130 : 143);
  });
  ready();
  await asked;
  out.say("Stopping: finishing what is under way. Once more to stop now.");
  await stop();
  off();
}
