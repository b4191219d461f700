import { MessageList } from "@mastra/core/agent";
import type { MastraDBMessage, StorageThreadType } from "@mastra/core/memory";
import type {
  MemoryStorage,
  StorageCloneThreadInput,
  StorageCopyThreadOutput,
  StorageListMessagesByResourceIdInput,
  StorageListMessagesInput,
  StorageListMessagesOutput,
  StorageListThreadsInput,
  StorageListThreadsOutput,
  StorageMessageType,
  StorageResourceType,
} from "@mastra/core/storage";
import { refused } from "./kept-runs.ts";
import { HoldfastObservations } from "./observations.ts";
import type { Owner } from "./shelf.ts";

type Args<K extends keyof MemoryStorage> = MemoryStorage[K] extends (args: infer A) => unknown ? A : never;

/** The memory of Mastra's agents in a Holdfast store: threads with their messages, and resources. */
export class HoldfastMemory extends HoldfastObservations {
  override readonly supportsPartialThreadUpdate: boolean = true;

  override dangerouslyClearAll(): Promise<void> {
    return this.shelves.clear();
  }

  override getThreadById(args: Args<"getThreadById">): Promise<StorageThreadType | null> {
    return this.shelves.read([`thread:${args.threadId}`], (memory) => memory.getThreadById(args));
  }

  override saveThread(args: Args<"saveThread">): Promise<StorageThreadType> {
    return this.shelves.write([`thread:${args.thread.id}`], ({ memory }) => memory.saveThread(args));
  }

  override updateThread(args: Args<"updateThread">): Promise<StorageThreadType> {
    return this.shelves.write([`thread:${args.id}`], ({ memory }) => memory.updateThread(args));
  }

  override updateThreadMetadata(args: Args<"updateThreadMetadata">): Promise<StorageThreadType | null> {
    return this.shelves.write([`thread:${args.id}`], ({ memory }) => memory.updateThreadMetadata(args));
  }

  override updateThreadResourceId(args: Args<"updateThreadResourceId">): Promise<StorageThreadType> {
    return this.shelves.write([`thread:${args.threadId}`], ({ memory }) =>
      memory.updateThreadResourceId(args),
    );
  }

  override deleteThread({ threadId }: Args<"deleteThread">): Promise<void> {
    return this.shelves.deleteThread(threadId);
  }

  override async listThreads(args: StorageListThreadsInput): Promise<StorageListThreadsOutput> {
    const resource = args.filter?.resourceId;
    const owners = resource ? await this.shelves.threadsOf(resource) : await this.shelves.everyThread();
    return this.shelves.read(owners, (memory) => memory.listThreads(args));
  }

  override async copyThread(args: StorageCloneThreadInput): Promise<StorageCopyThreadOutput> {
    const newThreadId = args.newThreadId || globalThis.crypto.randomUUID();
    const owners: Owner[] = [`thread:${args.sourceThreadId}`, `thread:${newThreadId}`];
    return this.shelves.write(owners, ({ memory }) => memory.copyThread({ ...args, newThreadId }));
  }

  override async listMessages(args: StorageListMessagesInput): Promise<StorageListMessagesOutput> {
    const threads = [args.threadId].flat().map((id): Owner => `thread:${id}`);
    const owners = [...threads, ...(await this.#withMessages((args.include ?? []).map(({ id }) => id)))];
    const page = await this.shelves.read(owners, (memory) => memory.listMessages(args));
    if (!Array.isArray(args.threadId) || !args.include?.length || args.filter?.metadata) return page;
    // Mastra's memory in a process counts what was included for one thread, but not for several.
    const shown = page.messages.filter(({ threadId = "" }) => args.threadId.includes(threadId));
    return { ...page, hasMore: page.hasMore && shown.length < page.total };
  }

  override async listMessagesByResourceId(
    args: StorageListMessagesByResourceIdInput,
  ): Promise<StorageListMessagesOutput> {
    const included = await this.#withMessages((args.include ?? []).map(({ id }) => id));
    const owners = [...(await this.shelves.threadsOf(args.resourceId)), ...included];
    return this.shelves.read(owners, (memory) => memory.listMessagesByResourceId(args));
  }

  override async listMessagesById(args: Args<"listMessagesById">): Promise<{ messages: MastraDBMessage[] }> {
    const owners = await this.#withMessages(args.messageIds);
    return this.shelves.read(owners, (memory) => memory.listMessagesById(args));
  }

  override async saveMessages({ messages }: Args<"saveMessages">): Promise<{ messages: MastraDBMessage[] }> {
    if (messages.length === 0) return { messages: [] };
    const rows = messages.map(rowOf);
    const ids = rows.map(({ id }) => id);
    const owners = [
      ...rows.map(({ thread_id }): Owner => `thread:${thread_id}`),
      ...(await this.#withMessages(ids)),
    ];
    return this.shelves.write(owners, async (scratch) => {
      for (const row of rows) scratch.put(row);
      return { messages: new MessageList().add(messages, "memory").get.all.db() };
    });
  }

  override async updateMessages(args: Args<"updateMessages">): Promise<MastraDBMessage[]> {
    const { messages } = args as Parameters<MemoryStorage["updateMessages"]>[0];
    const moved = messages.flatMap(({ threadId }): Owner[] => (threadId ? [`thread:${threadId}`] : []));
    const owners = [...(await this.#withMessages(messages.map(({ id }) => id))), ...moved];
    // Mastra's own types of this argument differ between the interface and its implementation.
    return this.shelves.write(owners, ({ memory }) => memory.updateMessages(args as never));
  }

  override async deleteMessages(messageIds: string[]): Promise<void> {
    const owners = await this.#withMessages(messageIds);
    if (owners.length > 0)
      await this.shelves.write(owners, ({ memory }) => memory.deleteMessages(messageIds));
  }

  override getResourceById(args: Args<"getResourceById">): Promise<StorageResourceType | null> {
    return this.shelves.read([`resource:${args.resourceId}`], (memory) => memory.getResourceById(args));
  }

  override saveResource(args: Args<"saveResource">): Promise<StorageResourceType> {
    return this.shelves.write([`resource:${args.resource.id}`], ({ memory }) => memory.saveResource(args));
  }

  override updateResource(args: Args<"updateResource">): Promise<StorageResourceType> {
    return this.shelves.write([`resource:${args.resourceId}`], ({ memory }) => memory.updateResource(args));
  }

  async #withMessages(ids: readonly string[]): Promise<readonly Owner[]> {
    return (await this.shelves.messages.of(ids)) as readonly Owner[];
  }
}

function rowOf(message: MastraDBMessage): StorageMessageType {
  const { id, threadId, resourceId, role, type, createdAt } = message;
  if (!threadId || resourceId === null)
    throw refused(`Message ${id}`, "it names no thread, or null as its resource");
  return {
    id,
    thread_id: threadId,
    content: JSON.stringify(message.content),
    role: role || "user",
    type: type || "text",
    createdAt: new Date(createdAt),
    resourceId: resourceId || null,
  };
}
