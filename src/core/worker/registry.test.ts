import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../../stores/memory.ts";
import { markOf, systemProcesses } from "../process-proof.ts";
import { WorkerRegistry } from "./registry.ts";

const clock = { time: 1_800_000_000_000, now: () => clock.time };
let versions = 0;

const worker = (owner: string, running = 0) => ({
  owner,
  host: "box",
  pid: 7,
  workflows: [{ name: "pay", version: "2", schema: 1, checksInput: false, budget: null }],
  concurrency: 10,
  running,
  isStopping: false,
  since: clock.time,
});

describe("the workers of a store", () => {
  it("are those that have been heard of within a minute, and the others are forgotten", async () => {
    const store = createMemoryStore({ clock });
    const registry = new WorkerRegistry(store, () => `v${++versions}`);
    await registry.beat(worker("b"));
    await registry.beat(worker("a"));
    clock.time += 50_000;
    await registry.beat(worker("b", 3));
    expect((await registry.list()).map(({ owner, running, isStale }) => [owner, running, isStale])).toEqual([
      ["a", 0, true],
      ["b", 3, false],
    ]);
    clock.time += 20_000;
    expect((await registry.list()).map(({ owner }) => owner)).toEqual(["b"]);
    expect(await store.documents?.read("worker", "a")).toBeNull();
  });

  it("may write at the same time, and one that stops is gone at once", async () => {
    const store = createMemoryStore({ clock });
    const registry = new WorkerRegistry(store, () => `v${++versions}`);
    await Promise.all([1, 2, 3].map((running) => registry.beat(worker("a", running))));
    expect(await registry.list()).toHaveLength(1);
    await registry.remove("a");
    await registry.remove("a");
    expect(await registry.list()).toEqual([]);
  });

  it("count as stale at once when their process on this machine was killed", async () => {
    const store = createMemoryStore({ clock });
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1_000)"], { stdio: "ignore" });
    await once(child, "spawn");
    const processes = { mark: markOf(child.pid ?? 0, ""), isGone: systemProcesses.isGone };
    await new WorkerRegistry(store, () => `v${++versions}`, processes).beat(worker("killed"));
    const registry = new WorkerRegistry(store, () => `v${++versions}`);
    await registry.beat(worker("alive"));
    const standing = async () => (await registry.list()).map(({ owner, isStale }) => [owner, isStale]);
    expect(await standing()).toEqual([
      ["alive", false],
      ["killed", false],
    ]);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await standing()).toEqual([
      ["alive", false],
      ["killed", true],
    ]);
    expect(Object.keys((await registry.list())[0] ?? {})).not.toContain("mark");
  });

  it("can't be listed in a store that keeps no documents (HF-5000)", async () => {
    const { documents: _, ...bare } = createMemoryStore({ clock });
    await expect(new WorkerRegistry(bare, () => "v").list()).rejects.toMatchObject({ code: "HF-5000" });
  });
});
