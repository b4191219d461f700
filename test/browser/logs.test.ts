import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newAuditKey } from "../../src/security/audit-key.ts";
import { expectAccessible, reasonIn } from "./act-stage.ts";
import { Stage } from "./stage.ts";

const FLOWS = `
import { workflow } from "holdfast";
export const talks = workflow("talks", async (ctx) => {
  ctx.log.info("begins", { files: 3 });
  await ctx.step("load", () => {
    ctx.usage({ tokens: 70, model: "unknown" });
    ctx.log.warn("slow today", { ms: 1200 });
  });
  const { payload } = await ctx.signal("paid");
  ctx.log.info("paid", payload);
  const told = await ctx.inbox();
  return { payload, told: told.map(({ payload: text }) => text) };
});
`;

const stage = new Stage({
  files: { "flows.mjs": FLOWS },
  env: { HOLDFAST_AUDIT_KEY: newAuditKey("example.com/audit").privateKey },
});
let page: Page;
let why = "";

beforeAll(async () => {
  const opened = await stage.open("/", ["flows.mjs"]);
  if ("missing" in opened) why = opened.missing;
  else page = opened;
  if (why === "") await stage.run(["run", "flows.mjs#talks", "--id", "talk-1", "--detach"]);
});
afterAll(() => stage.close());

/** Opens the menu of acts, chooses one, and returns its dialog. */
async function dialogOf(act: string) {
  const own = page.getByRole("button", { name: act, exact: true });
  if ((await own.count()) === 0) {
    await page.getByRole("button", { name: "More acts for talk-1" }).click();
    await page.getByRole("menuitem", { name: act, exact: true }).click();
  } else await own.first().click();
  return page.getByRole("dialog");
}

describe("the log of a run in the browser", () => {
  it("shows the lines that the workflow wrote, by level, and leads to their step", async ({ skip }) => {
    if (why) return skip(why);
    await page.goto(`${stage.url}/r/talk-1?below=logs`);
    const lines = page.getByRole("list", { name: "Log" }).getByRole("listitem");
    await lines.filter({ hasText: "begins" }).waitFor();
    expect(await lines.filter({ hasText: "slow today" }).innerText()).toContain('{"ms":1200}');
    await page.getByLabel("Level").selectOption("warn");
    await lines.filter({ hasText: "begins" }).waitFor({ state: "detached" });
    await expectAccessible(page);
    await page.getByLabel("Level").selectOption("info");
    await lines.filter({ hasText: "slow today" }).getByRole("button", { name: "load" }).click();
    await page.waitForURL(/step=load/);
    expect(await page.getByText("unpriced").count()).toBeGreaterThan(0);
  });

  it("injects context, pins the run and sends the signal that it waits for, each with a reason", async ({
    skip,
  }) => {
    if (why) return skip(why);
    await page.goto(`${stage.url}/r/talk-1?below=logs`);
    const inject = await dialogOf("Inject context…");
    await inject.getByLabel("Context", { exact: true }).fill("The ledger is closed.");
    await reasonIn(inject).fill("asked for by the team");
    await inject.getByRole("button", { name: "Inject", exact: true }).click();
    await inject.waitFor({ state: "detached" });
    const pin = await dialogOf("Pin…");
    await reasonIn(pin).fill("for the audit");
    await pin.getByRole("button", { name: "Pin", exact: true }).click();
    await pin.waitFor({ state: "detached" });
    // The pin has moved the run: an act is refused at a position that the page hasn't caught up with.
    await page.reload();
    await page.getByRole("button", { name: "Send signal…", exact: true }).first().waitFor();
    const signal = await dialogOf("Send signal…");
    expect(await signal.locator("input[list]").inputValue()).toBe("paid");
    await signal.getByLabel("Message (JSON; may be empty)").fill('{"amount": 40}');
    await reasonIn(signal).fill("the bank has told us");
    await signal.getByRole("button", { name: "Send", exact: true }).click();
    await signal.waitFor({ state: "detached" });
    await page.getByText("completed").first().waitFor();
    await page.getByRole("list", { name: "Log" }).getByText('{"amount":40}').waitFor();
  });

  it("shows the newest signed head on the Audit page, and the note to keep", async ({ skip }) => {
    if (why) return skip(why);
    await stage.run(["audit", "anchor"]);
    await page.goto(`${stage.url}/audit`);
    await page.getByText("Signed heads").waitFor();
    await page.getByText(/^holdfast\/\w+\n\d+\n/).waitFor();
    await expectAccessible(page);
    expect(stage.complaints).toEqual([]);
  });
});
