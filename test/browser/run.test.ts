import { writeFileSync } from "node:fs";
import path from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clientOf } from "./sample.ts";
import { Stage, said } from "./stage.ts";

const FLOW = `
import { existsSync } from "node:fs";
import { workflow } from "holdfast";

export const order = workflow("order", async (ctx) => {
  ctx.plan(["load", "match", "ask", "approve", "pay"]);
  await ctx.step("load", () => ({ html: "<img src=x onerror=alert(1)>", text: "x".repeat(200_000) }));
  await ctx.each("match", Array.from({ length: 25 }, (_, index) => index), (index) => index);
  await ctx.loop("ask", { n: 0 }, async (state, turn) => {
    await ctx.step("model", ({ attempt }) => {
      if (turn.index === 0 && attempt === 1) throw new Error("the provider is busy");
      return { answer: turn.index };
    }, { retry: { attempts: 3, baseMs: 1, maxMs: 1 } });
    ctx.decide({ description: "ask once more", rationale: "the answer was short", alternatives: ["stop"], confidence: 0.7 });
    state.n++;
    return turn.index === 1 ? turn.done() : undefined;
  });
  await ctx.gate("approve", { show: { total: 84 }, choices: ["approve", "reject"] });
  return ctx.step("pay", () => ({ paid: true }), { effect: "keyed" });
});

export const slow = workflow("slow", async (ctx) => {
  ctx.plan(["first", "hold", "last"]);
  await ctx.step("first", () => 1);
  await ctx.step("hold", async () => {
    while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 20));
  });
  await ctx.step("last", () => 3);
});
`;

const stage = new Stage({ files: { "flow.mjs": FLOW } });
let page: Page;
let why = "";

beforeAll(async () => {
  await stage.run(["run", "flow.mjs#order", "--id", "order-1"]);
  const opened = await stage.open("/r/order-1");
  if ("missing" in opened) why = opened.missing;
  else page = opened;
});
afterAll(() => stage.close());

const item = (name: string) => page.getByRole("treeitem").filter({ hasText: name });
const tab = (name: string) => page.getByRole("tab", { name, exact: true });
const inspector = () => page.getByRole("region", { name: "Step", exact: true });

const timeline = () => page.getByRole("region", { name: "Attempts and waits over time" });

async function expectAccessible(colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  expect((await new AxeBuilder({ page }).include("main").analyze()).violations).toEqual([]);
}

describe("the page of a run", () => {
  it("shows steps as a tree that the keyboard walks through, with many branches as one line (S1-32, S3-32)", async ({
    skip,
  }) => {
    if (why) return skip(why);
    await page.getByRole("heading", { name: "order-1" }).waitFor();
    await item("match").getByText("25 of 25").waitFor();
    expect(await item("match").getAttribute("aria-expanded")).toBe("false");
    expect(await item("pay").textContent()).toContain("not started");
    await page.getByRole("tree").focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    await inspector().getByRole("heading", { name: "match" }).waitFor();
    await page.keyboard.press("ArrowRight");
    await item("[24]").first().waitFor();
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => item("match").getAttribute("aria-expanded")).toBe("false");
    await page.keyboard.press("j");
    await inspector().getByRole("heading", { name: "ask" }).waitFor();
    await expectAccessible("light");
  });

  it("opens a step by its address, in a branch that is closed, with each attempt and its error", async ({
    skip,
  }) => {
    if (why) return skip(why);
    await page.goto(`${stage.url}/r/order-1:match[20]`);
    await inspector().getByText("order-1:match[20]").waitFor();
    expect(await item("[20]").getAttribute("aria-selected")).toBe("true");
    await page.goto(`${stage.url}/r/order-1?step=${encodeURIComponent("ask[0]/model")}&attempt=1`);
    await inspector().getByText("the provider is busy").waitFor();
    await inspector().getByRole("tab", { name: "2" }).click();
    expect(page.url()).toContain("attempt=2");
    await expect.poll(() => inspector().getByText("the provider is busy").count()).toBe(0);
  });

  it("masks values until somebody says why, records the reading, and shows them as text, cut where they are long", async ({
    skip,
  }) => {
    if (why) return skip(why);
    await page.goto(`${stage.url}/r/order-1?step=load`);
    const reason = "Looking into a wrong sum";
    expect(await inspector().getByText("onerror").count()).toBe(0);
    await inspector().getByRole("textbox").fill(reason);
    await inspector().getByRole("button", { name: "Reveal" }).click();
    await inspector().getByText("<img src=x onerror=alert(1)>").waitFor();
    await inspector()
      .getByText(/^The first .* of 195/)
      .waitFor();
    const { events } = await (await clientOf(stage)).listEvents({ run: "order-1", limit: 500 });
    expect(events.filter(({ kind }) => kind === "values_read")).toMatchObject([{ reason }]);
  });

  it("draws the same steps as a graph and over time, and as a table for whoever can't see that", async ({
    skip,
  }) => {
    if (why) return skip(why);
    await page.goto(`${stage.url}/r/order-1`);
    await tab("Graph").click();
    await page.getByRole("group", { name: "approve" }).click();
    await inspector().getByText("Question to a person").waitFor();
    await expectAccessible("light");
    await tab("Timeline").click();
    await page.getByRole("button", { name: "Failed only" }).click();
    await timeline().getByRole("button", { name: "ask[0]/model" }).waitFor();
    expect(await timeline().getByRole("button", { name: "load" }).count()).toBe(0);
    await page.getByRole("button", { name: "Table" }).click();
    await timeline()
      .getByRole("row", { name: /ask\[0\]\/model 1 failed/ })
      .waitFor();
    await expectAccessible("dark");
  });

  it("tells what happened, who did it, and what it cost", async ({ skip }) => {
    if (why) return skip(why);
    await page.goto(`${stage.url}/r/order-1`);
    await page.getByLabel("Failed only").check();
    await page.getByRole("row", { name: /step failed ask\[0\]\/model/ }).waitFor();
    await tab("Audit").click();
    await page.getByText("chain intact").waitFor();
    await page.getByRole("row", { name: /values read.*Looking into a wrong sum/ }).waitFor();
    await tab("Cost").click();
    await page.getByRole("row", { name: /Total/ }).waitFor();
    await expectAccessible("dark");
  });

  it("shows a killed worker, the takeover and the end of the run, without a reload (S1-32)", async ({
    skip,
  }) => {
    if (why) return skip(why);
    const first = stage.start(["worker", "flow.mjs"]);
    await said(first, /●/);
    await (await clientOf(stage)).startRun({ workflow: "slow", id: "slow-1" });
    await page.goto(`${stage.url}/r/slow-1`);
    await page.evaluate(() => Object.assign(globalThis, { stays: true }));
    await item("hold").getByText("under way").last().waitFor();
    await item("last").getByText("not started").last().waitFor();
    const second = stage.start(["worker", "flow.mjs"]);
    await said(second, /●/);
    first.kill("SIGKILL");
    await page.getByText(/The worker was lost\. Taken over by/).waitFor();
    await item("hold").getByText("2 attempts").waitFor();
    writeFileSync(path.join(stage.folder, "go"), "");
    await page.locator("header").getByText("completed").first().waitFor();
    await item("last").getByText("done").waitFor({ state: "attached" });
    expect(await page.evaluate(() => "stays" in globalThis)).toBe(true);
    expect(stage.complaints).toEqual([]);
  });
});
