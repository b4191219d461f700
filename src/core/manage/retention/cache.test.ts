import { describe, expect, it } from "vitest";
import { createLab, type Lab } from "../../../../test/support/lab.ts";
import { codeOf, run } from "../../../../test/support/retention.ts";
import { testKeyring } from "../../../../test/support/sealed.ts";
import { type RetentionPolicy, workflow } from "../../../index.ts";
import { packStore, sealStore } from "../../../security/index.ts";
import { createMemoryStore } from "../../../stores/memory.ts";
import { createTieredStore } from "../../../stores/tiered/index.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { withParts } from "../../../testing/with-parts.ts";
import { HoldfastError } from "../../errors.ts";
import type { Store } from "../../store/contract.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const steps = (name: string) =>
  workflow(name, async (ctx) => {
    for (let n = 0; n < 3; n++) await ctx.step(`s${n}`, () => `value ${n}`);
  });
const [chat, audit] = [steps("chat"), steps("audit")];

/** A store with a cache that remembers what it was given, and for how long. */
function withCache(
  primary: Store = createMemoryStore({ clock: createFakeClock() }),
  cached = new Map<string, { text: string; ttlMs: number }>(),
): { readonly store: Store; readonly cached: typeof cached } {
  const cache = {
    get: async (key: string) => cached.get(key)?.text ?? null,
    set: async (key: string, text: string, ttlMs: number) => void cached.set(key, { text, ttlMs }),
    close: async () => undefined,
  };
  return { store: createTieredStore({ primary, cache }), cached };
}

async function ranWith(store: Store, retention?: RetentionPolicy): Promise<Lab> {
  const lab = createLab(store);
  const engine = lab.engine([chat, audit], retention === undefined ? {} : { retention });
  await run(lab, engine, chat, "c");
  await run(lab, engine, audit, "a");
  await lab.crash(engine);
  await store.close();
  return lab;
}

describe("cacheTtl", () => {
  it("is how long copies of runs stay in the store's cache", async () => {
    for (const [policy, ms] of [
      [undefined, 7 * DAY],
      ["default", 7 * DAY],
      ["seed0", 7 * DAY],
      [{ preset: "seed0", cacheTtl: "1h" }, HOUR],
      [{ cacheTtl: 90_000 }, 90_000],
    ] as const) {
      const { store, cached } = withCache();
      await ranWith(store, policy);
      expect(cached.get("journal:c:chat")?.ttlMs, JSON.stringify(policy)).toBe(ms);
    }
  });

  it("may be another one for a workflow, and 0 keeps no copy", async () => {
    const { store, cached } = withCache();
    await ranWith(store, { cacheTtl: "1h", workflows: { audit: { cacheTtl: 0 }, other: "forever" } });
    expect(cached.get("journal:c:chat")?.ttlMs).toBe(HOUR);
    expect(cached.get("journal:a:audit")?.text ?? "").toBe("");
  });

  it("reaches the cache through stores that pack or encrypt", async () => {
    for (const wrap of [
      async (inner: Store) => packStore(inner),
      (inner: Store) => sealStore(inner, { keyring: testKeyring("k1") }),
    ]) {
      const { store, cached } = withCache();
      await ranWith(await wrap(store), { cacheTtl: "2h" });
      expect(cached.get("journal:c:chat")?.ttlMs).toBe(2 * HOUR);
    }
  });

  it("counts from the prune that names it on, and not from a preview", async () => {
    for (const [act, ms] of [
      ["preview", 7 * DAY],
      ["prune", HOUR],
    ] as const) {
      const { store, cached } = withCache();
      const lab = createLab(store);
      const engine = lab.engine([chat]);
      await lab.drive(engine.retention[act]({ cacheTtl: "1h" }));
      await run(lab, engine, chat, "c");
      await lab.crash(engine);
      await store.close();
      expect(cached.get("journal:c:chat")?.ttlMs).toBe(ms);
    }
  });

  it("is refused where there is no cache, and nothing is dropped", async () => {
    const lab = createLab();
    const engine = lab.engine([chat]);
    await run(lab, engine, chat, "c");
    const policies: RetentionPolicy[] = [
      { maxAge: 0, cacheTtl: "7d" },
      { maxAge: 0, workflows: { other: { cacheTtl: "7d" } } },
    ];
    for (const policy of policies) {
      expect(await codeOf(lab.drive(engine.retention.prune(policy)))).toBe("HF-1033");
      expect(await codeOf(lab.drive(engine.retention.preview(policy)))).toBe("HF-1033");
      expect(() => lab.engine([chat], { retention: policy })).toThrow(HoldfastError);
    }
    expect((await engine.get("c"))?.prunedAt).toBeNull();
  });

  it("is told as without effect where only a preset names it", async () => {
    const lab = createLab();
    const told: unknown[] = [];
    const note = (_: string, fields?: object) => void told.push(fields);
    const logger = { debug: note, info: note, warn: note, error: note };
    const engine = lab.engine([chat], { retention: "seed0", logger });
    expect(told).toEqual([{ withoutEffect: ["cacheTtl"] }]);
    await run(lab, engine, chat, "c");
    const report = await lab.drive(engine.retention.preview("seed0"));
    expect(report).toMatchObject({ withoutEffect: ["cacheTtl"], runs: [{ runId: "c" }] });
    expect(await lab.drive(engine.retention.prune("seed0"))).toEqual(report);
    expect(await lab.drive(engine.retention.prune("default"))).not.toHaveProperty("withoutEffect");
  });

  it("is refused when it is no time, or has no end", async () => {
    const { store } = withCache();
    const { retention } = createLab(store).engine([]);
    for (const cacheTtl of ["7 days", "1mo", -1, Number.NaN, Infinity, "", null, true])
      expect(await codeOf(retention.prune({ cacheTtl } as RetentionPolicy)), String(cacheTtl)).toBe(
        "HF-1003",
      );
  });
});

describe("a prune on a store with a cache", () => {
  it("leaves no value in the cache that it has dropped, also where it holds no copy itself", async () => {
    const primary = withParts(createMemoryStore({ clock: createFakeClock() }), {
      close: async () => undefined,
    });
    const { store: first, cached } = withCache(primary);
    const secret = workflow("secret", async (ctx) => {
      for (let n = 0; n < 60; n++) await ctx.step(`s${n}`, () => `sesame ${n}`);
    });
    const lab = createLab(first);
    const engine = lab.engine([secret]);
    for (const id of ["a", "b"]) await run(lab, engine, secret, id);
    await lab.crash(engine);
    // Writes what it has put off: how often a copy is written depends on how long that takes.
    await first.close();
    const key = (id: string) => `journal:${id}:secret`;
    for (const id of ["a", "b"]) expect(cached.get(key(id))?.text).toContain("sesame");
    const { store } = withCache(primary, cached);
    const other = createLab(store);
    await other.clock.advance(60_000);
    const pruning = other.engine([], { execute: false });
    const report = await other.drive(pruning.retention.prune({ maxAge: 0 }, { batch: 40 }));
    expect(report.runs).toHaveLength(2);
    await store.close();
    for (const id of ["a", "b"]) expect(cached.get(key(id))?.text ?? "").not.toContain("sesame");
  });
});
