import type { Checkpoint, CheckpointPendingWrite, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { nameOf } from "../json-keys.ts";
import { checkpointPackage } from "./package.ts";
import { headOf, type TaskWrites, type ThreadState } from "./state.ts";
import type { StoredValues } from "./stored.ts";
import { merged, type Thread } from "./thread.ts";

interface Found {
  readonly thread: Thread;
  readonly namespace: string;
  readonly state: ThreadState;
  readonly writes: readonly TaskWrites[];
  /** What tasks wrote on top of its parent, if that is known. */
  readonly parentWrites?: readonly TaskWrites[];
}

/** The first version of the format that keeps sends in a channel. */
const WITH_SENDS = 4;

/** What LangGraph gets of a checkpoint. */
export async function tupleOf(values: StoredValues, found: Found): Promise<CheckpointTuple> {
  const { thread, namespace, state } = found;
  const { id, parent, v } = state.checkpoint;
  const configOf = (id: string) => ({
    configurable: { thread_id: thread.id, checkpoint_ns: namespace, checkpoint_id: id },
  });
  const channels = Object.entries(state.values).map(
    async ([key, value]) => [nameOf(key), await values.load(value)] as const,
  );
  const checkpoint: Checkpoint = {
    ...headOf(state),
    channel_values: Object.fromEntries(await Promise.all(channels)),
  };
  if (v < WITH_SENDS && parent !== null) await addSends(values, found, parent, checkpoint);
  return {
    config: configOf(id),
    checkpoint,
    metadata: (await values.load(state.meta)) as NonNullable<CheckpointTuple["metadata"]>,
    pendingWrites: await loaded(values, found.writes),
    ...(parent === null ? {} : { parentConfig: configOf(parent) }),
  };
}

const loaded = (values: StoredValues, all: readonly TaskWrites[]): Promise<CheckpointPendingWrite[]> =>
  Promise.all(
    merged(all).flatMap(({ task, writes }) =>
      writes.map(
        async ([, channel, value]): Promise<CheckpointPendingWrite> => [
          task,
          channel,
          await values.load(value),
        ],
      ),
    ),
  );

/** Earlier versions of LangGraph kept sends among the writes of the parent. */
async function addSends(
  values: StoredValues,
  { thread, namespace, parentWrites }: Found,
  parent: string,
  checkpoint: Checkpoint,
): Promise<void> {
  const { TASKS, maxChannelVersion } = await checkpointPackage();
  const writes = await loaded(values, parentWrites ?? (await thread.past().writes(namespace, parent)));
  checkpoint.channel_values[TASKS] = writes.flatMap(([, channel, value]) =>
    channel === TASKS ? [value] : [],
  );
  const versions = Object.values(checkpoint.channel_versions);
  checkpoint.channel_versions[TASKS] = versions.length > 0 ? maxChannelVersion(...versions) : 1;
}
