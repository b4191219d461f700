import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  BaseCheckpointSaver,
  ChannelVersions,
  Checkpoint,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointTuple,
  DeltaChannelHistory,
  PendingWrite,
  SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import { checkKeys, checkText } from "../../core/check-options.ts";
import type { Engine } from "../../core/engine/engine.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Store } from "../../core/store/contract.ts";
import { keyOf } from "../json-keys.ts";
import { ownEngine } from "../own-engine.ts";
import { listed } from "./list.ts";
import { isMapped, runOf, textIn, threadOf } from "./names.ts";
import { checkpointPackage } from "./package.ts";
import { prepared, type TaskWrites } from "./state.ts";
import { StoredValues } from "./stored.ts";
import { Thread } from "./thread.ts";
import { tupleOf } from "./tuple.ts";

/** Options of {@link HoldfastSaver}. */
export interface HoldfastSaverOptions {
  /** The workflow that threads belong to as runs. Default `langgraph`. Give each of your graphs its own to tell them apart. */
  readonly workflow?: string;
  /** How values become text, if not as LangGraph does it. */
  readonly serde?: SerializerProtocol;
}

/** How many threads are held in memory, so that their next checkpoint needs no reading. */
const HELD = 100;

/**
 * A checkpointer for LangGraph.js that keeps threads in a Holdfast store. A thread is a run: it is listed, verified,
 * forked, exported and pruned like any other, and its checkpoints are entries of the run's journal. Each checkpoint
 * costs what has changed since the one before.
 *
 * @example
 * ```ts
 * import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
 * import { HoldfastSaver } from "holdfast/adapters/langgraph";
 * import { openSqliteStore } from "holdfast/stores/sqlite";
 *
 * const State = Annotation.Root({ topic: Annotation<string>() });
 * const graph = new StateGraph(State)
 *   .addNode("ask", async ({ topic }) => ({ topic: topic.trim() }))
 *   .addEdge(START, "ask")
 *   .addEdge("ask", END);
 *
 * const checkpointer = new HoldfastSaver(await openSqliteStore());
 * const agent = graph.compile({ checkpointer });
 * await agent.invoke({ topic: " tides " }, { configurable: { thread_id: "ada-1" } });
 * ```
 */
export class HoldfastSaver implements BaseCheckpointSaver {
  /** The serializer that was given, or LangGraph's own. */
  readonly serde: SerializerProtocol;
  readonly #engine: Engine;
  readonly #ownsEngine: boolean;
  readonly #workflow: string;
  readonly #values: StoredValues;
  readonly #threads = new Map<string, Thread>();

  /** A store, or an engine whose settings (redaction, limits, retention) then apply. */
  constructor(target: Store | Engine, options: HoldfastSaverOptions = {}) {
    checkKeys(options, ["workflow", "serde"], "HoldfastSaver");
    if (options.workflow !== undefined) checkText("workflow", options.workflow, 1);
    ({ engine: this.#engine, owned: this.#ownsEngine } = ownEngine(target));
    this.#workflow = options.workflow ?? "langgraph";
    this.#values = new StoredValues(options.serde);
    this.serde = options.serde ?? {
      dumpsTyped: async (data) => (await this.#values.serializer()).dumpsTyped(data),
      loadsTyped: async (type, data) => (await this.#values.serializer()).loadsTyped(type, data),
    };
  }

  /** What LangGraph prints instead of the whole object. */
  toJSON(): string {
    return "[HoldfastSaver]";
  }

  async get(config: RunnableConfig): Promise<Checkpoint | undefined> {
    return (await this.getTuple(config))?.checkpoint;
  }

  /** The checkpoint that the config names, or the newest of its thread; `undefined` when there is none. */
  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const id = threadOf(config.configurable);
    if (id === undefined) return undefined;
    const namespace = textIn(config.configurable, "checkpoint_ns") ?? "";
    const wanted = checkpointIn(config);
    const thread = this.#thread(id);
    if (!(await thread.read())) return undefined;
    const head = thread.head(namespace);
    const isHead = wanted === undefined || wanted === head?.checkpoint.id;
    const state = isHead ? head : await thread.past().find(namespace, wanted);
    if (!state) return undefined;
    thread.met(state.checkpoint.id);
    const writes = isHead
      ? await thread.pending(namespace)
      : await thread.past().writes(namespace, state.checkpoint.id);
    return tupleOf(this.#values, { thread, namespace, state, writes });
  }

  /** Checkpoints, newest first: of the thread and namespace that the config names, or of all. */
  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const id = threadOf(config.configurable);
    const threads = id === undefined ? this.#everyThread() : [this.#thread(id)];
    const only = { namespace: textIn(config.configurable, "checkpoint_ns"), id: checkpointIn(config) };
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    for await (const thread of threads) {
      if (left <= 0) return;
      if (!(await thread.read())) continue;
      for await (const found of listed(thread, only, { ...options, limit: left }, this.#values)) {
        left -= 1;
        yield found;
      }
    }
  }

  /** Saves a checkpoint; resolves when it is durable. Of the channels only those in `newVersions` are taken. */
  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const id = threadOf(config.configurable);
    if (id === undefined) throw new HoldfastError("HF-6182", { what: "thread_id" });
    const namespace = textIn(config.configurable, "checkpoint_ns") ?? "";
    const thread = this.#thread(id);
    const items = thread.itemsOf(namespace);
    const place = { namespace, parent: textIn(config.configurable, "checkpoint_id") };
    const ready = prepared(this.#values, place, checkpoint, metadata, newVersions, items);
    for (const name of ready.newVersions) items.delete(name);
    for (const [name, value] of ready.fresh) if ("items" in value) items.set(name, value.items);
    await thread.add({ checkpoint: ready });
    return { configurable: { thread_id: id, checkpoint_ns: namespace, checkpoint_id: checkpoint.id } };
  }

  /** Saves what a task has written on top of a checkpoint; resolves when it is durable. */
  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const id = threadOf(config.configurable);
    if (id === undefined) throw new HoldfastError("HF-6182", { what: "thread_id" });
    const checkpoint = textIn(config.configurable, "checkpoint_id");
    if (checkpoint === undefined) throw new HoldfastError("HF-6182", { what: "checkpoint_id" });
    const namespace = textIn(config.configurable, "checkpoint_ns") ?? "";
    const dumped = this.#dumpWrites(writes, taskId);
    dumped.catch(() => undefined);
    await this.#thread(id).add({ namespace, writes: dumped, of: checkpoint, task: taskId });
  }

  async #dumpWrites(writes: readonly PendingWrite[], task: string): Promise<TaskWrites> {
    const dumped = writes.map(([channel, value]) => this.#values.dump(value, `channel ${channel}`));
    const { WRITES_IDX_MAP } = await checkpointPackage();
    const stored = await Promise.all(dumped);
    return {
      task,
      writes: stored.map((value, index) => {
        const channel = writes[index]?.[0] ?? "";
        return [WRITES_IDX_MAP[channel] ?? index, channel, value];
      }),
    };
  }

  /** Deletes a thread with everything that belongs to it. */
  async deleteThread(threadId: string): Promise<void> {
    const id = threadOf({ thread_id: threadId });
    if (id === undefined) throw new HoldfastError("HF-6182", { what: "thread_id" });
    const thread = this.#thread(id);
    const row = await thread.read();
    this.#threads.delete(id);
    if (!row) return;
    await this.#engine.outside.complete(thread.run.runId, { archive: false });
    await this.#engine.delete(thread.run.runId, { tombstone: false });
  }

  /** What delta channels are made of: known at once for the newest checkpoint, else read from its ancestors. */
  async getDeltaChannelHistory(options: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const known = await this.#knownDelta(options.config, options.channels);
    if (known) return known;
    const { BaseCheckpointSaver: Base } = await checkpointPackage();
    return Base.prototype.getDeltaChannelHistory.call(this, options);
  }

  async #knownDelta(
    config: RunnableConfig,
    channels: readonly string[],
  ): Promise<Record<string, DeltaChannelHistory> | undefined> {
    const id = threadOf(config.configurable);
    if (id === undefined) return undefined;
    const thread = this.#thread(id);
    if (!(await thread.read())) return undefined;
    const namespace = textIn(config.configurable, "checkpoint_ns") ?? "";
    const head = thread.head(namespace);
    const wanted = checkpointIn(config);
    if (!head?.delta || (wanted !== undefined && wanted !== head.checkpoint.id)) return undefined;
    const histories = channels.map((name) => head.delta?.[keyOf(name)]);
    const found: Record<string, DeltaChannelHistory> = {};
    for (const [index, history] of histories.entries()) {
      const name = channels[index] ?? "";
      if (!history) return undefined;
      const writes = history.writes.map(
        async ([task, value]): Promise<[string, string, unknown]> => [
          task,
          name,
          await this.#values.load(value),
        ],
      );
      found[name] = {
        writes: await Promise.all(writes),
        ...(history.seed ? { seed: await this.#values.load(history.seed) } : {}),
      };
    }
    return found;
  }

  /** The version after this one. */
  getNextVersion(current: number | undefined): number {
    if (typeof current === "string")
      throw new HoldfastError("HF-6188", { problem: "Its channels have versions that aren't numbers." });
    return (current ?? 0) + 1;
  }

  /** Copies a thread as it is, or as it was at a checkpoint of the run: a fork of the run under the new thread's id. */
  async copyThread(from: string, to: string): Promise<void> {
    const source = this.#thread(from);
    const row = await source.read();
    if (!row) throw new HoldfastError("HF-1001", { run: runOf(from) });
    await this.#engine.fork(source.run.runId, { id: runOf(to), set: { input: { thread_id: to } } });
    this.#threads.delete(to);
  }

  /** Releases what this object has opened; the store stays open. */
  async close(): Promise<void> {
    await Promise.all([...this.#threads.values()].map((thread) => thread.settled()));
    if (this.#ownsEngine) await this.#engine.close();
  }

  #thread(id: string): Thread {
    const known = this.#threads.get(id);
    this.#threads.delete(id);
    const opening = { workflow: this.#workflow, version: "1", input: { thread_id: id } };
    const thread =
      known ?? new Thread(id, this.#engine.outside.thread(runOf(id), opening), this.#values, this.#workflow);
    this.#threads.set(id, thread);
    for (const [old, one] of this.#threads) {
      if (this.#threads.size <= HELD) break;
      if (one.isIdle) this.#threads.delete(old);
    }
    return thread;
  }

  async *#everyThread(): AsyncGenerator<Thread> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await this.#engine.list({
        workflow: this.#workflow,
        limit: 500,
        ...(cursor === undefined ? {} : { cursor }),
      });
      for (const { id } of page.runs) yield this.#thread(isMapped(id) ? await this.#threadIdOf(id) : id);
      cursor = page.cursor;
    }
  }

  async #threadIdOf(runId: string): Promise<string> {
    const { input } = await this.#engine.checkpoints.state(runId);
    const thread: unknown =
      typeof input === "object" && input !== null ? Reflect.get(input, "thread_id") : undefined;
    return typeof thread === "string" ? thread : runId;
  }
}

function checkpointIn(config: RunnableConfig): string | undefined {
  const id = textIn(config.configurable, "checkpoint_id") ?? textIn(config.configurable, "thread_ts");
  return id === "" ? undefined : id;
}
