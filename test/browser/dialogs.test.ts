import { readFileSync } from "node:fs";
import { AxeBuilder } from "@axe-core/playwright";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/client/index.ts";
import { clientOf, until } from "./sample.ts";
import { Stage } from "./stage.ts";

const FLOWS = `
import { workflow } from "holdfast";
export const listens = workflow("listens", async (ctx) => {
  const { payload } = await ctx.signal("go");
  const told = await ctx.inbox();
  await ctx.step("say", () => ({ payload, told: told.map((one) => one.payload) }));
  return payload;
});
export const spends = workflow("spends", async (ctx) => {
  await ctx.step("ask", () => ctx.usage({ tokens: 100, costUsd: 2, model: "m" }));
  await ctx.step("ask again", () => ctx.usage({ tokens: 100, costUsd: 2, model: "m" }));
  return "spent";
});
`;

const REASON = "asked for by the team";
const stage = new Stage({ files: { "flows.mjs": FLOWS } });
let page: Page;
let client: Client;
let why = "";

beforeAll(async () => {
  const opened = await stage.open("/", ["flows.mjs"]);
  if ("missing" in opened) {
    why = opened.missing;
    return;
  }
  page = opened;
  client = await clientOf(stage);
  stage.start(["worker", "flows.mjs"]);
  await client.startRun({ workflow: "listens", id: "listens" });
  await client.startRun({ workflow: "spends", id: "spends", budget: { costUsd: 1 } });
  await until(client, "listens", ({ can }) => can.includes("signal"));
  await until(client, "spends", ({ can }) => can.includes("raise budget"));
});
afterAll(() => stage.close());

const dialog = (): Locator => page.getByRole("dialog");

/** Gives the reason and presses the button of the open dialog. */
async function confirm(verb: string): Promise<void> {
  await dialog().locator("[aria-busy=true]").waitFor({ state: "detached" });
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  await dialog().getByLabel("Reason", { exact: true }).fill(REASON);
  await dialog().getByRole("button", { name: verb, exact: true }).click();
  await dialog().waitFor({ state: "detached" });
}

/** Opens one of a run's acts, which is a button or behind the dots. */
async function open(run: string, name: string): Promise<void> {
  await page.goto(`${stage.url}/r/${run}`);
  const more = page.getByRole("button", { name: `More acts for ${run}` });
  await more.waitFor();
  const button = page.getByRole("main").getByRole("button", { name, exact: true });
  if ((await button.count()) > 0) return button.first().click();
  await more.click();
  await page.getByRole("menuitem", { name, exact: true }).click();
}

const row = (name: string): Locator => page.getByRole("row").filter({ hasText: name }).first();

describe("the dialogs of a run", () => {
  it("gives it context and a signal, with which it goes on (S1-32)", async ({ skip }) => {
    if (why) return skip(why);
    await open("listens", "Inject context…");
    await dialog().getByLabel("Context", { exact: true }).fill("the price has changed");
    await confirm("Inject");
    await open("listens", "Send signal…");
    await dialog().getByLabel("Name", { exact: true }).fill("go");
    await dialog().getByLabel("Message (JSON; may be empty)").fill('{"n":1}');
    await confirm("Send");
    await until(client, "listens", ({ run }) => run.status === "completed");
    const { events } = await client.listEvents({ run: "listens" });
    expect(events.filter(({ kind }) => kind === "signal_received").map(({ reason }) => reason)).toEqual([
      REASON,
      REASON,
    ]);
  });

  it("raises its budget, with which it goes on", async ({ skip }) => {
    if (why) return skip(why);
    await open("spends", "Raise budget…");
    await dialog().getByLabel("New cost limit (US$)").fill("10");
    await confirm("Resume");
    await until(client, "spends", ({ run }) => run.status === "completed");
  });

  it("pins it, saves it as a file, and deletes it for good", async ({ skip }) => {
    if (why) return skip(why);
    await open("listens", "Pin…");
    await confirm("Pin");
    await expect.poll(async () => (await client.getRun({ run: "listens" })).run.pinned).toBe(true);
    await open("listens", "Export…");
    const saved = page.waitForEvent("download");
    await confirm("Export");
    const text = readFileSync((await (await saved).path()) ?? "", "utf8");
    expect(text.split("\n")[0]).toContain("listens");
    await open("spends", "Delete…");
    await confirm("Delete for good");
    await expect
      .poll(async () =>
        client.getRun({ run: "spends" }).then(
          () => "there",
          () => "gone",
        ),
      )
      .toBe("gone");
  });
});

describe("the dialogs of operations", () => {
  it("sets, holds and deletes a rate limit", async ({ skip }) => {
    if (why) return skip(why);
    await page.goto(`${stage.url}/queues`);
    await page.getByRole("button", { name: "New rate limit" }).click();
    await dialog().getByLabel("Name", { exact: true }).fill("openai");
    await dialog().getByLabel("Calls per period", { exact: true }).fill("100");
    await confirm("Set rate limit");
    await row("openai").getByRole("button", { name: "Hold" }).click();
    await confirm("Hold for 10 minutes");
    await row("openai").getByText(REASON).waitFor();
    await row("openai").getByRole("button", { name: "Delete" }).click();
    await confirm("Delete rate limit");
    expect((await client.listRateLimits()).limits).toEqual([]);
  });

  it("sets a budget of the month and a price, and deletes them (S1-61)", async ({ skip }) => {
    if (why) return skip(why);
    await page.goto(`${stage.url}/cost`);
    await page.getByRole("button", { name: "Set a budget" }).click();
    await dialog().getByLabel("Name", { exact: true }).fill("all");
    await dialog().getByLabel("US dollars a month").fill("500");
    await confirm("Set the budget");
    await row("all runs").getByText("within").waitFor();
    expect((await client.listBudgets()).budgets).toMatchObject([{ name: "all", usd: 500, state: "within" }]);
    await page.getByRole("button", { name: "Set a price" }).click();
    await dialog().getByLabel("Model", { exact: true }).fill("llama");
    await dialog().getByLabel("Per million tokens sent").fill("0.5");
    await dialog().getByLabel("Per million tokens returned").fill("1");
    await dialog().getByLabel("Source", { exact: true }).fill("our own machine");
    await confirm("Set the price");
    await row("llama").getByText("our own machine").waitFor();
    await row("llama").getByRole("button", { name: "Delete" }).click();
    await confirm("Delete the price");
    await row("all runs").getByRole("button", { name: "Delete" }).click();
    await confirm("Delete the budget");
    expect((await client.listBudgets()).budgets).toEqual([]);
  });

  it("shows how many runs a backfill starts, and starts them", async ({ skip }) => {
    if (why) return skip(why);
    const options = { cron: "0 * * * *" };
    await client.createSchedule({ name: "hourly", workflow: "listens", options, reason: REASON });
    await page.goto(`${stage.url}/schedules`);
    await row("hourly").getByRole("button").first().click();
    await page.getByRole("button", { name: "Backfill hourly" }).click();
    await dialog()
      .getByText(/runs would start/)
      .waitFor();
    await confirm("Start these runs");
    await expect
      .poll(async () => (await client.listRuns({ workflow: "listens" })).runs.length)
      .toBeGreaterThan(10);
  });
});
