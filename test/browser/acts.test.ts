import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/client/index.ts";
import { actStage, calls, expectAccessible, FLOWS, leaveInDoubt, put, reasonIn } from "./act-stage.ts";
import { clientOf, until } from "./sample.ts";

const stage = actStage();
let page: Page;
let client: Client;
let why = "";

beforeAll(async () => {
  const opened = await stage.open("/", [FLOWS]);
  if ("missing" in opened) why = opened.missing;
  else {
    page = opened;
    client = await clientOf(stage);
  }
});
afterAll(() => stage.close());

const go = (path: string) => page.goto(`${stage.url}${path}`);
const dialog = () => page.getByRole("dialog");
const button = (name: string | RegExp) => page.getByRole("button", { name });

async function failedReport(id: string): Promise<void> {
  await client.startRun({ workflow: "report", id, input: { factor: 2 } });
  await until(client, id, ({ run }) => run.status === "failed");
}

describe("acts in the dashboard", () => {
  it("shows a pause as pausing until it holds, and never as paused before (S1-32)", async ({ skip }) => {
    if (why) return skip(why);
    await client.startRun({ workflow: "slow", id: "slow" });
    await until(client, "slow", ({ headline }) => headline === "running: render");
    await go("/r/slow");
    await button("Pause…").waitFor();
    await page.keyboard.press("p");
    await reasonIn(page).fill("deploying a new version");
    await button("Pause (finishes the current step)").click();
    await page.getByText("Pausing… finishing render").waitFor();
    expect(await page.getByText("paused", { exact: true }).count()).toBe(0);
    put(stage, "render-done");
    await page.getByText("paused", { exact: true }).first().waitFor();
    expect(await page.getByText("Pausing…").count()).toBe(0);
  });

  it("tells the second of two operators what the first has done meanwhile (S1-32)", async ({ skip }) => {
    if (why) return skip(why);
    await failedReport("twice");
    const other = await stage.window("operator", "/r/twice");
    await go("/r/twice");
    for (const one of [page, other]) {
      await one.getByRole("button", { name: "Resume…" }).click();
      await one.getByText("publish", { exact: true }).last().waitFor();
      await reasonIn(one).fill("the disk has room again");
    }
    await other.getByRole("button", { name: "Resume", exact: true }).click();
    await other.getByRole("dialog").waitFor({ state: "hidden" });
    await button(/^Resume$/).click();
    await dialog().getByText("The run has moved on since you opened this.").waitFor();
    await dialog()
      .getByText(/run_resumed .*operator/)
      .waitFor();
    expect(await reasonIn(page).inputValue()).toBe("the disk has room again");
    await button("Plan again").click();
    await dialog().getByText("The run has moved on").waitFor({ state: "hidden" });
    await page.keyboard.press("Escape");
  });

  it("leads from an alert's link to a resumed run in two clicks and a reason (S1-32, S3-32)", async ({
    skip,
  }) => {
    if (why) return skip(why);
    await failedReport("alert");
    put(stage, "fixed");
    const before = calls(stage).length;
    let clicks = 0;
    const click = async (name: RegExp): Promise<void> => {
      clicks++;
      await button(name).click();
    };
    await go("/r/alert");
    await click(/^Resume…/);
    await dialog().getByText("2 steps", { exact: true }).waitFor();
    await dialog().getByText("attempt 2").waitFor();
    await expectAccessible(page);
    await page.keyboard.type("the disk has been cleaned up");
    await dialog().getByText("holdfast resume alert --reason 'the disk has been cleaned up'").waitFor();
    await click(/^Resume$/);
    await page.getByText("completed", { exact: true }).first().waitFor();
    expect(clicks).toBe(2);
    expect(calls(stage).slice(before)).toEqual(["publish"]);
  });

  it("asks what became of a call whose worker was killed, and goes on with the answer (S0-16)", async ({
    skip,
  }) => {
    if (why) return skip(why);
    await leaveInDoubt(stage, client, "doubt");
    await go("/r/doubt");
    await button("Decide…").click();
    await dialog().getByText("once: a second call may have its effect twice").waitFor();
    await page.getByRole("radio", { name: "It was done" }).check();
    await page.getByLabel("What it returned").fill('{"sent": tru');
    await dialog()
      .getByText(/^Line 1, column 10/)
      .waitFor();
    expect(await button("It was done").isDisabled()).toBe(true);
    await page.getByLabel("What it returned").fill('{"sent": true}');
    await expectAccessible(page);
    await reasonIn(page).fill("found in the bank's statement");
    await button("It was done").click();
    await page.getByText("completed", { exact: true }).first().waitFor();
    expect(calls(stage).filter((one) => one === "send-money")).toHaveLength(1);
  });

  it("scrubs, compares two moments, and forks with edited values (S1-32)", async ({ skip }) => {
    if (why) return skip(why);
    await go("/r/alert");
    await page.getByText("Drag the slider").waitFor();
    await page.keyboard.press("[");
    await button("Mark for compare").waitFor();
    await page.keyboard.press("d");
    await button("Forget the mark").waitFor();
    await page.keyboard.press("[");
    await button(/^Compare with alert@/).waitFor();
    await page.getByRole("slider").fill("1");
    await page.getByText(/sum · /).waitFor();
    await page.keyboard.press("d");
    await page.getByRole("heading", { name: "Compare" }).waitFor();
    await button("Swap").click();
    await page.getByRole("listitem").filter({ hasText: "publish" }).first().waitFor();
    await page.getByPlaceholder("Reason, at least").fill("looking into the wrong total");
    await button("Reveal").click();
    await page.getByText("published 12").waitFor();
    await expectAccessible(page);

    await page.goBack();
    await page.getByRole("slider").fill("1");
    await button("Fork from here…").click();
    await page.getByText("Edit its values first").click();
    await dialog().getByPlaceholder("Reason, at least").fill("trying another total");
    await dialog().getByRole("button", { name: "Reveal" }).click();
    const editor = page.getByLabel("State (JSON)");
    const state = await editor.inputValue();
    expect(JSON.parse(state)).toMatchObject({
      input: { factor: 2 },
      steps: { sum: 12 },
      memory: { model: "small" },
    });
    await editor.fill(state.replace('"sum": 12', '"sum": 99'));
    await dialog().getByText("Changed: steps.sum").waitFor();
    await reasonIn(page).fill("what would 99 have published");
    await page.getByLabel(/Id of the new run/).fill("alert-99");
    await dialog().getByRole("button", { name: "Fork", exact: true }).click();
    await page.getByRole("heading", { name: "alert-99" }).waitFor();
    await page.getByText("completed", { exact: true }).first().waitFor();
    const forked = await client.readState({ run: "alert-99", at: "last", reason: "the test looks" });
    expect(forked).toMatchObject({ result: 99, steps: { publish: "published 99" } });
  });

  it("logs no errors, and asks nothing of another origin", ({ skip }) => {
    if (why) return skip(why);
    expect(stage.complaints).toEqual([]);
  });
});
