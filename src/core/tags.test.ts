import { describe, expect, it } from "vitest";
import { createLab, type Lab } from "../../test/support/lab.ts";
import { type Context, type Engine, type StartOptions, workflow } from "../index.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { eventAt } from "./journal/read.ts";
import type { Store } from "./store/contract.ts";
import type { Run } from "./types.ts";

const TAGS = {
  name: "nightly",
  labels: { team: "red", env: "prod" },
  queue: "mail",
  key: "c7",
  priority: 5,
} as const;
const NONE = { name: null, labels: {}, queue: null, key: null, priority: 0 };

const tagsOf = ({ name, labels, queue, key, priority }: Run) => ({ name, labels, queue, key, priority });

const sub = workflow("sub", async (ctx: Context, n: number) => ctx.step("double", () => 2 * n));
const parent = workflow("parent", { children: [sub] }, async (ctx: Context) => {
  const one = await ctx.child("plain", sub, 1);
  const own = { name: "own", labels: { team: "blue" }, queue: "other", key: "k", priority: -1 };
  return one + (await ctx.child("told", sub, 2, own));
});
const hello = workflow("hello", async (ctx: Context, who: string) => ctx.step("greet", () => `Hello ${who}`));

async function run(lab: Lab, engine: Engine, options: StartOptions): Promise<Run> {
  const { id } = await lab.drive(engine.start(hello, "Ada", options));
  return lab.drive(engine.settled(id));
}

describe("a run's tags", () => {
  it("are part of its row and of its first event, and a start without them has none (S1-31)", async () => {
    const lab = createLab();
    const engine = lab.engine([hello]);
    expect(tagsOf(await run(lab, engine, { id: "r", ...TAGS }))).toEqual(TAGS);
    expect((await eventAt(lab.store, "r", 1))?.meta).toMatchObject(TAGS);
    expect(tagsOf(await run(lab, engine, { id: "plain" }))).toEqual(NONE);
    const { meta } = (await eventAt(lab.store, "plain", 1)) ?? {};
    expect(Object.keys(meta ?? {})).toEqual(["workflow", "version", "schema", "lineage", "seed"]);
    const { runs } = await engine.list({
      labels: { team: "red" },
      queue: "mail",
      name: "nightly",
      key: "c7",
    });
    expect(runs.map(({ id }) => id)).toEqual(["r"]);
  });

  it("go to its children, except name and key, unless they get their own", async () => {
    const lab = createLab();
    const engine = lab.engine([parent, sub]);
    await lab.drive(engine.start(parent, undefined as never, { id: "p", ...TAGS }));
    expect(await lab.drive(engine.result("p"))).toBe(6);
    const { runs } = await engine.list({ parent: "p" });
    const byName = new Map(runs.map((one) => [one.parent?.step, tagsOf(one)]));
    expect(byName.get("plain")).toEqual({ ...TAGS, name: null, key: null });
    const told = { name: "own", labels: { team: "blue" }, queue: "other", key: "k", priority: -1 };
    expect(byName.get("told")).toEqual(told);
  });

  it("go to its forks, except the key, and their journals say so", async () => {
    const lab = createLab();
    const engine = lab.engine([hello]);
    const source = await run(lab, engine, { id: "r", ...TAGS });
    const fork = await lab.drive(engine.fork(`r@${source.seq}`, { id: "f" }));
    expect(tagsOf(fork)).toEqual({ ...TAGS, key: null });
    expect((await eventAt(lab.store, "f", 1))?.meta).not.toHaveProperty("key");
    expect((await engine.checkpoints.validate("f")).problems).toEqual([]);
  });

  it("travel with an export, and a row that differs from its journal is refused", async () => {
    const lab = createLab();
    const engine = lab.engine([hello]);
    await run(lab, engine, { id: "r", ...TAGS });
    const lines: string[] = [];
    for await (const line of engine.transfer.exportRun("r")) lines.push(line);
    const other = createLab();
    const there = other.engine([hello]);
    const arriving = (async function* () {
      yield* lines;
    })();
    await other.drive(there.transfer.importRuns(arriving));
    expect(tagsOf((await there.get("r")) as Run)).toEqual(TAGS);
  });

  it("are checked against the journal when the run is restored", async () => {
    const memory = createMemoryStore();
    const lie = async (row: Awaited<ReturnType<Store["read"]>>) =>
      row && { ...row, queue: "faster", priority: 9 };
    const store: Store = { ...memory, read: async (id) => lie(await memory.read(id)) };
    const lab = createLab();
    const engine = lab.engine([hello], { store: memory });
    await run(lab, engine, { id: "r", ...TAGS });
    const reader = createLab().engine([hello], { store });
    const { problems } = await reader.checkpoints.validate("r");
    expect(problems.map(({ problem }) => problem).join()).toContain("queue, priority");
  });

  it.each<StartOptions>([
    { name: "" },
    { name: "two\nlines" },
    { name: "x".repeat(201) },
    { labels: { team: 5 as never } },
    { labels: { "": "x" } },
    { labels: { team: "two\nlines" } },
    { labels: { constructor: "x" } },
    { labels: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`l${i}`, "x"])) },
    { queue: "" },
    { key: "k".repeat(257) },
    { priority: 1.5 },
    { priority: 101 },
    { priority: -101 },
    { startAt: Number.NaN },
    { startAt: "tomorrow" as never },
    { lables: {} } as never,
  ])("are refused when they are none: %j", async (options) => {
    const lab = createLab();
    const engine = lab.engine([hello]);
    await expect(engine.start(hello, "Ada", options)).rejects.toMatchObject({ name: "HoldfastError" });
    expect((await engine.list()).runs).toEqual([]);
  });
});

describe("a delayed start", () => {
  it("is a wait with a name, and the run begins at its time", async () => {
    const lab = createLab();
    const engine = lab.engine([hello]);
    const startAt = lab.clock.now() + 60_000;
    await lab.drive(engine.start(hello, "Ada", { id: "r", startAt }));
    const before = await engine.get("r");
    expect(before).toMatchObject({ status: "waiting", wakeAt: startAt, stepsDone: 0 });
    expect((await engine.status("r")).headline).toBe(`starts at ${new Date(startAt).toISOString()}`);
    await engine.work();
    await lab.clock.advance(59_000);
    expect((await engine.get("r"))?.status).toBe("waiting");
    expect(await lab.drive(engine.result("r"))).toBe("Hello Ada");
    expect((await engine.checkpoints.validate("r")).problems).toEqual([]);
  });

  it("can be ended by a resume, and a time that has passed is no delay", async () => {
    const lab = createLab();
    const engine = lab.engine([hello]);
    await lab.drive(engine.start(hello, "Ada", { id: "r", startAt: new Date(lab.clock.now() + 3_600_000) }));
    expect((await engine.status("r")).can).toContain("resume");
    await lab.drive(engine.resume("r", { actor: "Ada", reason: "now" }));
    expect(await lab.drive(engine.result("r"))).toBe("Hello Ada");
    expect((await run(lab, engine, { id: "late", startAt: 0 })).status).toBe("completed");
  });

  it("survives a crash and waits for its time", async () => {
    const lab = createLab();
    const first = lab.engine([hello]);
    const startAt = lab.clock.now() + 100_000;
    await lab.drive(first.start(hello, "Ada", { id: "r", startAt }));
    await lab.crash(first);
    const second = lab.engine([hello]);
    await second.work();
    await lab.clock.advance(50_000);
    expect((await second.get("r"))?.status).toBe("waiting");
    expect(await lab.drive(second.result("r"))).toBe("Hello Ada");
  });
});
