import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { playSample, SAMPLE_FILES } from "./sample.ts";
import { Stage } from "./stage.ts";

const stage = new Stage({ files: SAMPLE_FILES });
let page: Page;
let why = "";

beforeAll(async () => {
  const opened = await stage.open();
  if ("missing" in opened) why = opened.missing;
  else {
    page = opened;
    await playSample(stage);
  }
});
afterAll(() => stage.close());

describe("what the pages say", () => {
  it("doesn't take what the journal can't know for nothing left to do (S1-32)", async ({ skip }) => {
    if (why) return skip(why);
    // This server has no code, only workers have it.
    await page.goto(`${stage.url}/r/comets`);
    await page.getByRole("button", { name: "Resume…" }).click();
    const plan = page.getByRole("dialog");
    await plan.getByText("9 steps").waitFor();
    expect(await plan.getByText("Only the workflow's code can tell.").count()).toBe(2);
  });

  it("says once how a run stands", async ({ skip }) => {
    if (why) return skip(why);
    for (const [run, sentence] of [
      ["payments-42", "completed"],
      ["invite-ada", "the outcome of send is unknown"],
    ] as const) {
      await page.goto(`${stage.url}/r/${run}`);
      const head = page.locator("header").filter({ has: page.getByRole("heading", { level: 1 }) });
      await head.getByText("Started").waitFor();
      expect(await head.getByText(sentence).count()).toBe(1);
    }
  });

  it("shows moments in the list as people say them, and how long finished runs took", async ({ skip }) => {
    if (why) return skip(why);
    await page.goto(`${stage.url}/runs`);
    const row = (run: string) => page.locator(`tr[data-run="${run}"]`);
    await row("payments-43").waitFor();
    expect(await row("payments-43").textContent()).toMatch(/waiting for approval at gate approve for \d+/);
    expect(await row("payments-42").textContent()).toMatch(/took \d+/);
  });

  it("lists the keys of a page, those of every page in the menu's order (S1-76)", async ({ skip }) => {
    if (why) return skip(why);
    await page.goto(`${stage.url}/runs`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("?");
    const keys = await page.getByRole("dialog").locator("dt").allTextContents();
    expect(keys[0]).toBe("CtrlK");
    expect(keys.filter((key) => key.startsWith("g")).slice(0, 3)).toEqual(["gn", "gr", "gg"]);
  });

  it("offers nothing to do where none of the selected runs can be resumed (S1-32)", async ({ skip }) => {
    if (why) return skip(why);
    await page.goto(`${stage.url}/runs`);
    for (const run of ["tides", "essay"]) await page.getByLabel(`Select ${run}`, { exact: true }).click();
    await page.getByRole("button", { name: "Resume", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("None of these runs can be resumed now.").waitFor();
    expect(await dialog.getByLabel("Reason", { exact: true }).count()).toBe(0);
    expect(await dialog.getByText("holdfast resume").count()).toBe(0);
    await dialog.getByRole("button", { name: "Back" }).last().click();
    await dialog.waitFor({ state: "hidden" });
  });

  it("lets whoever has a touch screen read a plan before its keyboard covers it", async ({ skip }) => {
    if (why) return skip(why);
    const screen = { viewport: { width: 375, height: 740 }, hasTouch: true, isMobile: true };
    for (const [options, isReady] of [
      [{}, true],
      [screen, false],
    ] as const) {
      const one = await stage.window("admin", "/r/comets", options);
      await one.getByRole("button", { name: "Resume…" }).click();
      const reason = one.getByRole("dialog").getByLabel("Reason", { exact: true });
      await reason.waitFor();
      expect(await reason.and(one.locator(":focus")).count()).toBe(isReady ? 1 : 0);
    }
  });

  it("fills a very wide screen with larger letters, and rows of their height", async ({ skip }) => {
    if (why) return skip(why);
    const wide = await stage.window("admin", "/runs", { viewport: { width: 3840, height: 2160 } });
    await wide.locator("tr[data-run]").first().waitFor();
    const [first, second] = await Promise.all(
      [0, 1].map((at) => wide.locator("tr[data-run]").nth(at).boundingBox()),
    );
    expect((second?.y ?? 0) - (first?.y ?? 0)).toBe(Math.round(21 * 2.4));
    expect(first?.width).toBeGreaterThan(3840 / 2);
  });

  it("keeps the page in the menu, and a worker's status, in sight on a phone", async ({ skip }) => {
    if (why) return skip(why);
    const phone = await stage.window("admin", "/workers", { viewport: { width: 375, height: 740 } });
    await phone.getByText("working").first().waitFor();
    for (const shown of [phone.locator("nav [aria-current]"), phone.getByText("working").first()]) {
      const box = await shown.boundingBox();
      expect(box?.x).toBeGreaterThan(0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(375);
    }
  });
});
