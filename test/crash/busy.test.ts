import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { childScript } from "../../lab/child-script.ts";
import type { Store } from "../../src/core/store/contract.ts";
import { createEngine, type Engine } from "../../src/index.ts";
import { openStore } from "../../src/stores/open.ts";
import { countingStore } from "../support/counting-store.ts";
import { sharedPostgres } from "../support/services/postgres.ts";

const CHILD = childScript("test/crash/busy-child");
const root = mkdtempSync(path.join(tmpdir(), "holdfast-busy-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A remote store: every request and every response takes time. */
const farAway = (store: Store, ms: number): Store =>
  new Proxy(store, {
    get(target, key: keyof Store) {
      const member: unknown = target[key];
      if (typeof member !== "function") return member;
      return async (...args: readonly unknown[]): Promise<unknown> => {
        await delay(ms);
        const answer: unknown = await Reflect.apply(member, target, args);
        await delay(ms);
        return answer;
      };
    },
  });

/** Acts on a run that another process writes to without a break; returns the number of attempts that each act took. */
async function attempts(
  url: string,
  acts: readonly ((desk: Engine) => Promise<unknown>)[],
): Promise<number[]> {
  const child = fork(CHILD, [url]);
  const ended = once(child, "exit");
  try {
    expect((await once(child, "message"))[0]).toBe("started");
    const near = await openStore(url);
    const { store, counts } = countingStore(farAway(near, 3));
    const desk = createEngine({ store, execute: false });
    const taken: number[] = [];
    for (const act of acts) {
      const before = counts.calls["append"] ?? 0;
      await act(desk);
      taken.push((counts.calls["append"] ?? 0) - before);
    }
    expect((await once(child, "message"))[0]).toBe("settled");
    expect((await near.read("busy"))?.status).toBe("paused");
    await desk.close();
    await near.close();
    return taken;
  } finally {
    child.kill();
    await ended;
  }
}

const { url: postgres = "" } = await sharedPostgres();
const places = [
  ["SQLite", `sqlite:${path.join(root, "runs.db")}`] as const,
  ["PostgreSQL", postgres] as const,
];

it.each(places.filter(([, url]) => url !== ""))(
  "acknowledges acts on a run that a nearer process writes to without a break, on %s (E9)",
  async (_, url) => {
    const taken = await attempts(url, [
      (desk) => desk.signal("busy", "news", 1),
      (desk) => desk.pause("busy", { actor: "ada" }),
    ]);
    for (const count of taken) expect(count).toBeLessThan(400);
  },
  60_000,
);
