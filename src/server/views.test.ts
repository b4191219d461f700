import { describe, expect, it } from "vitest";
import { createApiStage } from "../../test/support/api.ts";
import { workflow } from "../index.ts";

const pay = workflow("pay", (ctx) => ctx.step("call", () => 1));

describe("saved views (S1-32)", () => {
  it("are shared by everybody and changed by their owner, or by an admin", async () => {
    const { client, as } = createApiStage([pay]);
    const [maria, vic] = [as("maria", "runs:read", "runs:act"), as("vic", "runs:read")];
    const query = "status=failed&notLabel=team%3Dtest&text=HTTP+500";
    const saved = await maria.putView({ name: "Failed calls", query });
    expect(saved).toMatchObject({ name: "Failed calls", query, by: "maria" });
    expect((await vic.listViews()).views).toEqual([saved]);
    await expect(vic.putView({ name: "mine", query: "" })).rejects.toMatchObject({
      status: 403,
      code: "HF-6051",
    });
    const bob = as("bob", "runs:read", "runs:act");
    await expect(bob.putView({ name: "Failed calls", query: "" })).rejects.toMatchObject({ code: "HF-6030" });
    await expect(bob.deleteView({ name: "Failed calls" })).rejects.toMatchObject({ status: 403 });
    expect(await maria.putView({ name: "Failed calls", query: "status=failed" })).toMatchObject({
      by: "maria",
    });
    expect(await client.deleteView({ name: "Failed calls" })).toEqual({ deleted: "Failed calls" });
    await expect(client.deleteView({ name: "Failed calls" })).rejects.toMatchObject({ status: 404 });
  });

  it("keep only filters that exist", async () => {
    const { client } = createApiStage([pay]);
    await expect(client.putView({ name: "v", query: "stauts=failed" })).rejects.toMatchObject({
      code: "HF-1003",
    });
    await expect(client.putView({ name: "a\nb", query: "" })).rejects.toMatchObject({ status: 400 });
  });

  it("come in pages, like schedules, queues, limits and workers", async () => {
    const { client } = createApiStage([pay]);
    for (const name of ["c", "a", "b"]) {
      await client.putView({ name, query: "" });
      await client.setQueue({ name, concurrency: 1 });
      await client.setRateLimit({ name, limit: { calls: 1 } });
      await client.createSchedule({ name, workflow: "pay", options: { everyMs: 60_000 } });
    }
    const names = (list: readonly { readonly name: string }[]): string => list.map(({ name }) => name).join();
    const [views, queues] = [await client.listViews({ limit: 2 }), await client.listQueues({ limit: 2 })];
    expect([names(views.views), views.next, names(queues.queues), queues.next]).toEqual([
      "a,b",
      "b",
      "a,b",
      "b",
    ]);
    expect(names((await client.listViews({ limit: 2, after: "b" })).views)).toBe("c");
    expect(await client.listQueues({ limit: 2, after: "b" })).toMatchObject({
      queues: [{ name: "c" }],
      next: null,
    });
    expect(await client.listRateLimits({ limit: 3 })).toMatchObject({ next: null });
    expect(await client.listSchedules({ limit: 1, after: "a" })).toMatchObject({
      schedules: [{ name: "b", definition: { everyMs: 60_000 } }],
      next: "b",
    });
    expect(await client.listWorkers({ limit: 1 })).toMatchObject({ workers: [], next: null });
  });
});
