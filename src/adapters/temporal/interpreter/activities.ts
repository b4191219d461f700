import { badOption } from "../../../core/check-options.ts";
import type { Workflow } from "../../../core/context.ts";
import { HoldfastError } from "../../../core/errors.ts";
import { type Interpretation, interpretationOf, type RemoteCall } from "../../../core/interpretation.ts";
import { decode, encode } from "../../../core/values/codec.ts";
import { ACTIVITY, CALLS, type CallMessage, NO_CODE, THROWN } from "./contract.ts";
import type { ActivityModule } from "./sdk.ts";

/** How a workflow is interpreted. Refuses one that is a function of its own (HF-7102). */
export function interpretationFor(workflow: Workflow<never, unknown>): Interpretation {
  const how = interpretationOf(workflow);
  if (!how) throw new HoldfastError("HF-7102", { workflow: workflow.name });
  return how;
}

type Activity = (text: string) => Promise<string>;

/** The activities of a worker: one for each kind of call, for all of its workflows. */
export function activitiesOf(
  workflows: readonly Workflow<never, unknown>[],
  { Context, ApplicationFailure }: ActivityModule,
  heartbeatMs: number,
): Readonly<Record<string, Activity>> {
  const byVersion = new Map(
    workflows.map((workflow) => [versionOf(workflow), interpretationFor(workflow)] as const),
  );
  if (byVersion.size < workflows.length)
    throw badOption("workflows", "two of them have the same name and version");
  const activity = async (text: string): Promise<string> => {
    const { workflow, version, name, args, call } = decode(text) as CallMessage;
    const how = byVersion.get(versionOf({ name: workflow, version }));
    const work = how?.calls[name];
    if (!work) {
      const message = `This worker has no ${workflow} ${version}.`;
      throw ApplicationFailure.create({ message, type: NO_CODE, nonRetryable: call.effect === "once" });
    }
    const { cancellationSignal: signal, heartbeat } = Context.current();
    const beat = setInterval(() => heartbeat(), heartbeatMs / 3);
    try {
      const remote: RemoteCall = { ...call, signal };
      return encode((await work(args as never, remote)) ?? null);
    } catch (error) {
      throw ApplicationFailure.create({
        message: messageOf(error),
        type: THROWN,
        nonRetryable: true,
        details: [encode(error)],
      });
    } finally {
      clearInterval(beat);
    }
  };
  return Object.fromEntries(CALLS.map((name) => [ACTIVITY + name, activity]));
}

const versionOf = ({ name, version }: { readonly name: string; readonly version: string }): string =>
  JSON.stringify([name, version]);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
