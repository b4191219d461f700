import { deltaChannelHistoryTests, validate } from "@langchain/langgraph-checkpoint-validation";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { HoldfastSaver } from "../../src/adapters/langgraph/index.ts";
import type { Store } from "../../src/core/store/contract.ts";

// The published suite expects the names of the test runner to be global.
Object.assign(globalThis, { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it });

/** LangGraph's own suite for checkpointers, whole: 718 tests, and the 8 for delta channels. */
export function langGraphSuite(name: string, open: () => Promise<Store>): void {
  const stores = new Map<HoldfastSaver, Store>();
  const initializer = {
    checkpointerName: `LangGraph's validation suite on ${name}`,
    createCheckpointer: async () => {
      const store = await open();
      const saver = new HoldfastSaver(store);
      stores.set(saver, store);
      return saver;
    },
    destroyCheckpointer: async (saver: HoldfastSaver) => {
      await saver.close();
      await stores.get(saver)?.close();
    },
  };
  validate(initializer);
  deltaChannelHistoryTests(initializer);
}
