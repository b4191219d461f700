import { describe, expect, it } from "vitest";
import { createEngine } from "../core/engine/engine.ts";
import { workflow } from "../core/workflow.ts";
import { createMemoryStore } from "../stores/memory.ts";
import { Addresses, splitAddress } from "./addresses.ts";
import { ORIGIN_KEY } from "./run-origin.ts";

const flow = workflow("reconcile", async (ctx) => {
  await ctx.step("load", () => 1);
  await ctx.each("match", [1, 2], (item) => item);
  await ctx.checkpoint("before pay");
  return ctx.step("pay", () => "paid");
});

async function filled() {
  const store = createMemoryStore();
  const engine = createEngine({ store, workflows: [flow] });
  const start = async (id: string, name?: string) => {
    const config = name === undefined ? {} : { config: { [ORIGIN_KEY]: { name } } };
    await engine.start(flow, null, { id, ...config });
    await engine.result(id);
  };
  await start("recon-87", "january");
  await start("recon-88", "february");
  await start("other-1", "recon-8");
  await engine.close();
  return { engine, addresses: new Addresses(store, "memory:", async () => engine.checkpoints) };
}

describe("addresses", () => {
  it("are taken apart at the first colon or at sign", () => {
    expect(splitAddress("recon-87")).toEqual({ run: "recon-87" });
    expect(splitAddress("recon-87:pay/inner")).toEqual({ run: "recon-87", step: "pay/inner" });
    expect(splitAddress("recon-87@before pay")).toEqual({ run: "recon-87", place: "before pay" });
    expect(splitAddress("@last")).toEqual({ run: "@last" });
    expect(splitAddress("@last@first")).toEqual({ run: "@last", place: "first" });
    expect(splitAddress("@last:pay")).toEqual({ run: "@last", step: "pay" });
    expect(() => splitAddress("recon-87@")).toThrow("is incomplete");
  });

  it("name a run by id, name, workflow, beginning, or as the last one", async () => {
    const { addresses } = await filled();
    const id = async (text: string) => (await addresses.run(text)).id;
    expect(await id("recon-87")).toBe("recon-87");
    expect(await id("january")).toBe("recon-87");
    expect(await id("other")).toBe("other-1");
    expect(await id("reconcile")).toBe(await id("@last"));
    // A name counts before the beginning of an id.
    expect(await id("recon-8")).toBe("other-1");
  });

  it("list the candidates when they name several, and say so when they name none", async () => {
    const { addresses } = await filled();
    await expect(addresses.run("recon-")).rejects.toMatchObject({
      code: "HF-4302",
      detail: { candidates: expect.stringMatching(/recon-8\d \(completed\), recon-8\d \(completed\)/) },
    });
    await expect(addresses.run("nothing")).rejects.toMatchObject({ code: "HF-4303" });
    await expect(addresses.run("!?")).rejects.toMatchObject({ code: "HF-4303" });
  });

  it("name a checkpoint by position, label, phase, step, first or last", async () => {
    const { engine, addresses } = await filled();
    const all = await engine.checkpoints.list("recon-87");
    const at = async (place: string) => (await addresses.checkpoint(`recon-87@${place}`)).address;
    const of = (step: string) => all.find((one) => one.step === step)?.id;
    expect(await at("first")).toBe(all.at(-1)?.id);
    expect(await at("last")).toBe(all[0]?.id);
    expect((await addresses.checkpoint("january")).address).toBe(all[0]?.id);
    expect(await at("before pay")).toBe(all.find(({ labels }) => labels.includes("before pay"))?.id);
    expect(await at("load")).toBe(of("load"));
    expect(await at("match")).toBe(all.find(({ phase }) => phase === "match")?.id);
    expect(await at("match[0]")).toBe(of("match[0]"));
    expect(await at("6")).toBe("recon-87@6");
    await expect(at("nowhere")).rejects.toMatchObject({ code: "HF-1022" });
    await expect(addresses.checkpoint("recon-87:load")).rejects.toMatchObject({ code: "HF-4300" });
    await expect(addresses.step("recon-87@6")).rejects.toMatchObject({ code: "HF-4300" });
  });
});
