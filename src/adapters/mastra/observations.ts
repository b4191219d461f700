import {
  type CreateObservationalMemoryInput,
  type CreateReflectionGenerationInput,
  MemoryStorage,
  type ObservationalMemoryHistoryOptions,
  type ObservationalMemoryRecord,
  type SwapBufferedReflectionToActiveInput,
  type SwapBufferedToActiveInput,
  type SwapBufferedToActiveResult,
  type UpdateActiveObservationsInput,
  type UpdateBufferedObservationsInput,
  type UpdateBufferedReflectionInput,
  type UpdateObservationalMemoryConfigInput,
} from "@mastra/core/storage";
import { type Owner, ownerOf, type Scratch } from "./shelf.ts";
import type { Shelves } from "./shelves.ts";

/** Mastra's observational memory: records of a thread, or of a resource, in the run of that. */
export abstract class HoldfastObservations extends MemoryStorage {
  override readonly supportsObservationalMemory: boolean = true;
  protected readonly shelves: Shelves;

  constructor(shelves: Shelves) {
    super();
    this.shelves = shelves;
  }

  /** Changes the record with this id, as Mastra's own memory does. */
  async #at<T>(id: string, change: (memory: Scratch["memory"]) => Promise<T>): Promise<T> {
    const owners = (await this.shelves.observations.of([id])) as readonly Owner[];
    return this.shelves.write(owners, ({ memory }) => change(memory));
  }

  #of<T>(
    { threadId, resourceId }: Pick<ObservationalMemoryRecord, "threadId" | "resourceId">,
    change: (memory: Scratch["memory"]) => Promise<T>,
  ): Promise<T> {
    return this.shelves.write([ownerOf(threadId, resourceId)], ({ memory }) => change(memory));
  }

  override getObservationalMemory(
    threadId: string | null,
    resourceId: string,
  ): Promise<ObservationalMemoryRecord | null> {
    const owner = ownerOf(threadId, resourceId);
    return this.shelves.read([owner], (memory) => memory.getObservationalMemory(threadId, resourceId));
  }

  override getObservationalMemoryHistory(
    threadId: string | null,
    resourceId: string,
    limit?: number,
    options?: ObservationalMemoryHistoryOptions,
  ): Promise<ObservationalMemoryRecord[]> {
    return this.shelves.read([ownerOf(threadId, resourceId)], (memory) =>
      memory.getObservationalMemoryHistory(threadId, resourceId, limit, options),
    );
  }

  override initializeObservationalMemory(
    input: CreateObservationalMemoryInput,
  ): Promise<ObservationalMemoryRecord> {
    return this.#of(input, (memory) => memory.initializeObservationalMemory(input));
  }

  override insertObservationalMemoryRecord(record: ObservationalMemoryRecord): Promise<void> {
    return this.#of(record, (memory) => memory.insertObservationalMemoryRecord(record));
  }

  override createReflectionGeneration(
    input: CreateReflectionGenerationInput,
  ): Promise<ObservationalMemoryRecord> {
    return this.#of(input.currentRecord, (memory) => memory.createReflectionGeneration(input));
  }

  override swapBufferedReflectionToActive(
    input: SwapBufferedReflectionToActiveInput,
  ): Promise<ObservationalMemoryRecord> {
    return this.#of(input.currentRecord, (memory) => memory.swapBufferedReflectionToActive(input));
  }

  override clearObservationalMemory(threadId: string | null, resourceId: string): Promise<void> {
    return this.#of({ threadId, resourceId }, (memory) =>
      memory.clearObservationalMemory(threadId, resourceId),
    );
  }

  override updateActiveObservations(input: UpdateActiveObservationsInput): Promise<void> {
    return this.#at(input.id, (memory) => memory.updateActiveObservations(input));
  }

  override updateBufferedObservations(input: UpdateBufferedObservationsInput): Promise<void> {
    return this.#at(input.id, (memory) => memory.updateBufferedObservations(input));
  }

  override swapBufferedToActive(input: SwapBufferedToActiveInput): Promise<SwapBufferedToActiveResult> {
    return this.#at(input.id, (memory) => memory.swapBufferedToActive(input));
  }

  override updateBufferedReflection(input: UpdateBufferedReflectionInput): Promise<void> {
    return this.#at(input.id, (memory) => memory.updateBufferedReflection(input));
  }

  override setReflectingFlag(id: string, isReflecting: boolean): Promise<void> {
    return this.#at(id, (memory) => memory.setReflectingFlag(id, isReflecting));
  }

  override setObservingFlag(id: string, isObserving: boolean): Promise<void> {
    return this.#at(id, (memory) => memory.setObservingFlag(id, isObserving));
  }

  override setBufferingObservationFlag(id: string, isBuffering: boolean, tokens?: number): Promise<void> {
    return this.#at(id, (memory) => memory.setBufferingObservationFlag(id, isBuffering, tokens));
  }

  override setBufferingReflectionFlag(id: string, isBuffering: boolean): Promise<void> {
    return this.#at(id, (memory) => memory.setBufferingReflectionFlag(id, isBuffering));
  }

  override setPendingMessageTokens(id: string, tokenCount: number): Promise<void> {
    return this.#at(id, (memory) => memory.setPendingMessageTokens(id, tokenCount));
  }

  override updateObservationalMemoryConfig(input: UpdateObservationalMemoryConfigInput): Promise<void> {
    return this.#at(input.id, (memory) => memory.updateObservationalMemoryConfig(input));
  }
}
