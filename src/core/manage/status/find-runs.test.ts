import { describe, expect, it } from "vitest";
import { createLab } from "../../../../test/support/lab.ts";
import { workflow } from "../../../index.ts";

const pay = workflow("pay", async (ctx, input: string) => {
  if (input === "ask") await ctx.gate("approve", { choices: ["yes"] });
  await ctx.step("call", () => (input === "broken" ? Promise.reject(new Error("HTTP 500 at the Bank")) : 1), {
    retry: false,
  });
});
const mail = workflow("mail", async (ctx) => {
  await ctx.step("send", () => 1);
});

async function six() {
  const lab = createLab();
  const engine = lab.engine([pay, mail]);
  const settle = async (id: string): Promise<void> => void (await lab.drive(engine.settled(id)));
  const start = async (input: string, id: string, options: object): Promise<void> => {
    await lab.clock.advance(1);
    await lab.drive(engine.start(pay, input, { id, ...options }));
    await settle(id);
  };
  await start("fine", "a-1", { name: "Invoice 7", labels: { customer: "Ada" } });
  await start("ask", "a-2", { key: "order-99", queue: "fast" });
  await start("broken", "b-1", {});
  await start("broken", "b-2", { labels: { customer: "Ada" } });
  await start("fine", "a-10", {});
  await lab.drive(engine.start(mail, undefined, { id: "m-1" }));
  await settle("m-1");
  return { lab, engine };
}

type Engine = Awaited<ReturnType<typeof six>>["engine"];
const ids = async (engine: Engine, query: Parameters<Engine["list"]>[0]): Promise<string[]> =>
  (await engine.list(query)).runs.map(({ id }) => id);

describe("a search of runs", () => {
  it("finds a text in ids, names, keys, labels, workflows and errors (S1-31)", async () => {
    const { engine } = await six();
    expect(await ids(engine, { text: "invoice" })).toEqual(["a-1"]);
    expect(await ids(engine, { text: "ORDER-9" })).toEqual(["a-2"]);
    expect(await ids(engine, { text: "ada" })).toEqual(["b-2", "a-1"]);
    expect(await ids(engine, { text: "the bank" })).toEqual(["b-2", "b-1"]);
    expect(await ids(engine, { text: "mai" })).toEqual(["m-1"]);
    expect(await ids(engine, { text: "-1" })).toEqual([]);
  });

  it("puts the run of exactly this id first, and shows it once", async () => {
    const { engine } = await six();
    expect(await ids(engine, { text: "a-1" })).toEqual(["a-1", "a-10"]);
    const first = await engine.list({ text: "a-1", limit: 1 });
    expect(first.runs.map(({ id }) => id)).toEqual(["a-1"]);
    expect(await ids(engine, { text: "a-1", workflow: "mail" })).toEqual([]);
  });

  it("finds the failed runs of a group of errors by its id", async () => {
    const { engine } = await six();
    const { groups } = await engine.reports.errors();
    expect(groups).toMatchObject([{ workflow: "pay", count: 2, shape: expect.stringContaining("HTTP …") }]);
    expect(groups[0]?.overTime).toHaveLength(24);
    expect(groups[0]?.overTime.reduce((sum, count) => sum + count, 0)).toBe(2);
    const errorGroup = groups[0]?.id ?? "";
    expect(await ids(engine, { errorGroup })).toEqual(["b-2", "b-1"]);
    expect(await ids(engine, { errorGroup, labels: { customer: "Ada" } })).toEqual(["b-2"]);
    expect(await ids(engine, { errorGroup, status: ["completed"] })).toEqual([]);
    expect(await ids(engine, { errorGroup: "none" })).toEqual([]);
  });

  it("leaves out what is excluded, and goes on page by page", async () => {
    const { engine } = await six();
    expect(await ids(engine, { not: { status: ["completed", "failed"] } })).toEqual(["a-2"]);
    expect(await ids(engine, { status: ["failed"], not: { status: ["failed"] } })).toEqual([]);
    expect(await ids(engine, { not: { workflow: ["pay"] } })).toEqual(["m-1"]);
    expect(await ids(engine, { not: { labels: { customer: "Ada" }, queue: ["fast"] } })).toEqual([
      "m-1",
      "a-10",
      "b-1",
    ]);
    const page = await engine.list({ needsYou: true, limit: 2 });
    expect(page.runs.map(({ id }) => id)).toEqual(["b-2", "b-1"]);
    expect(await ids(engine, { needsYou: true, limit: 2, cursor: page.cursor as string })).toEqual(["a-2"]);
  });

  it("refuses what it doesn't know (HF-1003)", async () => {
    const { engine } = await six();
    for (const query of [
      { text: "" },
      { not: { statuses: [] } },
      { not: { status: "failed" } },
      { txt: "a" },
    ])
      await expect(engine.list(query as object)).rejects.toMatchObject({ code: "HF-1003" });
  });
});

describe("counts of runs", () => {
  it("are those of the list, by status and workflow (S1-31)", async () => {
    const { engine } = await six();
    const all = await engine.reports.counts();
    expect(all).toMatchObject({ total: 6, byWorkflow: { pay: 5, mail: 1 }, more: false });
    expect(all.byStatus).toMatchObject({ completed: 3, failed: 2, waiting: 1, queued: 0 });
    expect((await engine.reports.counts({ labels: { customer: "Ada" } })).total).toBe(2);
    expect((await engine.reports.counts({ where: ({ id }) => id < "b" })).byStatus.completed).toBe(2);
  });
});

describe("what needs a person", () => {
  it("is sorted by what waiting costs, with what can be done (S1-32)", async () => {
    const { lab, engine } = await six();
    const page = await engine.reports.needsYou();
    expect(page.needs.map(({ kind, run }) => [kind, run.id])).toEqual([
      ["gate", "a-2"],
      ["failed", "b-1"],
      ["failed", "b-2"],
    ]);
    expect(page.needs[0]?.standing.can).toContain("answer");
    expect(page).toMatchObject({ total: 3, next: null, more: false, counts: { gate: 1, failed: 2 } });
    await lab.drive(engine.close());
    const idle = lab.engine([pay], { execute: false });
    await lab.drive(idle.start(pay, "fine", { id: "late" }));
    await lab.clock.advance(60_000);
    const next = await idle.reports.needsYou({ limit: 1 });
    expect(next.needs.map(({ kind, run }) => [kind, run.id])).toEqual([["stalled", "late"]]);
    expect(next.next).toBe(1);
    expect((await idle.reports.needsYou({ where: ({ id }) => id === "b-2" })).total).toBe(1);
  });
});
