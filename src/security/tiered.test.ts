import { describe, expect, it } from "vitest";
import { testKeyring } from "../../test/support/sealed.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { createTieredStore } from "../stores/tiered/index.ts";
import { sealStore } from "./sealed-store.ts";

describe("a cache in front of a sealed store", () => {
  it("is refused, since it would hold values that are not encrypted", async () => {
    const primary = await sealStore(createMemoryStore(), { keyring: testKeyring("k1") });
    const cache = {} as Parameters<typeof createTieredStore>[0]["cache"];
    expect(() => createTieredStore({ primary, cache })).toThrow(
      expect.objectContaining({ code: "HF-1003", message: expect.stringContaining("primary") }),
    );
  });
});
