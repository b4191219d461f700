import { MastraCompositeStore } from "@mastra/core/storage";
import type { Engine } from "../../core/engine/engine.ts";
import { HoldfastMemory } from "./memory.ts";
import { Shelves } from "./shelves.ts";
import { HoldfastWorkflows } from "./workflows.ts";

/** What Mastra is given as its storage. Domains that aren't here can come from another storage, in a composite. */
export class HoldfastStorage extends MastraCompositeStore {
  readonly #engine: Engine;
  readonly #owned: boolean;

  constructor(engine: Engine, owned: boolean) {
    super({ id: "holdfast", name: "HoldfastStorage" });
    this.#engine = engine;
    this.#owned = owned;
    this.stores = {
      workflows: new HoldfastWorkflows(engine),
      memory: new HoldfastMemory(new Shelves(engine)),
    };
  }

  /** Closes what it opened itself. The store stays open. */
  override async close(): Promise<void> {
    if (this.#owned) await this.#engine.close();
  }
}
