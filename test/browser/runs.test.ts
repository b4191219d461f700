import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/client/index.ts";
import { clientOf, until } from "./sample.ts";
import { Stage } from "./stage.ts";

/** Fails while the bank is out, which a file tells. */
const FLOW = `
import { existsSync } from "node:fs";
import { workflow } from "holdfast";
export const pay = workflow("pay", async (ctx, input) => {
  await ctx.step("load", () => 1);
  if (input.ask && (await ctx.gate("approve", { choices: ["approve", "reject"] })).choice === "reject") return;
  await ctx.step("charge", () => {
    if (existsSync("outage")) throw new Error("HTTP 503 from the bank for invoice " + input.n);
    return 1;
  }, { retry: false });
});
`;
const FAILED = 60;
const invoices = Array.from({ length: FAILED }, (_, n) => `invoice-${n}`);

const stage = new Stage({ files: { "pay.mjs": FLOW } });
const outage = path.join(stage.folder, "outage");
let page: Page;
let client: Client;
let why = "";

beforeAll(async () => {
  writeFileSync(outage, "");
  const opened = await stage.open("/", ["pay.mjs"]);
  if ("missing" in opened) {
    why = opened.missing;
    return;
  }
  page = opened;
  page.setDefaultTimeout(15_000);
  client = await clientOf(stage);
  await client.startRun({ workflow: "pay", id: "asks", input: { ask: true }, labels: { team: "west" } });
  for (const [n, id] of invoices.entries()) await client.startRun({ workflow: "pay", id, input: { n } });
  await allFailed();
});
afterAll(() => stage.close());

/** Waits until every invoice has failed, by listening to all of them at once. */
async function allFailed(): Promise<void> {
  const left = new Set(invoices);
  const abort = new AbortController();
  for await (const message of client.streamEvents({ run: invoices, after: 0 }, { signal: abort.signal })) {
    if (message.type === "run" && message.event.kind === "run_failed") left.delete(message.event.run);
    if (left.size === 0) break;
  }
  abort.abort();
}

const rows = () => page.getByRole("row").filter({ has: page.getByRole("link") });
/** Only colours differ between light and dark. */
const look = async (): Promise<void> => {
  const axe = new AxeBuilder({ page });
  await page.emulateMedia({ colorScheme: "light" });
  expect((await axe.analyze()).violations).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect((await axe.withRules(["color-contrast"]).analyze()).violations).toEqual([]);
};
const open = async (pathname: string): Promise<void> => void (await page.goto(`${stage.url}${pathname}`));

describe("the list of runs", () => {
  it("keeps its filter in the address, through a reload and Back (S1-32)", async ({ skip }) => {
    if (why) return skip(why);
    await open("/runs");
    await page.getByRole("button", { name: `Failed ${FAILED}` }).click();
    await page.getByLabel("Search runs").fill("status:failed invoice-7");
    await page.getByText("1 in all").waitFor();
    expect(new URL(page.url()).searchParams.get("q")).toBe("status:failed invoice-7");
    await page.reload();
    await page.getByText("1 in all").waitFor();
    await look();
    await page.getByRole("link", { name: "invoice-7" }).click();
    await page.getByRole("heading", { level: 1, name: /invoice-7/ }).waitFor();
    await page.goBack();
    await page.getByText("1 in all").waitFor();
    expect(await page.getByLabel("Search runs").inputValue()).toBe("status:failed invoice-7");
    await page.getByLabel("Search runs").fill("nothing like it");
    await page.getByText("No run matches").waitFor();
    await page.getByRole("button", { name: "Clear the filter" }).click();
    await page.getByText(`${FAILED + 1} in all`).waitFor();
  });

  it("saves a view in the store, which everybody then finds (S1-32)", async ({ skip }) => {
    if (why) return skip(why);
    await open("/runs?q=label%3Ateam%3Dwest+-status%3Afailed");
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByLabel("Name").fill("The west");
    await page.getByRole("dialog").getByRole("button", { name: "Save view" }).click();
    await page.getByRole("button", { name: "The west", exact: true, pressed: true }).waitFor();
    expect((await client.listViews()).views).toMatchObject([
      { name: "The west", query: "notStatus=failed&label=team%3Dwest" },
    ]);
    await open("/runs");
    await page.getByText(`${FAILED + 1} in all`).waitFor();
    await page.getByRole("button", { name: "The west", exact: true }).click();
    await page.getByText("1 in all").waitFor();
    await page.getByRole("link", { name: "asks" }).waitFor();
  });

  it("keeps selection and rows in place while runs come and move (S1-32)", async ({ skip }) => {
    if (why) return skip(why);
    await open("/runs?q=workflow%3Apay");
    await page.getByText(`${FAILED + 1} in all`).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.getByLabel("Select invoice-55").click({ modifiers: ["Shift"] });
    await page.getByText("5 selected").waitFor();
    const first = await rows().first().innerText();
    await client.startRun({ workflow: "pay", id: "newcomer", input: { ask: true } });
    await client.pauseRun({ run: "asks", reason: "looking at it" });
    await page.getByRole("button", { name: "1 new run" }).waitFor();
    expect(await rows().first().innerText()).toContain(first.split("\n")[0]);
    expect(await page.getByLabel("Select invoice-59").isChecked()).toBe(true);
    await page.getByText("5 selected").waitFor();
    await page.getByRole("button", { name: "1 new run" }).click();
    await page.getByRole("link", { name: "newcomer" }).waitFor();
    await page.getByText("5 selected").waitFor();
    expect(await page.getByLabel("Select newcomer").isChecked()).toBe(false);
  });

  it("acts on selected runs after it has said what would happen to each (S1-32)", async ({ skip }) => {
    if (why) return skip(why);
    await page.getByLabel("Select newcomer").click();
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: "Pause 1 run" }).waitFor();
    await dialog.getByText("× 5").waitFor();
    await look();
    await dialog.getByLabel("Reason", { exact: true }).fill("Looking into the outage");
    await dialog.getByRole("button", { name: "Pause 1 run" }).click();
    await page.getByText("1 run told to pause.").first().waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    expect((await until(client, "newcomer", ({ word }) => word === "paused")).word).toBe("paused");
  });
});

describe("the palette", () => {
  it("finds runs and pages from anywhere (S1-32)", async ({ skip }) => {
    if (why) return skip(why);
    await open("/errors");
    await page.getByRole("heading", { level: 1, name: "Errors" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find" }).fill("invoice-31");
    await page.getByRole("option", { name: /^invoice-31/ }).waitFor();
    await look();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: /invoice-31/ }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: "Resume…" }).waitFor();
    await page.keyboard.type("runs");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
  });
});

describe("what needs a person", () => {
  it("is one card for runs that failed alike, and one button each (S1-32)", async ({ skip }) => {
    if (why) return skip(why);
    await client.resumeRun({ run: "asks", reason: "go on" });
    await open("/");
    await page.getByText(`${FAILED} runs failed alike`).waitFor();
    await page
      .getByRole("navigation")
      .getByText(String(FAILED + 1))
      .waitFor();
    await look();
    await page.getByRole("button", { name: "Answer…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("reject", { exact: true }).click();
    await dialog.getByLabel("Reason", { exact: true }).fill("The invoice is wrong");
    await dialog
      .getByRole("button", { name: /answer/i })
      .last()
      .click();
    await page.getByRole("link", { name: "asks" }).waitFor({ state: "detached" });
  });
});

describe("errors", () => {
  it("resumes 60 runs that failed alike, and shows the count first (S1-32)", async ({ skip }) => {
    if (why) return skip(why);
    await open("/errors");
    await page.getByText("HTTP … from the bank for invoice …").waitFor();
    await look();
    rmSync(outage);
    await page.getByRole("button", { name: `Resume all ${FAILED}` }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: `Resume ${FAILED} runs` }).waitFor();
    await dialog.getByText("go ahead").waitFor();
    await dialog.getByRole("button", { name: "The outage is over" }).click();
    await look();
    await dialog.getByRole("button", { name: `Resume ${FAILED} runs` }).click();
    await page.getByText(`${FAILED} runs resumed.`).first().waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.getByText("No failures in 24 hours").waitFor();
    const { byStatus } = await client.countRuns();
    expect(byStatus.completed).toBeGreaterThanOrEqual(FAILED);
    await open("/");
    await page.getByText("All quiet").waitFor();
  });

  it("logs no errors, and asks nothing of another origin", ({ skip }) => {
    if (why) return skip(why);
    expect(stage.complaints).toEqual([]);
  });
});
